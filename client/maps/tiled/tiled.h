// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does a map of the Tiled editor have?
//
// `ImportTiled` reads maps (TMX, TMJ), tilesets (TSX, TSJ), templates (TX, TJ) and worlds
// (`.world`), in XML or JSON, in all four orientations. What becomes a polygon:
//
//   * Objects of object layers: rectangles, ellipses, capsules and polygons as solid polygons,
//     polylines as open chains. A tile object becomes the collision shapes of its tile, scaled to
//     the size of the object, flipped and rotated with it. Layers and objects that are hidden in
//     the editor are taken too.
//   * Tile layers: the collision shapes of the tile of each cell, flipped with the cell. A layer in
//     which no tile has a shape is outlined if the options name it: the union of its cells.
//   * Tile objects whose tile has no shape become the rectangle of their image if the options name
//     their layer.
//   * A tileset becomes the shapes of its tiles, laid out by their numbers; a template its object,
//     at the origin; a world all of its maps, at their places.
//
// Everything else is reported as skipped: points, texts, image layers, files that cannot be opened.
// Offsets of layers and groups count; parallax does not, and is reported. Coordinates are pixels of
// the rendered map, y down, as `tmxrasterizer` places them, with the origin of the map at (0, 0):
// objects of an isometric map are projected. An odd tile size of a hexagonal or staggered map
// counts as the even number below, as in Tiled.
//
// A choice of layers (`ImportOptions::layers`) names a layer by its name, its path through the
// groups (`Group/Layer`), or the name of a group around it. The property of the options is looked
// up on the object, then on the collision shape, the tile, the layer and its groups. Ids are those
// of the objects: see `MapBuilder::Finish`.
//
// Errors are INVALID_ARGUMENT and name the line of an XML file or the path in a JSON file, after
// the name of the file if it is not the map itself. Thread-safe. Cost: linear in the map, its
// decompressed layers, and the shapes of its cells; 100 MB of JSON take about 2 s and 2 to 4 times
// their size of memory, polygons included.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file is a map, tileset, template or world of Tiled.
bool LooksLikeTiled(const Sniffed& file);

// Returns the polygons of a file of Tiled. `open` opens tilesets, templates and maps of a world by
// their paths from the folder of the file.
absl::StatusOr<ImportedMap> ImportTiled(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open);

}  // namespace carom
