// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a stream has defined, recorded so that another call can define it again.
//
// A `StreamSession` is the server's session as of the last answered frame: scenes by handle and
// trackers by handle. `Replay` turns it into frames of bounded size, a `Cursor` says where it is:
//
//   StreamSession::Cursor cursor;
//   while (session.Replay(limits, cursor, frame)) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "carom/v1/query_service.pb.h"

namespace carom {

// Not thread-safe.
class StreamSession {
 public:
  // What comes next in a replay: bindings in the order of their handles, then trackers in theirs.
  struct Cursor {
    uint64_t next_binding = 0;  // handle
    uint64_t next_tracker = 0;  // handle
    bool bindings_done = false;
  };

  // Records what a frame defines that the server has not refused; moves its shapes out of the
  // message.
  void Apply(v1::Frame& frame);

  // The scene that a group asks; null for a handle that is not bound.
  const std::string* SceneOf(const v1::Group& group) const;

  // Fills `frame` with the next definitions and moves `cursor` past them: at most 1,024 bindings,
  // or 1,024 lists of trackers, of 1 MiB in all unless one tracker alone has more, and within
  // `limits` (0: not known). False, with an empty frame, if nothing is left. `Apply` between the
  // first call and the last is not allowed.
  bool Replay(const v1::StreamLimits& limits, Cursor& cursor, v1::Frame& frame) const;

 private:
  struct Tracker {
    std::shared_ptr<const v1::Shape> shape;  // of every tracker that was defined with it
    double within = 0;
    uint64_t mask = 0;
  };
  class TrackerFrame;

  void Define(v1::TrackerDefinitions& definitions);

  std::map<uint64_t, std::string> scenes_;
  std::map<uint32_t, Tracker> trackers_;
};

}  // namespace carom
