// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does an LDtk project have?
//
// `ImportLdtk` reads a project (`.ldtk`), with the levels that are files of their own. Levels are
// at their places in the world; those of a linear world follow one another without a gap. Only the
// first of several worlds is read.
//
//   * Entities that are drawn as rectangles or ellipses are polygons; `hollow` ones are hollow.
//     Those that are drawn as tiles are rectangles if the options name them; crosses are skipped.
//   * The cells of an IntGrid are outlined if the options name them: one value as `Layer:value` or
//     `Layer:name of the value`, all values together as `Layer`. So are the cells of layers of
//     tiles. Cells of several levels of the same depth make one union: no edge lies between two
//     levels.
//   * An entity is in the layer of its own name; a choice may name its layer, too. A choice may
//   also
//     name a level, for all layers in it.
//
// The property of the options is a field of the entity, or of its level. There are no ids.
// Coordinates are pixels with y down: `flip_y` is on by default. Vertices are exact; ellipses are
// within `chord`.
//
// Errors are INVALID_ARGUMENT with a path such as `levels[2].layerInstances[0].intGridCsv`.
// Thread-safe, as far as the opener is. Cost: linear in the project, and O(n log n) in the cells.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file is an LDtk project.
bool LooksLikeLdtk(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportLdtk(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& open);

}  // namespace carom
