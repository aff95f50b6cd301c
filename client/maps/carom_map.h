// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does a scene in Carom's own forms have?
//
// `ImportCarom` reads a scene in JSON (scene_reader.h), the scenes of a JSON Lines file, or a
// bundle (carom/bundle.h), so that they pass through the same options as every other map. Polygons
// keep their ids, fill rules, categories and user data; with `merge`, boxes lose their user data.
//
// A scene is a layer by its id (`scene` without one). From a file with several scenes,
// `ImportOptions::scene` chooses one. The property of the options is not used. The member `mapping`
// of a scene becomes `ImportedMap::kept_mapping`. y points up:
// `flip_y` is off by default. Unknown members are reported as skipped. Errors are those of
// `ReadPolygons`, which names the first 16 invalid polygons, and of `ReadBundle`; NOT_FOUND if the
// file has no scene of the id. Thread-safe. Cost: linear in the file; memory, beside the polygons:
// the greatest of them as a document.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file is a bundle, or begins with an object that has polygons.
bool LooksLikeCarom(const Sniffed& file);

// Returns whether the options leave the polygons of a scene as they are.
bool LeavesAll(const ImportOptions& options);

// Reads a file that is sniffed already.
absl::StatusOr<ImportedMap> ImportSniffedCarom(const Sniffed& file, const ImportOptions& options,
                                               const FileOpener& open);
absl::StatusOr<ImportedMap> ImportCarom(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open);

}  // namespace carom
