// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/version_record.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "carom/store/v1/pages.pb.h"

namespace carom::server {
namespace {

// Returns a checksum of a version's record and the scene's name together, so that a row (a record
// with its checksum) that was copied to another scene is detected.
PageHash ChecksumOf(absl::string_view scene, absl::string_view record) {
  return HashOf(absl::StrCat(scene, "\n", record));
}

}  // namespace

VersionRow MakeRow(absl::string_view scene, const VersionSummary& summary, const PageHash& root) {
  store::v1::VersionRecord record;
  record.set_version(summary.version);
  record.set_root(TextOf(root));
  record.set_polygon_count(summary.polygon_count);
  record.set_vertex_count(summary.vertex_count);
  record.set_edit_id(summary.edit_id);
  record.set_note(summary.note);
  record.set_created_us(summary.created_us);
  if (summary.polygon_count != 0) {
    const Box& box = summary.bounds;
    for (const double x : {box.min.x, box.min.y, box.max.x, box.max.y}) record.add_bounds(x);
  }
  VersionRow row;
  row.bytes = record.SerializeAsString();
  row.checksum = TextOf(ChecksumOf(scene, row.bytes));
  return row;
}

absl::Status ReadRow(absl::string_view scene, uint64_t version, const VersionRow& row,
                     VersionSummary& summary, PageHash& root) {
  store::v1::VersionRecord record;
  if (row.checksum != TextOf(ChecksumOf(scene, row.bytes)) || !record.ParseFromString(row.bytes) ||
      record.root().size() != root.size() || record.version() != version) {
    return DamagedScene("a version has a wrong checksum");
  }
  std::memcpy(root.data(), record.root().data(), root.size());
  summary.version = record.version();
  summary.polygon_count = record.polygon_count();
  summary.vertex_count = record.vertex_count();
  summary.edit_id = record.edit_id();
  summary.note = record.note();
  summary.created_us = record.created_us();
  if (record.bounds_size() == 4) {
    summary.bounds.Extend(Vec2{record.bounds(0), record.bounds(1)});
    summary.bounds.Extend(Vec2{record.bounds(2), record.bounds(3)});
  }
  return absl::OkStatus();
}

}  // namespace carom::server
