// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a round shape stay beyond a line through an edge, or through a vertex along the axis, and
// when does it come to that edge or vertex?
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

// A line beside an axis with a radius above 0.
class RoundFace {
 public:
  // Through an edge, respectively through a vertex and parallel to the axis, which is not a point.
  RoundFace(const Segment& edge, const Segment& axis, double radius)
      : RoundFace(edge.a, edge, axis, radius) {}
  RoundFace(Vec2 vertex, const Segment& axis, double radius)
      : RoundFace(vertex, axis, axis, radius) {
    is_of_vertex_ = true;
  }

  bool is_of_vertex() const { return is_of_vertex_; }
  // Runs as the line does, with the begin of the axis on the left: the edge, or the axis.
  const Segment& along() const { return along_; }
  // Where p + d is: beyond the line moved to the left by the radius, on that, or within it.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Whether an end of the axis, displaced by d, surely is beside the edge, not beyond its ends; or
  // the vertex beside the axis. By `slack` in each coordinate.
  bool IsBeside(uint32_t end, Vec2 d, double slack) const;
  // Whether both ends of an edge lie on the line or to the right of it. Exact.
  bool IsBehind(const Segment& edge) const { return SideOf(edge.a) <= 0 && SideOf(edge.b) <= 0; }
  // The sign of where a point is: 1 on the left. Exact.
  int SideOf(Vec2 q) const;
  // Whether a vector points to the right of the line, towards what is behind it. Exact.
  bool IsEnteredBy(Vec2 v) const;

  // When ends of the axis come to the moved line, on their path by d.
  struct Entry {
    double low = 0, high = 0;
    bool is_of_both = false;  // the axis is parallel to the edge, exactly
    uint32_t end = 0;         // that comes first, which is certain; of both, or a vertex, 0
  };
  // Nothing where that is not certain, or not certainly before 1. For ends that are beyond the line
  // at the start.
  std::optional<Entry> EntryOf(Vec2 d) const;
  // That time of an end, rounded up; nothing where a rounding is not certain.
  std::optional<double> RoundedUpEntry(uint32_t end, Vec2 d) const;
  // How an end meets the edge, or the axis the vertex.
  EdgeMeeting MeetingOf(uint32_t end) const {
    if (is_of_vertex_) return EdgeMeeting::OnMovingEdge(on_, {along_.b, along_.a});
    return EdgeMeeting::OnFixedEdge(along_, EndOf(end));
  }

 private:
  RoundFace(Vec2 on, const Segment& along, const Segment& axis, double radius);

  bool is_upright() const { return along_.a.x == along_.b.x; }
  bool is_level() const { return along_.a.y == along_.b.y; }
  Vec2 EndOf(uint32_t end) const { return end == 0 ? axis_.a : axis_.b; }
  BoundedPair Reach() const;

  Vec2 on_;  // the line
  Segment along_;
  Segment axis_;
  double radius_;
  Vec2 s_;        // along the line, rounded
  double reach_;  // the radius times the length of that, within 8u of itself
  bool is_of_vertex_ = false;
  mutable std::optional<BoundedPair> exact_reach_;  // once it is asked
};

}  // namespace carom::internal
