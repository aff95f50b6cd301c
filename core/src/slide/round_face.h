// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a moving capsule stay on one side of a line, and when does it come to the line? The line
// passes through an edge, or through a vertex in the direction of the capsule's axis.
//
// If the axis stays on one side of the line, with both ends at least the radius away from the line,
// it is not nearer than the radius to anything on the line or behind it. Both ends move on straight
// paths, so the start and the end of the path of each end decide. Doubles decide first, then pairs
// of doubles; edges that are parallel to a coordinate axis are decided exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// The side of a line, or of a vertex, on which a point of the capsule's axis lies: kBeyond if
// farther than the radius, kOn if exactly the radius away, kWithin if nearer or on the other side
// of the line, kUnknown if filters cannot decide.
enum class Side : uint8_t { kUnknown, kBeyond, kOn, kWithin };

// Two times (fractions of a path) that differ by more than this margin keep their order when they
// are rounded to doubles.
inline constexpr double kFaceTieMargin = 0x1p-46;

// Returns the value rounded up to a double, or nothing if its error leaves the rounding uncertain.
std::optional<double> RoundedUp(const BoundedPair& t);

// How far a capsule, on its path by d, stays from a line (`RoundFace`) or a vertex (`RoundCorner`).
// "Away" means the distance of the capsule's axis from the line or vertex.
struct PathSide {
  bool is_in_front = false;  // certainly at least the radius away at the start
  // given `is_apart`: farther away than the radius at all times before the end of the path
  bool is_strict = false;
  bool is_apart = false;  // at least the radius away on the whole path
};

// The time at which a capsule's axis comes as near to a line or a vertex as the radius, and the end
// of the axis that comes so near. The time is in [low, high].
struct FaceEntry {
  double low = 0, high = 0;
  // both ends of the axis come so near at once: the axis is exactly parallel to the edge
  bool is_of_both = false;
  // index of the end of the axis that certainly comes so near first; 0 if both ends come so near at
  // once, or for a line through a vertex
  uint32_t end = 0;
  // an end of the edge to which the axis also comes as near as the radius, at exactly that time
  std::optional<Vec2> vertex;
};

// The path of a capsule whose axis is displaced by d; the radius is above 0. `ulp` is an ulp of the
// largest coordinate on the path.
struct RoundMove {
  Segment axis;
  double radius = 0;
  Vec2 d;
  double ulp = 0;

  Vec2 end(uint32_t i) const { return i == 0 ? axis.a : axis.b; }
};

// A line beside a capsule, through an edge or a vertex of an obstacle (the wall), with the capsule
// on its left: tests whether the capsule stays beyond the line on its path, that is, whether its
// axis stays at least the radius away from the line. The entry is when the axis comes as near to
// the line as the radius. Keeps a reference to the move.
class RoundFace {
 public:
  // Constructs the line through an edge, or the line through a vertex parallel to the capsule's
  // axis, which must not be a point.
  RoundFace(const Segment& edge, const RoundMove& move) : RoundFace(edge.a, edge, move, false) {}
  RoundFace(Vec2 vertex, const RoundMove& move) : RoundFace(vertex, move.axis, move, true) {}

  bool is_of_vertex() const { return is_of_vertex_; }
  // Returns the edge, or the axis for a line through a vertex, directed so that the begin of the
  // axis is on its left.
  const Segment& along() const { return along_; }
  // Sets `path` and returns true if the capsule's axis certainly is at least the radius away from
  // the line at the start; else returns false.
  bool FindPath(PathSide& path) const;
  // Sets the entry: when the capsule comes to the line; `FindPath` must have returned true. Returns
  // false, and leaves `entry` meaningless, if the entry is not certain, is not certainly before the
  // end of the path, or may be beyond the ends of the edge.
  bool FindEntry(FaceEntry& entry) const;
  // Returns the time at which end `end` of the axis comes as near to the line as the radius,
  // rounded up; nothing if the rounding is not certain.
  std::optional<double> RoundedUpEntry(uint32_t end) const;
  // Returns the point and the edge that touch at the entry: end `end` of the axis and the wall's
  // edge, or the wall's vertex and the axis. The radius does not count.
  EdgeMeeting MeetingOf(uint32_t end) const {
    if (is_of_vertex_) return EdgeMeeting::OnMovingEdge(line_point_, {along_.b, along_.a});
    return EdgeMeeting::OnFixedEdge(along_, move_->end(end));
  }

  // Returns kBeyond if the capsule stays beyond the line on a path by d, which must be close to a
  // part of the path of `move_`, and also when its axis is placed at `end_axis`, which must be
  // close to the end of the path by d. Returns kWithin if in one of these two cases the axis
  // certainly comes nearer than the radius to the edge or the vertex, else kUnknown.
  Side SideOfMove(Vec2 d, const Segment& end_axis) const;
  // Returns whether both ends of an edge lie on the line or to the right of it, where the capsule
  // is not. Exact.
  bool IsBehind(const Segment& edge) const { return SideOf(edge.a) <= 0 && SideOf(edge.b) <= 0; }
  // Returns the side of the line on which the point q lies: 1 left, 0 on the line, -1 right. Exact.
  int SideOf(Vec2 q) const;
  // Returns whether the direction v points to the right of the line, the side that obstacles behind
  // the line are on. Exact.
  bool IsEnteredBy(Vec2 v) const;

 private:
  RoundFace(Vec2 on, const Segment& along, const RoundMove& move, bool is_of_vertex);

  bool is_upright() const { return along_.a.x == along_.b.x; }
  bool is_level() const { return along_.a.y == along_.b.y; }
  std::optional<double> RoundedUpParallelEntry(const EdgeMeeting& meeting) const;
  BoundedPair Reach() const;
  // Compares the distance of p + d to the line, counted to the left, with the radius: kBeyond if
  // greater, kOn if equal, kWithin if less, kUnknown if uncertain.
  Side SideOf(Vec2 p, Vec2 d) const;
  // The certain place of an end of the axis, displaced by d, along the edge: beside the edge,
  // before the edge's begin, or behind its end. For a line through a vertex, the place of the
  // vertex along the displaced axis. A place other than kUnknown holds even if coordinates change
  // by `slack`.
  enum class Place : uint8_t { kUnknown, kBeside, kBeforeBegin, kBehindEnd };
  Place PlaceOf(uint32_t end, Vec2 d, double slack) const;

  const RoundMove* move_;
  Vec2 line_point_;  // the first point of the edge, or the vertex
  Segment along_;
  bool is_of_vertex_;
  Vec2 s_;  // the vector of `along_`, rounded
  // the radius times |s_|; errs by at most 8 rounding units (2^-53) of itself
  double reach_;
  // For each end of the axis, `gap_` is (distance - radius) |s_|, where the distance is that of the
  // end from the line at the start, counted to the left; `gap_` errs by at most `error_`. `rate_`
  // is the decrease of `gap_` on the whole path, and errs by at most `rate_error_`.
  std::array<double, 2> gap_, error_;
  double rate_, rate_error_;
  // `reach_` in a pair of doubles, computed on demand
  mutable std::optional<BoundedPair> exact_reach_;
};

}  // namespace carom::internal
