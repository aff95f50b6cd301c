// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which moves stay in the quiet ball of their tracker, so that its last answer holds?
//
// Most moves of most batches do, and take a comparison of squared distances and a check of the
// rotation: about 9 ns. The others go to the tracker's memory (tracker/tracker_memory.h).
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

// Not thread-safe. What it refers to outlives it.
class QuietPass {
 public:
  // `sweeps` has the paths of the moves, where they are sweeps; `scene_state` is the number of the
  // scene (index/edit_history.h).
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

  // 64 moves, or as many as are left: bit k for move first + k. Of those whose tracker's ball they
  // do not leave, which touch nothing, and which one polygon. The paths of sweeps are not looked
  // at.
  struct Word {
    uint64_t quiet = 0;
    uint64_t clear = 0;
    uint64_t one = 0;
  };
  // Under `counts` the moves in `clear` and `one` are counted as such of their trackers.
  Word Look(size_t first, bool counts) const;

  // Answers moves from `first` on while they are quiet and touch at most one polygon (as sweeps,
  // none), a few hundred at most. Returns the first move that is not answered.
  size_t Run(size_t first, MoveWriter& writer, WorkMeter& meter) const;

  // Whether the last answer of move i's tracker is that of move i. False for numbers that are not
  // accepted: a comparison with NaN is false, and the ball of an accepted position holds none that
  // is not accepted (TrackerMemory::SetLimit).
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
  // `Look` where is_accepted(i) says so of the rotation of move i.
  template <class IsAccepted>
  Word Look(size_t first, bool counts, const IsAccepted& is_accepted) const;

  const MoveColumns& moves_;
  const TrackerSweeps& sweeps_;
  const uint64_t scene_state_;
  const size_t detail_;
  // The columns as pointers: `c_` and `angle_` are null where rotations are not given so. An angle
  // is checked and not turned into a rotation, on which a quiet answer does not depend.
  const double* const x_;
  const double* const y_;
  const double* const c_;
  const double* const s_;
  const double* const angle_;
};

}  // namespace carom::internal
