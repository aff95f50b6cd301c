// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does an end of a moving capsule's axis stay away from a vertex, and when does it come as near as
// the radius?
//
// Let w be the vector from the vertex to the end of the axis, which is linear in time. Suppose that
// an obstacle lies behind the line through the vertex with the normal w, and that the rest of the
// axis lies beyond the parallel line through the end of the axis. Then the obstacle is no nearer to
// the axis than |w|. Both conditions are signs of dot products with w, which are linear in time, so
// if they hold at two times, they hold between.
#pragma once

#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "slide/round_face.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// A vertex of an obstacle and an end of a moving capsule's axis: tests whether that end stays at
// least the radius away from the vertex on the move, a displacement by t d for t in [0, 1]. The
// entry is when it first comes as near as the radius. Has the interface of `RoundFace`. Keeps a
// reference to the `RoundMove`.
class RoundCorner {
 public:
  // Considers `move` up to the fraction `until`, by which another obstacle certainly ends the move.
  // `end` is the index (0 or 1) of the end of the axis.
  RoundCorner(Vec2 vertex, uint32_t end, const RoundMove& move, double until = 1);

  Vec2 vertex() const { return vertex_; }
  const PathSide& side_of_path() const { return path_; }
  // Returns when the end of the axis comes as near to the vertex as the radius; nothing if that
  // time is not certain, or not certainly before the end of the path.
  const std::optional<FaceEntry>& entry() const { return entry_; }
  // Returns the time of the entry rounded up, or nothing if the rounding is not certain. Sets
  // `normal` to the normal at the entry if its rounding is certain even with an additional error of
  // 2^-94; else leaves `normal` unchanged. `normal` must be empty before the call.
  std::optional<double> RoundedUpEntry(std::optional<Vec2>& normal) const;
  // Returns whether v points towards the vertex at the time that the last call of `RoundedUpEntry`
  // found, or nothing if that is not certain.
  std::optional<bool> IsEnteredBy(Vec2 v) const;
  EdgeMeeting meeting() const { return EdgeMeeting::OfVertices(vertex_, p_); }

  // Returns kBeyond if the end of the axis stays at least the radius away from the vertex, on a
  // path by d, and also when the axis is placed at `end_axis`. The path by d and `end_axis` must
  // each be within 64 ulp of this object's move or of a part of that move.
  Side SideOfMove(Vec2 d, const Segment& end_axis) const;
  // Returns whether an edge certainly lies behind the vertex, seen from the end of the axis, during
  // the considered move: up to `until`, or up to the entry if that is earlier.
  bool IsBehind(const Segment& edge) const { return IsBehind(edge.a) && IsBehind(edge.b); }

 private:
  bool IsBehind(Vec2 q) const { return q == vertex_ || IsBelow({vertex_, q}); }
  // Returns whether the dot product of the vector v and w is certainly below 0 at the start and at
  // the end of the considered move. w runs from the vertex to the end of the axis.
  bool IsBelow(const Segment& v) const;
  // Returns whether p + d is farther from the vertex than the radius (kBeyond), as far (kOn) or
  // nearer (kWithin); kUnknown if uncertain.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Returns kBeyond if the end of the axis stays at least the radius away from the vertex on a path
  // by d.
  Side SideOfPath(Vec2 d) const;
  void FindEntry(double until);

  const RoundMove* move_;
  Vec2 vertex_;
  uint32_t end_;
  Vec2 p_;  // position of the end of the axis at the start of the move
  // the vector from the vertex to `p_`, rounded
  Vec2 w_;
  // the vector from the vertex to the end of the axis when the considered move ends
  Vec2 last_;
  PathSide path_;
  std::optional<FaceEntry> entry_;
  mutable BoundedPair time_;
};

}  // namespace carom::internal
