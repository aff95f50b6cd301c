// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Gives the functions that move trackers access to the private members of a `Tracker`, and finds
// the tracker of a move.
#pragma once

#include <cstddef>
#include <memory>

#include "carom/tracker.h"
#include "tracker/tracked_shape.h"
#include "tracker/tracker_memory.h"

namespace carom::internal {

// Returns private members of a tracker, which must be defined (`Tracker::is_defined`).
struct TrackerAccess {
  static QuietBall& ball(Tracker& tracker) { return tracker.ball_; }
  static const QuietBall& ball(const Tracker& tracker) { return tracker.ball_; }
  static const TrackedShape& shape(const Tracker& tracker) { return *tracker.shape_; }
  // Returns the tracker's memory of the scene around it; null until a move of the tracker creates
  // it.
  static std::unique_ptr<TrackerMemory>& memory(Tracker& tracker) { return tracker.memory_; }
};

// Returns the index in `moves.trackers` of the tracker of move i. The index may be out of range.
inline size_t TrackerIndexOf(const MoveColumns& moves, size_t i) {
  return moves.tracker.empty() ? moves.first_tracker + i : moves.tracker[i];
}

// Returns the tracker of move i; null if the index is out of range or the tracker is not defined.
inline Tracker* TrackerOf(const MoveColumns& moves, size_t i) {
  const size_t index = TrackerIndexOf(moves, i);
  if (index >= moves.trackers.size()) return nullptr;
  Tracker& tracker = moves.trackers[index];
  return tracker.is_defined() ? &tracker : nullptr;
}

}  // namespace carom::internal
