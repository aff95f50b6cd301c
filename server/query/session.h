// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the server keep of a stream?
//
// A `Session` holds what frames define for later frames: scene handles and trackers. It lives and
// dies with its stream; `Evaluate` has one for its frame. Answers depend on it by these definitions
// alone: what trackers remember only makes them fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "carom/tracker_table.h"
#include "carom/v1/query_service.pb.h"
#include "server/base/scene_name.h"

namespace carom::server {

// Scenes by handle. Not thread-safe.
class SceneHandles {
 public:
  static constexpr size_t kMaxHandles = 1024;
  static constexpr size_t kHandleBytes = 192;  // with the longest name

  using Bindings = google::protobuf::RepeatedPtrField<v1::SceneBinding>;

  // INVALID_ARGUMENT for a handle that is bound twice or to a malformed name, RESOURCE_EXHAUSTED
  // for more than kMaxHandles in all.
  absl::Status Check(const Bindings& bindings) const;
  // Binds what `Check` accepts.
  void Bind(const Bindings& bindings);

  // The bound name, or null.
  const std::string* Find(uint64_t handle) const;
  // What they take, about.
  size_t memory_bytes() const { return names_.size() * kHandleBytes; }

 private:
  absl::flat_hash_map<uint64_t, std::string> names_;
};

// Not thread-safe.
struct Session {
  explicit Session(const TrackerTableLimits& limits) : trackers(limits) {}

  // Takes over the definitions of `frame`: all of them, or none and what is wrong with them.
  absl::Status Define(const v1::Frame& frame);

  size_t memory_bytes() const { return handles.memory_bytes() + trackers.memory_bytes(); }
  // By how much a frame may make that grow, before it is evaluated.
  struct Growth {
    uint64_t handles = 0;
    uint64_t trackers = 0;  // definitions of them, at most
    // What its moves may learn, about: a tracker that finds no room is answered without memory.
    uint64_t memories = 0;
  };
  // Cost O(groups), and with definitions O(rings).
  Growth GrowthBy(const v1::Frame& frame) const;

  // Whose scenes its frames ask, and whether they may edit forks or why not.
  std::string tenant = kDefaultTenant;
  absl::Status may_edit;
  SceneHandles handles;
  TrackerTable trackers;
  uint64_t move_batches = 0;
};

}  // namespace carom::server
