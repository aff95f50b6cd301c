// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene_source.h"

#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::cli {
namespace {

// Returns the index of the scene with `source.id`; if `source.id` is empty, the index of the only
// scene of the file.
absl::StatusOr<size_t> ChooseScene(const SceneFile& file, const SceneSource& source) {
  if (!source.id.empty()) {
    const std::optional<size_t> index = file.Find(source.id);
    if (index) return *index;
    return absl::NotFoundError(absl::StrCat(source.file, " has no scene ", source.id));
  }
  if (file.size() == 1) return 0;
  return absl::InvalidArgumentError(
      absl::StrCat(source.file, " has ", file.size(), " scenes: choose one of them with --id"));
}

}  // namespace

void Warn(std::string_view file, const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  for (const Violation& violation : violations) {
    std::cerr << "carom: warning: " << file << ": " << violation.field << ": "
              << violation.description << '\n';
  }
  const size_t unlisted = ViolationCount(status) - violations.size();
  if (unlisted > 0) std::cerr << "carom: warning: " << file << ": " << unlisted << " more\n";
}

absl::StatusOr<SourceScene> ReadSource(const SceneSource& source) {
  absl::StatusOr<SceneFile> file = SceneFile::Read(source.file == "-" ? "/dev/stdin" : source.file);
  if (!file.ok()) return file.status();
  const absl::StatusOr<size_t> index = ChooseScene(*file, source);
  if (!index.ok()) return index.status();
  // Reports unknown JSON members before the polygons are read, because a misspelt member may be the
  // reason why a polygon is refused.
  const absl::Status unknown = file->UnknownMembers(*index);
  if (!unknown.ok() && source.strict) return unknown;
  Warn(source.file, unknown);
  return SourceScene{*std::move(file), *index};
}

}  // namespace carom::cli
