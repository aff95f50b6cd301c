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

absl::Status SceneUpload::Add(const v1::ImportSceneRequest& chunk) {
  if (absl::Status status = CheckHeader(chunk); !status.ok()) return status;
  // The polygons of the chunk are counted before they are decoded, so that no chunk makes the
  // upload larger than a scene may be.
  const size_t first = polygons_.size();
  if (absl::Status status =
          scene_limits_.Check(first + static_cast<size_t>(chunk.polygons_size()), vertices_);
      !status.ok()) {
    return status;
  }
  // The maximum size of a message limits the vertices of a chunk, so the memory of complete
  // polygons is charged only after they are decoded. The pieces of a polygon that spans several
  // chunks are charged as they arrive.
  const auto charge_pending = [this](size_t rings, size_t vertices) {
    return pending_charge_.GrowTo(BytesOf(rings, vertices));
  };
  if (absl::Status status =
          joiner_.Add(chunk.polygons(), chunk.continues(), charge_pending, polygons_);
      !status.ok()) {
    return status;
  }
  if (polygons_.size() > first && !chunk.continues()) pending_charge_.Clear();
  for (size_t i = first; i < polygons_.size(); ++i) {
    vertices_ += polygons_[i].vertex_count();
    if (absl::Status status = charge_.Add(BytesOf(polygons_[i])); !status.ok()) return status;
  }
  return scene_limits_.Check(polygons_.size(), vertices_);
}

absl::Status SceneUpload::CheckHeader(const v1::ImportSceneRequest& chunk) {
  const absl::StatusOr<ImportMode> mode = DecodeMode(chunk.mode());
  if (!mode.ok()) return mode.status();
  // The first chunk names the scene; later chunks may repeat the name.
  if (!begun_) {
    if (absl::Status status = CheckSceneName("name", chunk.name()); !status.ok()) return status;
    begun_ = true;
    name_ = chunk.name();
    mode_ = *mode;
    note_ = chunk.note();
    return CheckNote(note_);
  }
  if (!chunk.name().empty() && chunk.name() != name_) {
    return InvalidField("name", "must be absent or equal to that of the first chunk");
  }
  if (chunk.mode() != v1::IMPORT_MODE_UNSPECIFIED && *mode != mode_) {
    return InvalidField("mode", "must be absent or equal to that of the first chunk");
  }
  return absl::OkStatus();
}

// Refuses a stream that ends within a polygon: its client has not sent all pieces of the polygon.
absl::Status SceneUpload::Check() const {
  if (!begun_) return InvalidField("name", "must be given in the first chunk");
  return joiner_.Finish();
}

}  // namespace carom::server
