// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which collision polygons has a TileSet of Godot, and which tiles has a TileMap?
//
// `ReadGodotTileSet` reads the polygons of the physics layers of every tile and alternative;
// `ReadGodotCells` decodes the cells of a TileMapLayer (`tile_map_data`) or of a layer of a TileMap
// (`tile_data`, format 2). Points of a polygon are relative to the centre of its cell, which
// `GodotTileSet::Center` returns. The nodes are in godot.h.
//
// Lengths are in pixels, with y down. Errors are INVALID_ARGUMENT with the line. Thread-safe,
// except for `GodotFiles`. Cost: linear in the properties and cells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/godot/godot_scene.h"

namespace carom {

// Bits of an alternative in a cell: how the tile is turned. The polygons of the alternatives of a
// TileSet are stored turned.
inline constexpr uint32_t kGodotFlipH = 1 << 12;
inline constexpr uint32_t kGodotFlipV = 1 << 13;
inline constexpr uint32_t kGodotTranspose = 1 << 14;

// Names a tile: its source, its place in the atlas, and its alternative, without the bits above.
struct GodotTileId {
  int32_t source = 0;
  int32_t x = 0, y = 0;
  uint32_t alternative = 0;

  friend auto operator<=>(const GodotTileId&, const GodotTileId&) = default;
};

struct GodotTilePolygon {
  std::vector<Vec2> points;
  bool one_way = false;
};

struct GodotTile {
  std::map<std::pair<size_t, size_t>, GodotTilePolygon> polygons;  // by physics layer and number
  std::map<size_t, const GodotProperty*> custom;  // the data of the custom data layers
};

// One cell of a layer; `tile.alternative` has the bits that turn it.
struct GodotCell {
  int x = 0, y = 0;
  GodotTileId tile;
};

struct GodotTileSet {
  enum class Shape { kSquare, kIsometric, kHalfOffset, kHexagon };

  Shape shape = Shape::kSquare;
  int layout = 0;         // stacked, stacked offset, stairs right, stairs down, diamond right, down
  bool vertical = false;  // the axis along which rows or columns are shifted
  Vec2 tile_size = {16, 16};
  std::map<GodotTileId, GodotTile> tiles;
  std::map<size_t, uint64_t> layers;            // the collision_layer of the physics layers
  std::map<std::string, size_t> custom_layers;  // the custom data layers by name
  std::string line;                             // how errors name the TileSet
  bool has_scenes = false;                      // a source has scenes, whose shapes are not read

  // Returns the tile of a cell, or null if the set has none.
  const GodotTile* TileOf(const GodotCell& cell) const;
  // Returns the centre of a cell.
  Vec2 Center(int x, int y) const;
};

absl::StatusOr<GodotTileSet> ReadGodotTileSet(const GodotResource& resource, GodotFiles& files);

// Returns a point of a polygon in a cell with the bits of `alternative`: transposed, then flipped.
Vec2 GodotTurned(Vec2 point, uint32_t alternative);

// Returns the cells of `tile_map_data`, or of `tile_data` of a TileMap. `line` names the property
// in errors.
absl::StatusOr<std::vector<GodotCell>> ReadGodotCells(const GodotValue& data,
                                                      const std::string& line);

}  // namespace carom
