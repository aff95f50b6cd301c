// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a durable store write for each version of a scene, beside the pages of polygons?
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/store/page_tree.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// An encoded VersionRecord (proto/carom/store/v1/pages.proto), which has the summary and the root
// page of a version, and a checksum of the record and the scene's name. With the name, a record
// that was moved to another scene is detected as damaged.
struct VersionRow {
  std::string bytes;
  std::string checksum;
};

VersionRow MakeRow(absl::string_view scene, const VersionSummary& summary, const PageHash& root);

// Sets `summary` and `root` from a row; DATA_LOSS if the row is damaged, or belongs to another
// scene than `scene` or another version than `version`.
absl::Status ReadRow(absl::string_view scene, uint64_t version, const VersionRow& row,
                     VersionSummary& summary, PageHash& root);

}  // namespace carom::server
