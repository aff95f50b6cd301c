// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a store keep of a version beside its polygons?
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/store/page_tree.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// A VersionRecord (proto/carom/store/v1/pages.proto), and a checksum of the record and its scene's
// name, so that a record does not pass for one of another scene.
struct VersionRow {
  std::string bytes;
  std::string checksum;
};

VersionRow MakeRow(absl::string_view scene, const VersionSummary& summary, const PageHash& root);

// Reads `summary` and `root` from a row; DATA_LOSS if the row is damaged, or belongs to another
// scene or version.
absl::Status ReadRow(absl::string_view scene, uint64_t version, const VersionRow& row,
                     VersionSummary& summary, PageHash& root);

}  // namespace carom::server
