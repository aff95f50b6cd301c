// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which state of a stream does the server keep between frames?
//
// A `Session` holds the scene handles and trackers that frames (messages with queries) define for
// later frames. A stream has one session, and an `Evaluate` call has one for its single frame. Of
// the session, only these definitions determine answers: the memories of trackers and eyes (caches
// of nearby polygons) only make answers fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "carom/tracker_table.h"
#include "carom/v1/query_service.pb.h"
#include "server/base/scene_name.h"
#include "server/query/stream_body_sets.h"

namespace carom::server {

// The names of scenes, by handle. A handle is a number that a client has bound to a name. Not
// thread-safe.
class SceneHandles {
 public:
  static constexpr size_t kMaxHandles = 1024;
  // an estimate of the bytes of a handle and the longest name
  static constexpr size_t kHandleBytes = 192;

  using Bindings = google::protobuf::RepeatedPtrField<v1::SceneBinding>;

  // Returns INVALID_ARGUMENT if `bindings` bind a handle twice or to a malformed name, and
  // RESOURCE_EXHAUSTED if more than kMaxHandles handles would be bound after `Bind`.
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

// The state of a stream between its frames (messages with queries): scene handles, which are
// numbers that the client has bound to scene names, trackers, which are moving shapes, and body
// sets, which are bodies with poses by tick. Not thread-safe.
struct Session {
  explicit Session(const TrackerTableLimits& limits) : trackers(limits) {}

  // Makes all definitions of `frame` (of scene handles, trackers and body sets) and adds the ticks
  // of its poses, or does none of this if it returns an error.
  // `store` has the forks whose body sets the frame may define and use. Increases `work_units` as
  // `StreamBodySets::Define` does.
  absl::Status Define(const v1::Frame& frame, ForkStore& store, uint64_t& work_units);

  size_t memory_bytes() const {
    return handles.memory_bytes() + body_sets.memory_bytes() + trackers.memory_bytes();
  }
  // Upper bounds of the bytes by which one frame may increase `memory_bytes`.
  struct Growth {
    // for the handles that the frame binds to scenes, and the stream's body sets that it defines
    uint64_t handles = 0;
    uint64_t trackers = 0;  // for the trackers that the frame defines
    // For the memories (caches of nearby polygons) that the tracker moves and the eyes of the frame
    // add. An estimate: if there is no room for a memory, the server answers without a cache.
    uint64_t memories = 0;
  };
  // Returns upper bounds of the growth by `frame`. Cost O(groups), and O(rings) for the shapes of
  // the trackers that the frame defines.
  Growth GrowthBy(const v1::Frame& frame) const;

  // The tenant whose scenes the frames read.
  std::string tenant = kDefaultTenant;
  // OK if the client may edit forks (private copies of scenes), else the error with which its edits
  // are refused
  absl::Status may_edit;
  SceneHandles handles;
  TrackerTable trackers;
  StreamBodySets body_sets;
  uint64_t move_batches = 0;  // number of batches of tracker moves so far
  uint64_t eye_batches = 0;   // number of groups with memories of eyes so far

 private:
  // Returns the store's key of the fork that a body set of the frame names.
  absl::StatusOr<std::string> ForkKeyOf(const v1::Frame& frame, const v1::BodySet& set,
                                        const ForkStore& store) const;
};

}  // namespace carom::server
