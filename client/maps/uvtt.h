// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which walls does a Universal VTT map (`.dd2vtt`, `.uvtt`, `.df2vtt`) have?
//
// `ImportUvtt` makes an open chain of each line of sight and of each portal. The unit is the cell
// of the grid, as in the file, so that vertices are exact; the mapping states the pixels of a cell
// (`pixels_per_grid`), by which `scale` makes pixels. y points down: `flip_y` is on by default.
//
//   layer    category (foundry.h)  from
//   walls    kWalls (1)            line_of_sight
//   objects  kTerrainWalls (16)    objects_line_of_sight: pillars, furniture and the like
//   doors    kDoors (2)            portals that are closed
//   windows  kWindows (8)          portals that are not closed, which light passes
//
// There are no ids and properties. Errors are INVALID_ARGUMENT with a path such as
// `line_of_sight[3][1]`. Thread-safe. Cost: linear in the file.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file has lines of sight.
bool LooksLikeUvtt(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportUvtt(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& open);

}  // namespace carom
