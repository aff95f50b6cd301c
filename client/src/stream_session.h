// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a stream has defined, kept so that another call can be told.
//
// A `StreamSession` is the server's session as of the last answered frame: scenes by handle and
// trackers by handle. A `Cursor` tells it again, in frames of bounded size:
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
  // How much has been told.
  struct Cursor {
    uint64_t next_binding = 0;  // handle
    uint64_t next_tracker = 0;  // handle
    bool bindings_told = false;
  };

  // Takes what a frame defines that the server has not refused, its shapes out of the message.
  void Apply(v1::Frame& frame);

  // Fills `frame` with the next definitions, within `limits` (0: not known) and 1 MiB or so, at
  // most 1,024 of bindings and 1,024 lists of trackers. False, with an empty frame, once all are
  // told. The session stays as it is between the first call and the last.
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
