// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges may have a gap to a place? The edges nearest to the place hide those behind them.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "lint/lint_map.h"

namespace carom::internal {

// Searches the edges around one place after another.
//
// Let x != v be a point of an edge. The open disc with the diameter vq contains x exactly if (x -
// v) . (q - x) > 0: if q is beyond the line through x that is perpendicular to vx. So x hides all
// points beyond that line, and the edges that leave v hide all points in front of v: an edge with
// the direction u hides the points q with u . (q - v) > 0. The search visits boxes nearest first,
// and skips boxes that are hidden from v. It computes in doubles, and takes a point as hidden only
// if it is hidden by more than all rounding errors. Not thread-safe.
class GapSearch {
 public:
  explicit GapSearch(const LintMap& map, double radius);

  // Replaces `edges` by the edges that may have a gap to the place, and that have a distance above
  // 0 and below 2 * radius from it. Returns false if the meter stopped the work.
  bool Run(uint32_t place, std::vector<uint32_t>& edges, WorkMeter& meter);

  // Returns whether the disc of the gap is certainly not empty, given the place of the last `Run`.
  bool IsHidden(Vec2 q) const { return IsHidden(Box{q, q}); }

 private:
  bool IsHidden(const Box& box) const;
  bool Descend(size_t level, size_t index, WorkMeter& meter);
  void Visit(uint32_t edge);
  void AddDirections(const LintEdge& edge);

  static constexpr size_t kMaxBlockers = 24;

  // A near point of an edge, and its difference from v.
  struct Blocker {
    Vec2 point;
    Vec2 from_v;
  };

  const LintMap& map_;
  const double width_;   // 2 * radius
  const double limit2_;  // width_ squared
  Vec2 v_;
  uint32_t place_ = 0;
  std::vector<Vec2> directions_;  // of the edges that leave v, rounded
  std::vector<Blocker> blockers_;
  std::vector<uint32_t> found_;
};

}  // namespace carom::internal
