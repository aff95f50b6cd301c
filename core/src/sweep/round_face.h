// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a round shape stay beyond the line through an edge, and when does it come to the edge?
//
// An axis that stays on one side of a line, with both ends no nearer to it than the radius, is not
// closer than that to anything that lies on the line or behind it. Both ends move on straight
// paths, so two places of each decide. That is decided in doubles, in pairs of doubles where they
// do not suffice, and of edges that are parallel to an axis of coordinates exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

enum class Side : uint8_t { kUnknown, kBeyond, kOn, kWithin };

// An edge beside an axis with a radius above 0.
class RoundFace {
 public:
  // Turned so that the begin of the axis is on its left.
  RoundFace(const Segment& edge, const Segment& axis, double radius);

  const Segment& edge() const { return edge_; }
  // Where p + d is: beyond the line moved to the left by the radius, on that, or within it.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Whether p surely is beside the edge, not beyond its ends, by `slack` in each coordinate.
  bool IsBeside(Vec2 p, double slack) const;
  // Whether both ends of the edge lie on the line or to the right of it. Exact.
  bool IsBehind(const Segment& other) const;
  // Whether a vector points to the right of the edge, towards what is behind it. Exact.
  bool IsEnteredBy(Vec2 v) const;

  // When ends of the axis come to the moved line, on their path by d.
  struct Entry {
    double low = 0, high = 0;
    bool is_of_both = false;  // the axis is parallel to the edge, exactly
    uint32_t end = 0;         // that comes first, which is certain; of both 0
  };
  // Nothing where that is not certain, or not certainly before 1. For ends that are beyond the line
  // at the start.
  std::optional<Entry> EntryOf(Vec2 d) const;
  // That time of an end, rounded up; nothing where a rounding is not certain.
  std::optional<double> RoundedUpEntry(uint32_t end, Vec2 d) const;
  // How an end meets the edge.
  EdgeMeeting MeetingOf(uint32_t end) const {
    return EdgeMeeting::OnFixedEdge(edge_, end == 0 ? axis_.a : axis_.b);
  }

 private:
  bool is_upright() const { return edge_.a.x == edge_.b.x; }
  bool is_level() const { return edge_.a.y == edge_.b.y; }
  BoundedPair Reach() const;

  Segment edge_;
  Segment axis_;
  double radius_;
  Vec2 s_;        // along the edge, rounded
  double reach_;  // the radius times the length of the edge, within 8u of itself
  mutable std::optional<BoundedPair> exact_reach_;  // once it is asked
};

}  // namespace carom::internal
