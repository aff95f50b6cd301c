// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a line cross two edges? The functions are inline, so that files which Highway compiles
// once for each instruction set get their own copy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cast/fast_passage.h"
#include "cast/reported_edge.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

namespace carom::internal {

static_assert(kNoEdge == 0xffffffff);  // FindTwoCrossings sets all bits for an absent edge

// Intervals [low, high] of the parameters t of a line, one in each of two lanes: for the crossings
// of the line with two edges.
struct LaneIntervals {
  Lanes low;
  Lanes high;
  bool are_certain;  // whether both intervals are valid: no edge may be parallel to the line
};

// Returns, for two edges at once, intervals that contain the parameters t at which the line crosses
// the edges, as `CrossingOf` (shape/fraction.h) derives them. The edges run from `one` to
// `one_end`, and from `other` to `other_end`.
inline LaneIntervals CrossingsOf(const Line& line, const Vec2& one, const Vec2& one_end,
                                 const Vec2& other, const Vec2& other_end) {
  const Lanes a = ToLanes(one);
  const Lanes b = ToLanes(other);
  const Lanes to_a = a - ToLanes(line.origin);
  const Lanes to_b = b - ToLanes(line.origin);
  const Lanes along_a = ToLanes(one_end) - a;
  const Lanes along_b = ToLanes(other_end) - b;
  const Lanes e_x = Lows(along_a, along_b);
  const Lanes e_y = Highs(along_a, along_b);
  const RoundedCrossLanes n(Lows(to_a, to_b) * e_y, Highs(to_a, to_b) * e_x);
  const RoundedCrossLanes d(line.dx.high * e_y, line.dy.high * e_x);
  const Lanes d_error = d.error();
  const Lanes size = Abs(d.value);
  const Lanes t = n.value / d.value;
  const Lanes bound = (n.error() + Abs(t) * d_error) * (1 / (size - d_error));
  const Lanes error = bound * (1 + 8 * kFilterUnit) + 2 * kFilterUnit * Abs(t);
  return {t - error, t + error, SignBits(size > 2 * d_error) == 3};
}

// Finds the passage of a line (its interval inside a ring). All vertices of the ring must be
// certainly left or right of the line. `crossing` has the bits of exactly two edges: the edges with
// ends on different sides of the line.
//
// A ring that crosses the line's unbounded extension twice, at t_1 < t_2, has winding number 1 or
// -1 about the points of the line between t_1 and t_2, and 0 about other points of the line: so the
// points between t_1 and t_2 are filled under both fill rules.
inline FastVerdict FindTwoCrossings(const Line& line, std::span<const Vec2> ring, uint64_t crossing,
                                    FastPassage& passage) {
  const size_t last = ring.size() - 1;
  const uint64_t rest = crossing & (crossing - 1);
  // The code below has no branches, since the processor would often mispredict them.
  const auto one = static_cast<uint32_t>(std::countr_zero(crossing));
  const auto other = static_cast<uint32_t>(std::countr_zero(rest));
  const size_t after_other = (other + size_t{1}) * static_cast<size_t>(other != last);
  const LaneIntervals at =
      CrossingsOf(line, ring[one], ring[one + 1], ring[other], ring[after_other]);
  // Bit k of `before`, `after` and `inside` belongs to the crossing with edge `one` (k = 0) or
  // `other` (k = 1): the crossing is certainly before t_min, after t_max, or between t_min and
  // t_max. Bit 1 of `order`: crossing 0 comes certainly before crossing 1; bit 0: crossing 0 comes
  // certainly after crossing 1.
  const uint32_t order = SignBits(at.low > Swapped(at.high));
  const uint32_t before = SignBits(at.high < line.t_min);
  const uint32_t after = SignBits(at.low > line.t_max);
  const uint32_t inside = SignBits(at.low > line.t_min) & SignBits(at.high < line.t_max);
  const uint32_t is_swapped = order & 1;
  const uint32_t swap = (one ^ other) & (0 - is_swapped);
  const uint32_t from_start = before >> is_swapped & 1;
  const uint32_t to_end = after >> (1 - is_swapped) & 1;
  passage.entry = (one ^ swap) | (0 - from_start);
  passage.exit = (other ^ swap) | (0 - to_end);
  passage.begin = {std::min(at.low[0], at.low[1]), std::min(at.high[0], at.high[1])};
  passage.end = {std::max(at.low[0], at.low[1]), std::max(at.high[0], at.high[1])};
  if (!(at.are_certain & (order != 0) & ((before | after | inside) == 3))) {
    return FastVerdict::kUncertain;
  }
  return static_cast<FastVerdict>((before != 3) & (after != 3));
}

}  // namespace carom::internal
