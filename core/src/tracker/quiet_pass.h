// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which moves stay in the quiet ball of their tracker, so that the tracker's last answer holds?
//
// The quiet ball of a tracker is a disc about its last position: while the position is in it, the
// tracker's last answer does not change at any rotation. Most moves of most batches stay in the
// ball, and take a comparison of squared distances and a check of the rotation: about 9 ns. All
// other moves use the memory of their tracker (tracker/tracker_memory.h).
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

// Finds and answers the quiet moves of a batch: moves within the quiet ball of a tracker, the disc
// about its last position in which its last answer does not change. A tracker is a moving shape; a
// sweep is a move that also asks what the shape touches first on its path. Not thread-safe. The
// arguments of the constructor must outlive the `QuietPass`.
class QuietPass {
 public:
  // `sweeps` has the results of the paths of the moves if they are sweeps; `scene_state` is the
  // number that identifies this version of the scene (index/edit_history.h).
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

  // Classes of up to 64 consecutive moves: bit k is for move first + k, where `first` is the
  // argument of `Classify`. `quiet`: the move stays in its tracker's quiet ball, so that the
  // tracker's last answer holds. `clear`: the move is quiet and the shape touches nothing. `one`:
  // the move is quiet and the shape touches one polygon. The paths of sweeps are not considered.
  struct Word {
    uint64_t quiet = 0;
    uint64_t clear = 0;
    uint64_t one = 0;
  };
  // Classifies up to 64 moves, from `first` on. If `counts` is true, increments `QuietBall::moves`,
  // the number of moves since the tracker's influence mask was made, for each move in `clear` or
  // `one`.
  Word Classify(size_t first, bool counts) const;

  // Answers moves from `first` on, at most 256. Stops before the first move that is not quiet, or
  // that is of a tracker that touches more than one polygon (any polygon, if the moves are sweeps).
  // Returns the index of the first move that it does not answer.
  size_t Run(size_t first, MoveWriter& writer, WorkMeter& meter) const;

  // Returns whether move i is quiet: the last answer of its tracker is also the answer of move i.
  // Returns false for coordinates or rotations that are not accepted: a comparison with NaN is
  // false, and the ball contains only accepted positions (TrackerMemory::SetLimit).
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
  // Implements `Classify` for one form in which rotations are given (cosines and sines, angles, or
  // none): is_accepted(i) returns whether the rotation of move i is valid.
  template <class IsAccepted>
  Word Classify(size_t first, bool counts, const IsAccepted& is_accepted) const;

  const MoveColumns& moves_;
  const TrackerSweeps& sweeps_;
  const uint64_t scene_state_;
  const size_t detail_;
  // The columns of `moves_` as pointers. `c_` is null if rotations are not given as cosine and
  // sine, `angle_` is null if they are not given as angles. An angle is only checked, not converted
  // to a rotation, since in the quiet ball (the disc about the last position) the last answer of a
  // tracker holds at any rotation.
  const double* const x_;
  const double* const y_;
  const double* const c_;
  const double* const s_;
  const double* const angle_;
};

}  // namespace carom::internal
