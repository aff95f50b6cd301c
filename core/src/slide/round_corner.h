// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does an end of a round shape stay away from a vertex, and when does it come to the vertex?
//
// Let w be the vector from the vertex to the end, which is linear in time. No obstacle is nearer to
// the shape than the vertex is to the end, as long as the obstacle lies behind the line through the
// vertex with the normal w, and the rest of the axis lies beyond the parallel line through the end.
// Both conditions are on products that are linear in time, so two times decide.
#pragma once

#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "slide/round_face.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// An end of an axis and a vertex, with the interface of `RoundFace`. Keeps a reference to the move.
class RoundCorner {
 public:
  // Considers the move up to the fraction `until`, at which another obstacle certainly ends it.
  RoundCorner(Vec2 vertex, uint32_t end, const RoundMove& move, double until = 1);

  Vec2 vertex() const { return vertex_; }
  const PathSide& side_of_path() const { return path_; }
  // Returns the entry, or nothing if it is not certain, or not certainly before 1.
  const std::optional<FaceEntry>& entry() const { return entry_; }
  // Returns the entry rounded up, or nothing if that is not certain. Sets `normal`, which must be
  // empty before, to the normal at the entry if its rounding is certain by 2^-94 and more.
  std::optional<double> RoundedUpEntry(std::optional<Vec2>& normal) const;
  // Returns whether v points towards the vertex at the time that `RoundedUpEntry` found last, or
  // nothing if that is not certain.
  std::optional<bool> IsEnteredBy(Vec2 v) const;
  EdgeMeeting meeting() const { return EdgeMeeting::OfVertices(vertex_, p_); }

  Side SideOfMove(Vec2 d, const Segment& end_axis) const;
  // Returns whether an edge certainly is behind the vertex up to `until`, or up to the entry if
  // that is earlier.
  bool IsBehind(const Segment& edge) const { return IsBehind(edge.a) && IsBehind(edge.b); }

 private:
  bool IsBehind(Vec2 q) const { return q == vertex_ || IsBelow({vertex_, q}); }
  // Returns whether (v.b - v.a) . w certainly is below 0 at the start and at the end of the
  // considered move.
  bool IsBelow(const Segment& v) const;
  // Returns whether p + d is farther from the vertex than the radius (kBeyond), as far (kOn), or
  // nearer.
  Side SideOf(Vec2 p, Vec2 d) const;
  // Returns kBeyond if the end stays at least as far from the vertex as the radius, on the path by
  // d.
  Side SideOfPath(Vec2 d) const;
  void FindEntry(double until);

  const RoundMove* move_;
  Vec2 vertex_;
  uint32_t end_;
  Vec2 p_;     // the end of the axis, at the start
  Vec2 w_;     // from the vertex to `p_`, rounded
  Vec2 last_;  // w at the end of the considered move
  PathSide path_;
  std::optional<FaceEntry> entry_;
  mutable BoundedPair time_;
};

}  // namespace carom::internal
