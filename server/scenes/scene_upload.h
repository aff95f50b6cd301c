// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons has the client of an ImportScene call sent so far?
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

// Collects the polygons of an import from chunks, the messages of the request stream. Checks the
// limits of polygons and scenes with each chunk, so that the collected polygons never exceed the
// limits. Not thread-safe.
class SceneUpload {
 public:
  SceneUpload(const PolygonLimits& polygon_limits, const SceneLimits& scene_limits)
      : scene_limits_(scene_limits), joiner_(polygon_limits, Executor::Checkpoint) {}

  // Sets the charge that accounts for the memory of the polygons. Must be called before the first
  // chunk; otherwise the memory is not accounted for.
  void set_charge(MemoryCharge charge) {
    pending_charge_ = charge.Another();
    charge_ = std::move(charge);
  }

  // Adds the polygons of `chunk`. Errors: INVALID_ARGUMENT naming `name`, `mode` or
  // `polygons[i]...`, i counted over all chunks; the errors of `wire::PolygonJoiner`;
  // RESOURCE_EXHAUSTED if the scene exceeds a limit. After an error nothing more may be added.
  absl::Status Add(const v1::ImportSceneRequest& chunk);

  // Checks that the upload is complete: INVALID_ARGUMENT if no chunk was added, or if the last
  // chunk ends within a polygon.
  absl::Status Check() const;

  const std::string& name() const { return name_; }
  ImportMode mode() const { return mode_; }
  const std::string& note() const { return note_; }
  std::vector<Polygon>& polygons() { return polygons_; }
  // Frees the polygons, and pauses now and then, so that other tasks of the executor can run.
  // Nothing may be added afterwards.
  void Clear() {
    // number of polygons that are freed between two pauses, in a small part of a time slice
    constexpr ptrdiff_t kAtOnce = 256;
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
  absl::Status CheckHeader(const v1::ImportSceneRequest& chunk);

  const SceneLimits scene_limits_;
  bool begun_ = false;
  std::string name_;
  ImportMode mode_ = ImportMode::kCreate;
  std::string note_;
  wire::PolygonJoiner joiner_;
  std::vector<Polygon> polygons_;
  size_t vertices_ = 0;          // number of vertices of all `polygons_`
  MemoryCharge charge_;          // memory of `polygons_`
  MemoryCharge pending_charge_;  // memory of the incomplete polygon in `joiner_`
};

}  // namespace carom::server
