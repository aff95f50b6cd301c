// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene of which file does a command read?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {

// The source of a scene, as given on the command line.
struct SceneSource {
  std::string file;     // path of the scene file; "-" is standard input
  std::string id;       // id of the scene in the file; empty: the file must have one scene
  bool strict = false;  // unknown members of the scene are an error instead of a warning
};

// Writes a line `carom: warning: FILE: …` to standard error for each violation of `status`.
void Warn(std::string_view file, const absl::Status& status);

// A scene file and the index of the chosen scene.
struct SourceScene {
  SceneFile file;
  size_t index = 0;
};

// Reads the file of `source` and chooses the scene with the id `source.id`; does not read the
// polygons of the scene. Writes a warning to standard error for each unknown JSON member, which is
// an error if `source.strict`. Errors: those of `SceneFile`; INVALID_ARGUMENT if `source.id` is
// empty and the file does not have exactly one scene; NOT_FOUND if the file has no scene with the
// id `source.id`.
absl::StatusOr<SourceScene> ReadSource(const SceneSource& source);

}  // namespace carom::cli
