// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a stream restore its scene handles and its trackers (moving shapes, each with a handle)
// on another gRPC call?
//
// A `StreamSession` is a copy of the server's state of the stream after the last answered frame:
// scenes by handle, body sets with the ticks that are kept, and trackers by handle. `Replay` makes
// the frames that define them again; a `Cursor` is the position of the replay:
//
//   StreamSession::Cursor cursor;
//   while (session.Replay(limits, cursor, frame)) …
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "carom/v1/query_service.pb.h"

namespace carom {

// Returns the smaller of `most` and `limit`, a limit of the server, or `most` if `limit` is 0
// (unknown).
inline uint64_t Capped(uint64_t most, uint64_t limit) {
  return limit == 0 ? most : std::min(most, limit);
}

// Holds the scene handles (numbers that stand for scene names, bound by `SceneBinding`), the
// trackers (moving shapes with handles) and the body sets that a stream has defined, and replays
// them: makes frames that define them again for another gRPC call. Not thread-safe.
class StreamSession {
 public:
  // The position of a replay: the next definition to send, first of the bindings by ascending
  // handle, then of the body sets with their ticks, then of the trackers by ascending handle.
  struct Cursor {
    uint64_t next_binding = 0;  // least scene handle that is not replayed yet
    uint64_t next_tracker = 0;  // least tracker handle that is not replayed yet
    bool bindings_done = false;
    uint64_t next_body_set = 0;  // least handle of a body set that is not replayed completely
    uint64_t next_tick = 0;      // least tick of that set that is not replayed yet
    bool is_defined = false;     // the definition of that set is replayed
  };

  // Records the scene bindings, and the definitions and removals of trackers and body sets, and the
  // poses of `frame`, which the server has not refused; moves shapes and poses out of `frame`.
  void Apply(v1::Frame& frame);

  // Returns the name of the scene that `group` queries, or null if the group names a handle that is
  // not bound.
  const std::string* SceneOf(const v1::Group& group) const;

  // Fills `frame` with the next definitions, moves `cursor` past them, and returns true. A frame
  // has either at most 1,024 bindings, or the sets and ticks of one fork or of none, or at most
  // 1,024 messages `TrackerDefinitions`; it has at most 1 MiB, unless a single tracker, set or tick
  // has more, and keeps within the `limits` of the server (a limit of 0 is unknown). Returns false
  // with an empty `frame` once all definitions are replayed. `Apply` must not be called between the
  // calls of one replay.
  bool Replay(const v1::StreamLimits& limits, Cursor& cursor, v1::Frame& frame) const;

  // Returns the fork whose body sets or ticks `replayed` has, a frame of `Replay`; else an empty
  // name.
  std::string ForkOf(const v1::Frame& replayed) const;
  // Forgets the body sets of a fork, which the server has refused. May be called during a replay.
  void DropFork(const std::string& fork);

 private:
  struct Tracker {
    // trackers whose definitions refer to one entry of `TrackerDefinitions::shapes` share one
    // object
    std::shared_ptr<const v1::Shape> shape;
    double within = 0;
    uint64_t mask = 0;
  };
  // A body set, whose definition names its fork, if any, and the last ticks that were sent, at most
  // as many as it keeps, by tick.
  struct BodySet {
    v1::BodySet definition;
    std::string bytes;  // equal for equal definitions (`wire::BodySetBytes`)
    std::map<uint64_t, v1::BodyPoses> ticks;
    bool is_defined_again = false;  // since the newest tick

    size_t keep_ticks() const;
    // Records a tick that the server accepted.
    void Add(v1::BodyPoses& poses);
  };
  class TrackerFrame;

  // Records the body sets, their removals and the poses of `frame`.
  void ApplyBodySets(v1::Frame& frame);
  void ApplyBodySet(v1::BodySet& definition);
  // Fills `frame` with the next body sets and ticks, as `Replay` does.
  bool ReplayBodySets(const v1::StreamLimits& limits, Cursor& cursor, v1::Frame& frame) const;

  // Stores in `trackers_` the trackers that `definitions` contains.
  void Define(v1::TrackerDefinitions& definitions);

  std::map<uint64_t, std::string> scenes_;
  std::map<uint32_t, Tracker> trackers_;
  std::map<uint32_t, BodySet> body_sets_;
};

}  // namespace carom
