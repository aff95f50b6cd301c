// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/quiet_pass.h"

#include <algorithm>
#include <span>

namespace carom::internal {

// `IsQuiet` in a loop whose invariants are local: a store through the trackers could otherwise
// change them, as far as the compiler knows. Two cases are left to the caller: a tracker that
// touches several polygons, whose ids are in its memory, and a sweep that ends in contact, which
// needs an entry in `first_touches`.
size_t QuietPass::Run(size_t first, MoveWriter& writer, WorkMeter& meter) const {
  constexpr size_t kMaxMoves = 256;  // until the caller asks the meter again
  const size_t end = std::min(moves_.size(), first + kMaxMoves);
  const double* const x = x_;
  const double* const y = y_;
  const double* const c = c_;
  const double* const s = s_;
  const double* const angle = angle_;
  const uint64_t scene_state = scene_state_;
  const size_t detail = detail_;
  const uint32_t* const index = moves_.tracker.empty() ? nullptr : moves_.tracker.data();
  const std::span<Tracker> trackers = moves_.trackers;
  const size_t first_tracker = moves_.first_tracker;
  uint64_t* const clear = writer.clear_words();
  const bool sweeps = moves_.sweeps();
  const uint32_t max_touched = sweeps ? 0 : 1;
  size_t i = first;
  uint64_t rows = 0;
  for (; i < end; ++i) {
    const size_t k = index == nullptr ? first_tracker + i : index[i];
    if (k >= trackers.size()) break;
    QuietBall& ball = TrackerAccess::ball(trackers[k]);
    const double dx = x[i] - ball.center.x;
    const double dy = y[i] - ball.center.y;
    if (!(dx * dx + dy * dy < ball.radius2[detail])) break;
    if (ball.scene_state != scene_state || ball.touched_count > max_touched) break;
    if (sweeps && !sweeps_.IsClear(i)) break;
    if (c != nullptr ? !IsRotation(c[i], s[i])
                     : angle != nullptr && !(std::abs(angle[i]) <= kMaxAngle)) {
      break;
    }
    ++ball.moves;
    if (ball.touched_count == 0) {
      clear[i / 64] |= uint64_t{1} << (i % 64);
    } else {
      writer.WriteOne(ball.touched_id);
      ++rows;
    }
  }
  meter.SpendRows(rows);
  writer.tiers().quiet += i - first;
  return i;
}

}  // namespace carom::internal
