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

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

enum class Side : uint8_t { kUnknown, kBeyond, kOn, kWithin };

// Times that are farther apart are in order when they are rounded.
inline constexpr double kApart = 0x1p-46;

// A number that is certain, rounded up.
std::optional<double> RoundedUp(const BoundedPair& t);

// What becomes of an axis on its path by d before something.
struct PathSide {
  bool is_in_front = false;  // at the start no nearer than the radius, for certain
  bool is_strict = false;    // and at all times before the end of the path farther, if it is apart
  bool is_apart = false;     // and at all times no nearer
};

// When an axis comes as near as the radius.
struct FaceEntry {
  double low = 0, high = 0;
  bool is_of_both = false;     // ends of the axis, which is parallel to the edge, exactly
  uint32_t end = 0;            // that comes first, which is certain; of both, or a vertex, 0
  std::optional<Vec2> vertex;  // an end of the edge that comes to the axis then, too
};

// An axis with a radius above 0 on its path by d. `ulp` is that of the largest coordinate there.
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
  // Through an edge, respectively through a vertex and parallel to the axis, which is not a point.
  RoundFace(const Segment& edge, const RoundMove& move) : RoundFace(edge.a, edge, move, false) {}
  RoundFace(Vec2 vertex, const RoundMove& move) : RoundFace(vertex, move.axis, move, true) {}

  bool is_of_vertex() const { return is_of_vertex_; }
  // Runs as the line does, with the begin of the axis on the left: the edge, or the axis.
  const Segment& along() const { return along_; }
  // Sets what becomes of the path, and returns whether the shape is in front.
  bool FindPath(PathSide& path) const;
  // Sets the entry of a shape that is in front. Returns false, and `entry` is not to be used, where
  // it is not certain, or not certainly before 1, or may be beyond the ends of the edge.
  bool FindEntry(FaceEntry& entry) const;
  // That time of an end, rounded up; nothing where a rounding is not certain.
  std::optional<double> RoundedUpEntry(uint32_t end) const;
  // How an end meets the edge, or the axis the vertex.
  EdgeMeeting MeetingOf(uint32_t end) const {
    if (is_of_vertex_) return EdgeMeeting::OnMovingEdge(on_, {along_.b, along_.a});
    return EdgeMeeting::OnFixedEdge(along_, move_->end(end));
  }

  // Whether the shape stays beyond the line on a path by d, next to a part of its own, and so does
  // one that is placed next to the end of that. kWithin: one of them comes nearer to the edge or
  // the vertex.
  Side SideOfMove(Vec2 d, const Segment& there) const;
  // Whether both ends of an edge lie on the line or to the right of it. Exact.
  bool IsBehind(const Segment& edge) const { return SideOf(edge.a) <= 0 && SideOf(edge.b) <= 0; }
  // The sign of where a point is: 1 on the left. Exact.
  int SideOf(Vec2 q) const;
  // Whether a vector points to the right of the line, towards what is behind it. Exact.
  bool IsEnteredBy(Vec2 v) const;

 private:
  RoundFace(Vec2 on, const Segment& along, const RoundMove& move, bool is_of_vertex);

  bool is_upright() const { return along_.a.x == along_.b.x; }
  bool is_level() const { return along_.a.y == along_.b.y; }
  std::optional<double> RoundedUpParallelEntry(const EdgeMeeting& meeting) const;
  BoundedPair Reach() const;
  // Where p + d is: beyond the line moved to the left by the radius, on that, or within it.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Where an end of the axis, displaced by d, surely is along the edge, or the vertex along the
  // axis: beside it, or beyond its begin or end. By `slack` in each coordinate.
  enum class Place : uint8_t { kUnknown, kBeside, kBeforeBegin, kBehindEnd };
  Place PlaceOf(uint32_t end, Vec2 d, double slack) const;

  const RoundMove* move_;
  Vec2 on_;  // the line
  Segment along_;
  bool is_of_vertex_;
  Vec2 s_;        // along the line, rounded
  double reach_;  // the radius times the length of that, within 8u of itself
  // Of each end at the start: how far it is beyond the line moved by the radius, times the length,
  // and by how much that errs; and likewise how much nearer it is at the end of the path.
  std::array<double, 2> gap_, error_;
  double rate_, rate_error_;
  mutable std::optional<BoundedPair> exact_reach_;  // once it is asked
};

}  // namespace carom::internal
