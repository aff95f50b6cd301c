// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a round shape stay beyond a line through an edge, or through a vertex along the axis, and
// when does it come to that edge or vertex?
//
// An axis that stays on one side of a line, with both ends no nearer to the line than the radius,
// is not closer than the radius to anything on the line or behind it. Both ends move on straight
// paths, so two places of each end decide. Doubles decide first, then pairs of doubles; edges that
// are parallel to a coordinate axis are decided exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

enum class Side : uint8_t { kUnknown, kBeyond, kOn, kWithin };

// Times that differ by more than this keep their order when they are rounded.
inline constexpr double kFaceTieMargin = 0x1p-46;

// Returns the number rounded up, or nothing if its error leaves that uncertain.
std::optional<double> RoundedUp(const BoundedPair& t);

// How an axis on its path by d lies to a face or corner.
struct PathSide {
  bool is_in_front = false;  // certainly no nearer than the radius at the start
  bool is_strict = false;    // if apart: farther than the radius before the end of the path
  bool is_apart = false;     // never nearer than the radius on the path
};

// When, and with which end, an axis comes as near as the radius.
struct FaceEntry {
  double low = 0, high = 0;
  bool is_of_both = false;     // both ends enter at once: the axis is exactly parallel to the edge
  uint32_t end = 0;            // the end that certainly enters first; 0 for both ends or a vertex
  std::optional<Vec2> vertex;  // an end of the edge to which the axis comes at that time, too
};

// The path by d of an axis with a radius above 0. `ulp` is an ulp of the largest coordinate on the
// path.
struct RoundMove {
  Segment axis;
  double radius = 0;
  Vec2 d;
  double ulp = 0;

  Vec2 end(uint32_t i) const { return i == 0 ? axis.a : axis.b; }
};

// A line beside a shape. Keeps a reference to its move.
class RoundFace {
 public:
  // Takes the line through an edge, or through a vertex and parallel to the axis, which must not be
  // a point.
  RoundFace(const Segment& edge, const RoundMove& move) : RoundFace(edge.a, edge, move, false) {}
  RoundFace(Vec2 vertex, const RoundMove& move) : RoundFace(vertex, move.axis, move, true) {}

  bool is_of_vertex() const { return is_of_vertex_; }
  // Returns the edge, or the axis, directed so that the begin of the axis is on its left.
  const Segment& along() const { return along_; }
  // Sets `path` and returns whether the shape is in front of the line at the start.
  bool FindPath(PathSide& path) const;
  // Sets the entry of a shape that is in front. Returns false, with `entry` meaningless, if the
  // entry is not certain, or not certainly before 1, or may be beyond the ends of the edge.
  bool FindEntry(FaceEntry& entry) const;
  // Returns the time of the entry of an end, rounded up, or nothing if the rounding is not certain.
  std::optional<double> RoundedUpEntry(uint32_t end) const;
  // Returns the meeting of an end with the edge, or of the axis with the vertex.
  EdgeMeeting MeetingOf(uint32_t end) const {
    if (is_of_vertex_) return EdgeMeeting::OnMovingEdge(line_point_, {along_.b, along_.a});
    return EdgeMeeting::OnFixedEdge(along_, move_->end(end));
  }

  // Returns kBeyond if the shape stays beyond the line on a path by d, close to a part of its own
  // path, and if the shape placed close to the end of that path is beyond the line, too. Returns
  // kWithin if one of them comes nearer to the edge or the vertex than the radius.
  Side SideOfMove(Vec2 d, const Segment& end_axis) const;
  // Returns whether both ends of an edge lie on the line or to the right of it. Exact.
  bool IsBehind(const Segment& edge) const { return SideOf(edge.a) <= 0 && SideOf(edge.b) <= 0; }
  // Returns the side of the line on which a point lies: 1 left, 0 on the line, -1 right. Exact.
  int SideOf(Vec2 q) const;
  // Returns whether v points to the right of the line, the side of obstacles behind the line.
  // Exact.
  bool IsEnteredBy(Vec2 v) const;

 private:
  RoundFace(Vec2 on, const Segment& along, const RoundMove& move, bool is_of_vertex);

  bool is_upright() const { return along_.a.x == along_.b.x; }
  bool is_level() const { return along_.a.y == along_.b.y; }
  std::optional<double> RoundedUpParallelEntry(const EdgeMeeting& meeting) const;
  BoundedPair Reach() const;
  // Returns where p + d is to the line moved left by the radius: beyond it, on it, or within it.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Where an end of the axis, displaced by d, certainly lies along the edge, or the vertex along
  // the axis: beside it, before its begin, or behind its end, by at least `slack` in each
  // coordinate.
  enum class Place : uint8_t { kUnknown, kBeside, kBeforeBegin, kBehindEnd };
  Place PlaceOf(uint32_t end, Vec2 d, double slack) const;

  const RoundMove* move_;
  Vec2 line_point_;  // a point of the line
  Segment along_;
  bool is_of_vertex_;
  Vec2 s_;        // the vector of `along_`, rounded
  double reach_;  // the radius times |s|, within 8u of itself
  // `gap_` is how far each end is beyond the moved line at the start, times |s|, and errs by
  // `error_`. `rate_` is by how much `gap_` shrinks up to the end of the path, and errs by
  // `rate_error_`.
  std::array<double, 2> gap_, error_;
  double rate_, rate_error_;
  mutable std::optional<BoundedPair> exact_reach_;  // computed on demand
};

}  // namespace carom::internal
