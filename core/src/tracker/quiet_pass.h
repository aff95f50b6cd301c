// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which moves stay in the quiet ball of their tracker, so that the tracker's last answer holds?
//
// Most moves of most batches stay in the ball, and take a comparison of squared distances and a
// check of the rotation: about 9 ns. All other moves go to the tracker's memory
// (tracker/tracker_memory.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/sincos.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"
#include "tracker/move_writer.h"
#include "tracker/tracker_access.h"
#include "tracker/tracker_sweeps.h"

namespace carom::internal {

// Finds and answers the quiet moves of a batch. Not thread-safe. The constructor's arguments
// outlive it.
class QuietPass {
 public:
  // `sweeps` has the paths of the moves if they are sweeps; `scene_state` is the state number of
  // the scene (index/edit_history.h).
  QuietPass(const MoveColumns& moves, const MoveOptions& options, uint64_t scene_state,
            const TrackerSweeps& sweeps)
      : moves_(moves),
        sweeps_(sweeps),
        scene_state_(scene_state),
        detail_(static_cast<size_t>(options.detail)),
        x_(moves.x.data()),
        y_(moves.y.data()),
        c_(moves.c.empty() || !moves.angle.empty() ? nullptr : moves.c.data()),
        s_(moves.s.data()),
        angle_(moves.angle.empty() ? nullptr : moves.angle.data()) {}

  // Bits for 64 moves, or for as many as are left: bit k for move first + k. `quiet`: the move
  // stays in the quiet ball of its tracker. `clear`: it is quiet and touches nothing. `one`: it is
  // quiet and touches one polygon. The paths of sweeps are not considered.
  struct Word {
    uint64_t quiet = 0;
    uint64_t clear = 0;
    uint64_t one = 0;
  };
  // Classifies the moves from `first` on. Under `counts`, adds the moves in `clear` and `one` to
  // the move counts of their trackers.
  Word Classify(size_t first, bool counts) const;

  // Answers moves from `first` on while they are quiet and touch at most one polygon (as sweeps,
  // none), a few hundred at most. Returns the first move that is not answered.
  size_t Run(size_t first, MoveWriter& writer, WorkMeter& meter) const;

  // Returns whether the last answer of move i's tracker is the answer of move i, too. False for
  // numbers that are not accepted: a comparison with NaN is false, and the ball of an accepted
  // position contains only accepted positions (TrackerMemory::SetLimit).
  bool IsQuiet(const Tracker& tracker, size_t i) const {
    const QuietBall& ball = TrackerAccess::ball(tracker);
    const double dx = x_[i] - ball.center.x;
    const double dy = y_[i] - ball.center.y;
    if (!(dx * dx + dy * dy < ball.radius2[detail_]) || ball.scene_state != scene_state_) {
      return false;
    }
    if (moves_.sweeps() && !sweeps_.IsClear(i)) return false;
    if (c_ != nullptr) return IsRotation(c_[i], s_[i]);
    return angle_ == nullptr || std::abs(angle_[i]) <= kMaxAngle;
  }

 private:
  // Implements `Classify`. is_accepted(i) returns whether the rotation of move i is accepted.
  template <class IsAccepted>
  Word Classify(size_t first, bool counts, const IsAccepted& is_accepted) const;

  const MoveColumns& moves_;
  const TrackerSweeps& sweeps_;
  const uint64_t scene_state_;
  const size_t detail_;
  // The columns as pointers. `c_` and `angle_` are null where rotations are given in another form.
  // An angle is checked but not converted to a rotation, since a quiet answer does not depend on
  // it.
  const double* const x_;
  const double* const y_;
  const double* const c_;
  const double* const s_;
  const double* const angle_;
};

}  // namespace carom::internal
