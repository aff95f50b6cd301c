// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which state of a stream does the server keep between frames?
//
// A `Session` holds the scene handles and trackers that frames define for later frames. A stream
// has one session, and an `Evaluate` call has one for its single frame. Answers depend on these
// definitions alone: the memories of trackers only make answers fast.
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

// The names of scenes, by handle. Not thread-safe.
class SceneHandles {
 public:
  static constexpr size_t kMaxHandles = 1024;
  static constexpr size_t kHandleBytes = 192;  // an estimate for a handle, with the longest name

  using Bindings = google::protobuf::RepeatedPtrField<v1::SceneBinding>;

  // Returns INVALID_ARGUMENT if a handle is bound twice or to a malformed name, and
  // RESOURCE_EXHAUSTED if there would be more than kMaxHandles handles.
  absl::Status Check(const Bindings& bindings) const;
  // Binds the handles of `bindings`, which `Check` must have accepted.
  void Bind(const Bindings& bindings);

  // Returns the name that `handle` is bound to, or null.
  const std::string* Find(uint64_t handle) const;
  // Returns an estimate of the bytes that the handles take.
  size_t memory_bytes() const { return names_.size() * kHandleBytes; }

 private:
  absl::flat_hash_map<uint64_t, std::string> names_;
};

// The state of a stream between its frames. Not thread-safe.
struct Session {
  explicit Session(const TrackerTableLimits& limits) : trackers(limits) {}

  // Makes all definitions of `frame`, or none of them if it returns an error.
  absl::Status Define(const v1::Frame& frame);

  size_t memory_bytes() const { return handles.memory_bytes() + trackers.memory_bytes(); }
  // Upper bounds of the bytes by which a frame may increase `memory_bytes`.
  struct Growth {
    uint64_t handles = 0;   // for the bindings of the frame
    uint64_t trackers = 0;  // for its definitions of trackers
    // For the memories that the moves of the frame add, an estimate: a move is answered without
    // memory if there is no room for its memory.
    uint64_t memories = 0;
  };
  // Returns the growth by `frame`. Cost O(groups), and O(rings) of the definitions of trackers.
  Growth GrowthBy(const v1::Frame& frame) const;

  // The tenant whose scenes the frames read.
  std::string tenant = kDefaultTenant;
  absl::Status may_edit;  // OK if the frames may edit forks, else the error
  SceneHandles handles;
  TrackerTable trackers;
  uint64_t move_batches = 0;  // number of batches of moves evaluated so far
};

}  // namespace carom::server
