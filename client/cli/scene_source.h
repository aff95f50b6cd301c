// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene of which file does a command take?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {

// As it is given on the command line. Unknown members of the file are a warning, or refused.
struct SceneSource {
  std::string file;  // "-" is standard input
  std::string id;    // empty: the one scene of the file
  bool strict = false;
};

// Writes a line `carom: warning: FILE: …` to standard error for each violation of `status`.
void Warn(std::string_view file, const absl::Status& status);

struct SourceScene {
  SceneFile file;
  size_t index = 0;
};

// Reads the file and chooses the scene; its polygons are not looked at. Warnings go to standard
// error. Errors: those of `SceneFile`; INVALID_ARGUMENT for a file of several scenes and no id;
// NOT_FOUND for an id that it has not.
absl::StatusOr<SourceScene> ReadSource(const SceneSource& source);

}  // namespace carom::cli
