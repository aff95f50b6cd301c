// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does an end of a round shape stay away from a vertex, and when does it come to it?
//
// With w from the vertex to that end, which is linear in time, nothing is nearer to the shape than
// the vertex is to the end, as long as it lies behind the line through the vertex with the normal
// w, and the rest of the axis beyond that through the end. Both are products that are linear in
// time, so that two times decide.
#pragma once

#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "slide/round_face.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// The same questions as those of a `RoundFace`. Keeps a reference to the move.
class RoundCorner {
 public:
  // Of the move up to the fraction `until`, where something else surely ends it.
  RoundCorner(Vec2 vertex, uint32_t end, const RoundMove& move, double until = 1);

  Vec2 vertex() const { return vertex_; }
  const PathSide& side_of_path() const { return path_; }
  // Nothing where it is not certain, or not certainly before 1.
  const std::optional<FaceEntry>& entry() const { return entry_; }
  // That time rounded up, and with it, in place of nothing, the normal then, where its rounding is
  // certain by 2^-94 and more.
  std::optional<double> RoundedUpEntry(std::optional<Vec2>& normal) const;
  // Of the time that was found last: whether a vector points towards the vertex; nothing where that
  // is not certain.
  std::optional<bool> IsEnteredBy(Vec2 v) const;
  EdgeMeeting meeting() const { return EdgeMeeting::OfVertices(vertex_, p_); }

  Side SideOfMove(Vec2 d, const Segment& there) const;
  // Whether an edge surely is behind the vertex, up to `until`, or the entry if that is earlier.
  bool IsBehind(const Segment& edge) const { return IsBehind(edge.a) && IsBehind(edge.b); }

 private:
  bool IsBehind(Vec2 q) const { return q == vertex_ || IsBelow({vertex_, q}); }
  // Whether (v.b - v.a) . w is below 0, for certain, at the start and at the end of what is looked
  // at.
  bool IsBelow(const Segment& v) const;
  // Where p + d is: farther from the vertex than the radius, as far, or nearer.
  Side SideOf(Vec2 p, Vec2 d) const;
  // kBeyond: it stays at least as far on the path by d.
  Side SideOfPath(Vec2 d) const;
  void FindEntry(double until);

  const RoundMove* move_;
  Vec2 vertex_;
  uint32_t end_;
  Vec2 p_;     // that end
  Vec2 w_;     // at the start, rounded
  Vec2 last_;  // at the end of what is looked at
  PathSide path_;
  std::optional<FaceEntry> entry_;
  mutable BoundedPair time_;
};

}  // namespace carom::internal
