// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What has an import sent so far?
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/v1/scene_service.pb.h"
#include "server/base/memory_account.h"
#include "server/store/scene_store.h"
#include "server/transport/executor.h"
#include "wire/pieces.h"

namespace carom::server {

// Gathers the parts of an import. Limits are enforced part by part: what it holds never exceeds
// them. Not thread-safe.
class SceneUpload {
 public:
  SceneUpload(const PolygonLimits& polygon_limits, const SceneLimits& scene_limits)
      : scene_limits_(scene_limits), joiner_(polygon_limits, Executor::Checkpoint) {}

  // What polygons are charged to, before the first part; else nothing.
  void set_charge(MemoryCharge charge) {
    pending_charge_ = charge.Another();
    charge_ = std::move(charge);
  }

  // Errors: INVALID_ARGUMENT naming `name`, `mode` or `polygons[i]...`, i counted over all parts;
  // those of `wire::PolygonJoiner`; RESOURCE_EXHAUSTED over the limits. After an error the upload
  // is over.
  absl::Status Add(const v1::ImportSceneRequest& part);

  // INVALID_ARGUMENT if there was no part, or the last one has a polygon that goes on.
  absl::Status Check() const;

  const std::string& name() const { return name_; }
  ImportMode mode() const { return mode_; }
  std::vector<Polygon>& polygons() { return polygons_; }
  // Frees the polygons. The upload is over.
  void Clear() {
    constexpr ptrdiff_t kAtOnce = 256;  // a small part of a turn
    while (!polygons_.empty()) {
      polygons_.erase(polygons_.end() - std::min(kAtOnce, std::ssize(polygons_)), polygons_.end());
      Executor::Checkpoint();
    }
    polygons_ = {};
    joiner_.Clear();
    charge_.Clear();
    pending_charge_.Clear();
  }

 private:
  absl::Status CheckHeader(const v1::ImportSceneRequest& part);

  const SceneLimits scene_limits_;
  bool begun_ = false;
  std::string name_;
  ImportMode mode_ = ImportMode::kCreate;
  wire::PolygonJoiner joiner_;
  std::vector<Polygon> polygons_;
  size_t vertices_ = 0;          // of those
  MemoryCharge charge_;          // likewise
  MemoryCharge pending_charge_;  // of the polygon that goes on
};

}  // namespace carom::server
