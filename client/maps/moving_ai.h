// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does a grid map of the Moving AI benchmarks (`.map`) have?
//
// `ImportMovingAi` outlines the impassable cells. A cell is a square of side 1, the
// first row from y = 0 to 1, with y down: `flip_y` is on by default. Vertices are exact.
//
// Each letter is a layer, which a choice may also name by the word:
//
//   letter   word            taken
//   @ O      out_of_bounds   yes
//   T        trees           yes
//   W        water           yes: one can swim, but not walk into it
//   S        swamp           if it is named: one can walk through it
//   . G      ground          if it is named
//
// Letters with the same use and category make one union. There are no ids and properties. Errors
// are INVALID_ARGUMENT with the line. Thread-safe. Cost: linear in the file.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file begins with the word `type` on a line with the kind of grid.
bool LooksLikeMovingAi(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportMovingAi(std::string_view bytes, const ImportOptions& options,
                                           const FileOpener& open);

}  // namespace carom
