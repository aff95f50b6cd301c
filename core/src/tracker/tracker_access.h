// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What moving a tracker reads and writes of it, and which tracker a move is of.
#pragma once

#include <cstddef>
#include <memory>

#include "carom/tracker.h"
#include "tracker/tracked_shape.h"
#include "tracker/tracker_memory.h"

namespace carom::internal {

// The private parts of a tracker that is defined.
struct TrackerAccess {
  static QuietBall& ball(Tracker& tracker) { return tracker.ball_; }
  static const QuietBall& ball(const Tracker& tracker) { return tracker.ball_; }
  static const TrackedShape& shape(const Tracker& tracker) { return *tracker.shape_; }
  // Null until the tracker learns something.
  static std::unique_ptr<TrackerMemory>& memory(Tracker& tracker) { return tracker.memory_; }
};

// The index of the tracker of move i, which may be beyond the trackers there are.
inline size_t TrackerIndexOf(const MoveColumns& moves, size_t i) {
  return moves.tracker.empty() ? moves.first_tracker + i : moves.tracker[i];
}

// The tracker of move i; null where there is none.
inline Tracker* TrackerOf(const MoveColumns& moves, size_t i) {
  const size_t index = TrackerIndexOf(moves, i);
  if (index >= moves.trackers.size()) return nullptr;
  Tracker& tracker = moves.trackers[index];
  return tracker.is_defined() ? &tracker : nullptr;
}

}  // namespace carom::internal
