// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a line pass two edges? Inline, for whoever is compiled for several instruction sets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cast/plain_passage.h"
#include "cast/reported_edge.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

namespace carom::internal {

static_assert(kNoEdge == 0xffffffff);  // all bits, which FindTwoCrossings sets

struct LaneIntervals {
  Lanes low;
  Lanes high;
  bool are_certain;  // whether they mean anything
};

// `CrossingOf` for two edges at once.
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

// The passage of a ring whose vertices are all on certain sides of the line, by the two edges
// `crossing` of it, the bits of those that pass from one side to the other.
//
// A ring that crosses the line's unbounded extension twice, at t_1 < t_2, winds once about the
// points between, in either direction, and not about others: those are filled under both rules.
inline PlainVerdict FindTwoCrossings(const Line& line, std::span<const Vec2> ring,
                                     uint64_t crossing, PlainPassage& passage) {
  const size_t last = ring.size() - 1;
  const uint64_t rest = crossing & (crossing - 1);
  // What follows is hard to predict, hence free of branches.
  const auto one = static_cast<uint32_t>(std::countr_zero(crossing));
  const auto other = static_cast<uint32_t>(std::countr_zero(rest));
  const size_t after_other = (other + size_t{1}) * static_cast<size_t>(other != last);
  const LaneIntervals at =
      CrossingsOf(line, ring[one], ring[one + 1], ring[other], ring[after_other]);
  // Bit k of each of these masks is about crossing k of the two.
  // Bit 1: the first crossing comes before the second; bit 0: after it.
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
    return PlainVerdict::kUncertain;
  }
  return static_cast<PlainVerdict>((before != 3) & (after != 3));
}

}  // namespace carom::internal
