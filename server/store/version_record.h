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

// An encoded VersionRecord (proto/carom/store/v1/pages.proto), which has the summary of a version
// and the hash of the root page of its polygons, and a checksum of the record and the scene's name.
// Because the checksum includes the name, a record that was copied to another scene is detected as
// damaged.
struct VersionRow {
  std::string bytes;
  std::string checksum;
};

// Returns the row of a version of the scene `scene`. `root` is the hash of the root page of the
// version's tree of polygons (server/store/page_tree.h).
VersionRow MakeRow(absl::string_view scene, const VersionSummary& summary, const PageHash& root);

// Sets `summary` and `root` from the row of version `version` of the scene `scene`. DATA_LOSS if
// the row is damaged, or is that of another scene or another version.
absl::Status ReadRow(absl::string_view scene, uint64_t version, const VersionRow& row,
                     VersionSummary& summary, PageHash& root);

}  // namespace carom::server
