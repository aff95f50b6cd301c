// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/quiet_pass.h"

#include <algorithm>
#include <span>

namespace carom::internal {

// Copies the members that the loop reads to local variables, since the compiler must assume that a
// store through the trackers changes members.
template <class IsAccepted>
QuietPass::Word QuietPass::Classify(size_t first, bool counts,
                                    const IsAccepted& is_accepted) const {
  constexpr size_t kAhead = 64;  // how many moves ahead trackers are prefetched
  const size_t end = std::min<size_t>(moves_.size(), first + 64);
  const double* const x = x_;
  const double* const y = y_;
  const uint64_t scene_state = scene_state_;
  const size_t detail = detail_;
  const uint32_t* const index = moves_.tracker.empty() ? nullptr : moves_.tracker.data();
  const size_t first_tracker = moves_.first_tracker;
  const size_t last = moves_.size() - 1;
  Tracker* const trackers = moves_.trackers.data();
  const size_t tracker_count = moves_.trackers.size();
  Word word;
  for (size_t i = first; i < end; ++i) {
    const size_t ahead = std::min(i + kAhead, last);
    const size_t later = index == nullptr ? first_tracker + ahead : index[ahead];
    if (later < tracker_count) __builtin_prefetch(trackers + later);
    const size_t at = index == nullptr ? first_tracker + i : index[i];
    if (at >= tracker_count) continue;
    QuietBall& ball = TrackerAccess::ball(trackers[at]);
    const double dx = x[i] - ball.center.x;
    const double dy = y[i] - ball.center.y;
    const uint32_t touched = ball.touched_count;
    const bool is_near = dx * dx + dy * dy < ball.radius2[detail];
    const uint64_t quiet =
        uint64_t{is_near} & uint64_t{ball.scene_state == scene_state} & uint64_t{is_accepted(i)};
    const uint64_t clear = quiet & uint64_t{touched == 0};
    const uint64_t one = quiet & uint64_t{touched == 1};
    ball.moves += counts ? static_cast<uint32_t>(clear | one) : 0;
    word.quiet |= quiet << (i - first);
    word.clear |= clear << (i - first);
    word.one |= one << (i - first);
  }
  return word;
}

// Selects the test of the rotations outside of the loop over the moves, so that the loop does not
// branch on which columns exist. The loop has no branch on the contents of a quiet ball (the disc
// in which the last answer of a tracker holds) either, since a processor cannot predict such a
// branch.
QuietPass::Word QuietPass::Classify(size_t first, bool counts) const {
  const double* const c = c_;
  const double* const s = s_;
  const double* const angle = angle_;
  if (c != nullptr)
    return Classify(first, counts, [=](size_t i) { return IsRotation(c[i], s[i]); });
  if (angle == nullptr) return Classify(first, counts, [](size_t) { return true; });
  return Classify(first, counts, [=](size_t i) { return std::abs(angle[i]) <= kMaxAngle; });
}

// Tests each move as `IsQuiet` does, and answers the moves up to the first one that is not quiet.
// The loop reads copies of all members in local variables, since the compiler must assume that a
// store through the trackers changes members. The pass ends at two kinds of quiet moves, too, which
// the caller answers: a move of a tracker that touches several polygons, since their ids are in the
// memory of the tracker, and a sweep (a move along a path) that ends in contact, since it needs an
// entry in `first_touches`.
size_t QuietPass::Run(size_t first, MoveWriter& writer, WorkMeter& meter) const {
  constexpr size_t kMaxMoves = 256;  // most moves of one call; the caller then checks the meter
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
