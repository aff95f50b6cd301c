// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/scene_upload.h"

#include "carom/status.h"
#include "server/base/scene_name.h"
#include "server/store/memory_store.h"

namespace carom::server {
namespace {

absl::StatusOr<ImportMode> DecodeMode(v1::ImportMode mode) {
  switch (mode) {
    case v1::IMPORT_MODE_UNSPECIFIED:
    case v1::IMPORT_MODE_CREATE:
      return ImportMode::kCreate;
    case v1::IMPORT_MODE_REPLACE:
      return ImportMode::kReplace;
    default:
      return InvalidField("mode", "must be a known value");
  }
}

}  // namespace

absl::Status SceneUpload::Add(const v1::ImportSceneRequest& part) {
  if (absl::Status status = CheckHeader(part); !status.ok()) return status;
  // Counted before they are decoded: no part makes the upload larger than a scene may be.
  const size_t first = polygons_.size();
  if (absl::Status status =
          scene_limits_.Check(first + static_cast<size_t>(part.polygons_size()), vertices_);
      !status.ok()) {
    return status;
  }
  // A part's vertices are bounded by the size of its message, so they are counted afterwards; those
  // of a polygon that goes on are charged as they come.
  const auto hold = [this](size_t rings, size_t vertices) {
    return pending_charge_.GrowTo(BytesOf(rings, vertices));
  };
  if (absl::Status status = joiner_.Add(part.polygons(), part.continues(), hold, polygons_);
      !status.ok()) {
    return status;
  }
  if (polygons_.size() > first && !part.continues()) pending_charge_.Clear();
  for (size_t i = first; i < polygons_.size(); ++i) {
    vertices_ += polygons_[i].vertex_count();
    if (absl::Status status = charge_.Add(BytesOf(polygons_[i])); !status.ok()) return status;
  }
  return scene_limits_.Check(polygons_.size(), vertices_);
}

absl::Status SceneUpload::CheckHeader(const v1::ImportSceneRequest& part) {
  const absl::StatusOr<ImportMode> mode = DecodeMode(part.mode());
  if (!mode.ok()) return mode.status();
  // The first part names the scene; later ones may repeat it.
  if (!begun_) {
    if (absl::Status status = CheckSceneName("name", part.name()); !status.ok()) return status;
    begun_ = true;
    name_ = part.name();
    mode_ = *mode;
    return absl::OkStatus();
  }
  if (!part.name().empty() && part.name() != name_) {
    return InvalidField("name", "must be absent or that of the first part");
  }
  if (part.mode() != v1::IMPORT_MODE_UNSPECIFIED && *mode != mode_) {
    return InvalidField("mode", "must be absent or that of the first part");
  }
  return absl::OkStatus();
}

// A stream that ends in the middle of a polygon is refused: its client has lost count.
absl::Status SceneUpload::Check() const {
  if (!begun_) return InvalidField("name", "must be given in a first part");
  return joiner_.Finish();
}

}  // namespace carom::server
