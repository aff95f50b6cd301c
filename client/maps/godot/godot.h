// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do the collision shapes of a Godot 4 scene make?
//
// `ImportGodot` reads a scene (`.tscn`) with the scenes that it instances, a TileSet (`.tres`) or a
// single Shape2D (`.tres`). What becomes a polygon:
//
//   * CollisionShape2D: rectangles, circles, capsules and convex polygons are solid; segments,
//     separation rays and concave polygons (which are segments, joined where one begins at the end
//     of the one before) are chains. World boundaries are skipped.
//   * CollisionPolygon2D: solid by even-odd; in the build mode "segments" a hollow ring.
//   * TileMapLayer, and the layers of a TileMap: the polygons of the physics layers of each cell's
//     tile, turned with the cell. A layer in which no tile has a polygon is outlined if the options
//     name it; only square and isometric cells can be.
//   * Polygon2D and LightOccluder2D, which nothing collides with, if the options name their type or
//     the node.
//   * A TileSet alone: the polygons of its tiles, about the centres of the tiles.
//
// Position, rotation, scale and skew of all nodes around a shape are applied; a node that is no
// CanvasItem, or has `top_level`, begins anew. Curves are within `chord` after the transform.
// Coordinates are pixels with y down: `flip_y` is on by default.
//
// Layers: a shape is in the layer of its body, a cell in that of its TileMapLayer; a choice may
// also name any node around it, the shape itself, or the type of the body, such as `Area2D`. The
// property of the options is one of the shape or of a node around it (`collision_layer`, or
// metadata), and for cells `collision_layer` of the physics layer or a custom data layer. Ids are
// the `unique_id` of the shapes. Disabled shapes and layers, and files that are not found, are
// reported.
//
// Errors are INVALID_ARGUMENT with the line, and the file if it is another one. Thread-safe, as far
// as the opener is. Cost: linear in the files, the nodes and the shapes of cells.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file begins with the head of a scene or of a resource.
bool LooksLikeGodot(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportGodot(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open);

}  // namespace carom
