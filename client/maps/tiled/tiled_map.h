// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What are the tilesets, objects and lattices of a Tiled map, whatever its form?
//
// The values that the parts of the reader of Tiled (tiled.h) share: `TiledFiles` opens tilesets and
// templates, `ReadTiledObject` reads an object, `AppendTiledRings` makes its rings, `TiledGrid`
// places the cells of the four orientations, and `ReadTiledCells` decodes a tile layer.
//
// Coordinates are pixels of the rendered map, y down; local coordinates of a tile are pixels from
// the upper left corner of its image, y down. Angles are in degrees, clockwise as seen. Errors are
// INVALID_ARGUMENT and name a line or path. `TiledFiles` is not thread-safe; the functions are.
// Cost: linear in what is read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/import_common.h"
#include "client/maps/outline.h"
#include "client/maps/tiled/tiled_node.h"

namespace carom {

struct TiledTileset;

// The tile of a cell or of a tile object. `set` is null if the number belongs to no tileset that
// could be opened.
struct TiledTileRef {
  const TiledTileset* set = nullptr;
  uint32_t id = 0;     // within the tileset
  uint32_t flags = 0;  // the four upper bits of the number in the file
};
inline constexpr uint32_t kFlipHorizontal = 0x80000000;
inline constexpr uint32_t kFlipVertical = 0x40000000;
inline constexpr uint32_t kFlipDiagonal = 0x20000000;  // hexagonal maps: a turn by 60 degrees
inline constexpr uint32_t kTurnHexagonal =
    0x10000000;  // a turn by 120 degrees, hexagonal maps only
inline constexpr uint32_t kFlags = 0xF0000000;

enum class TiledForm : uint8_t {
  kRectangle,
  kEllipse,
  kCapsule,
  kPolygon,
  kPolyline,
  kPoint,
  kText,
};

// An object of an object layer, of a tile, or of a template.
struct TiledObject {
  std::optional<uint64_t> id;
  double x = 0, y = 0, width = 0, height = 0, rotation = 0;
  TiledForm form = TiledForm::kRectangle;
  std::vector<Vec2> points;          // of a polygon or polyline, from (x, y)
  std::optional<TiledTileRef> tile;  // if it is a tile object
  std::optional<uint64_t> category;  // by the property of the options
  std::string where;
};

// A tile: the size of its image, and its collision shapes, in local coordinates.
struct TiledTile {
  Vec2 size;
  std::vector<TiledObject> shapes;
  std::optional<uint64_t> category;
};

struct TiledTileset {
  Vec2 tile_size;
  Vec2 offset;  // of its tiles when drawn
  std::optional<Vec2>
      alignment;  // of tile objects, (0, 0) the upper left to (1, 1); absent: default
  std::optional<Vec2> isometric;  // the size of a grid cell, if shapes are stored projected
  bool has_grid_size = false;     // cells are drawn at the size of the map's cells
  bool keeps_aspect = false;      // drawing at another size keeps the proportions
  uint32_t columns = 0;
  std::map<uint32_t, TiledTile> tiles;  // those that the file describes

  // Returns the description of a tile, or null if the file has none.
  const TiledTile* Find(uint32_t id) const;
  Vec2 SizeOf(uint32_t id) const;
};

// The tilesets of a map or template, by their first numbers.
using TiledTilesets = std::map<uint32_t, const TiledTileset*>;

// Returns the tile with a number of a map.
TiledTileRef TileOf(const TiledTilesets& tilesets, uint32_t number);

// Opens the files beside a map, each once.
class TiledFiles {
 public:
  TiledFiles(const FileOpener& open, MapBuilder& builder) : open_(open), builder_(builder) {}

  // Returns the tilesets of a map or template in the file of `node`. A tileset whose file cannot be
  // opened is reported and null.
  absl::StatusOr<TiledTilesets> Tilesets(const std::vector<TiledNode>& nodes);
  // Returns the object of a template, or null if its file cannot be opened (reported).
  absl::StatusOr<const TiledObject*> Template(const std::string& path);
  // Returns the tileset or the object that a node describes.
  absl::StatusOr<const TiledTileset*> ReadTileset(const TiledNode& node);
  absl::StatusOr<TiledObject> ReadTemplate(const TiledNode& node);
  // Returns the bytes of a file, or nullopt if it cannot be opened (reported).
  std::optional<std::string> Open(const std::string& path, std::string_view what);

  MapBuilder& builder() { return builder_; }

 private:
  absl::StatusOr<const TiledTileset*> TilesetFile(const std::string& path);
  absl::Status ReadTile(const TiledNode& node, TiledTileset& set);

  const FileOpener& open_;
  MapBuilder& builder_;
  std::vector<std::unique_ptr<TiledTileset>> sets_;
  std::map<std::string, const TiledTileset*> set_files_;
  std::map<std::string, std::optional<TiledObject>> templates_;
  int depth_ = 0;  // of templates that are being read
};

// Returns the path of `source`, which the file `file` names, from the folder of the map.
std::string TiledPath(std::string_view file, std::string_view source);

// Returns an object, with the members of its template where it has none of its own. Nullopt if the
// template cannot be opened.
absl::StatusOr<std::optional<TiledObject>> ReadTiledObject(const TiledNode& node,
                                                           const TiledTilesets& tilesets,
                                                           TiledFiles& files);

// The projection of objects: none, or that of isometric maps, where x and y run along the axes of
// the cells and a cell measures its height in both.
struct TiledProjection {
  std::optional<Vec2> cell;  // the size of an isometric cell
  double origin_x = 0;       // of the cell (0, 0)

  Vec2 operator()(Vec2 p) const;
};

// Appends the rings of an object that is no tile object, point or text. `chord` bounds the distance
// of curves from their chords after the projection. Errors name the object.
absl::Status AppendTiledRings(const TiledObject& object, const TiledProjection& projection,
                              double chord, std::vector<RingSpec>& rings);

// Where cells of a map are, and how tiles are drawn.
class TiledGrid {
 public:
  enum class Orientation : uint8_t { kOrthogonal, kIsometric, kStaggered, kHexagonal };

  // Reads the members of a map.
  static absl::StatusOr<TiledGrid> Read(const TiledNode& map);

  TiledProjection projection() const;
  // Returns where the lower left corner of the image of a cell's tile is.
  Vec2 Anchor(int32_t column, int32_t row) const;
  // Returns the map from local coordinates of a tile to the place of its image: the lower left
  // corner of the target, of the size `size`, is at (0, 0).
  Affine Draw(const TiledTileRef& tile, Vec2 size) const;
  // Returns the size at which a cell draws a tile.
  Vec2 DrawnSize(const TiledTileRef& tile) const;
  // Returns where the anchor of a tile object is in its image: (0, 0) is the upper left corner.
  Vec2 Alignment(const TiledTileset& set) const;

  // Adds the union of cells, or each cell on its own, moved by `offset`.
  absl::Status AddCells(std::vector<Cell> cells, Vec2 offset, const LayerPlan& plan,
                        const MapShape& head, MapBuilder& builder) const;

 private:
  bool is_shifted(int32_t index) const { return ((index & 1) != 0) != even_is_shifted_; }
  // Hexagons whose sides along the staggered axis have no length are diamonds.
  bool has_bricks() const { return side_ > 0; }
  // The parts of a hexagon along the staggered axis: the sloping part, and the distance of two
  // rows.
  int64_t slope() const { return ((staggers_columns_ ? tile_width_ : tile_height_) - side_) / 2; }
  int64_t pitch() const { return slope() + side_; }
  Cell DiamondOf(Cell cell) const;
  Cell BrickOf(Cell cell) const;
  Vec2 PlaceOf(LatticePoint point) const;

  Orientation orientation_ = Orientation::kOrthogonal;
  int64_t tile_width_ = 0, tile_height_ = 0;  // even if staggered or hexagonal
  int64_t map_height_ = 0;                    // in cells
  int64_t side_ = 0;                          // of a hexagon, along the staggered axis
  bool staggers_columns_ = false;
  bool even_is_shifted_ = false;
};

// A rectangle of cells, row after row.
struct TiledChunk {
  int32_t x = 0, y = 0, width = 0, height = 0;
  std::span<const uint32_t> numbers;  // in the document, or in `decoded`
  std::vector<uint32_t> decoded;
};

// Returns the chunks of a tile layer; a layer of a finite map is one chunk. Decompressed bytes are
// taken from `budget`.
absl::StatusOr<std::vector<TiledChunk>> ReadTiledCells(const TiledNode& layer, size_t& budget);

}  // namespace carom
