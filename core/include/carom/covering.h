// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the triangles that cover a polygon know about a point?
//
// The triangle covering of Jimenez, Segura and Feito ("Polygon-Polygon Collision Detection in 2D"):
// one triangle (origin, v, w) for each edge v->w. `LocateByCovering` tests inclusion by signs of
// barycentric coordinates alone, for any polygon and any origin (their Algorithm 1, made sound).
// `EdgeSigns` keeps the signs of a point against the lines of all edges: equal signs without a 0
// prove that it stayed in one cell (their Algorithm 2, made sound); `PointTracker` follows a point
// by them. Scenes locate faster (carom/locate.h), and carom/tracker.h follows any shape faster:
// these are for one polygon of few edges, and for whoever wants the signs.
//
//   const Location at = LocateByCovering(polygon, {0, 0}, {1, 4});  // kBoundary
//   PointTracker tracker(polygon);
//   tracker.MoveTo({1, 1});
//   const Location moved = tracker.MoveTo({2.5, 1.5});  // kInside
//   // tracker.kept_count() == 1: no sign changed
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: none, verdicts are
// exact. Cost: O(n) a point or a move, n the edges of the polygon. Thread-safe but for
// `PointTracker` and `EdgeSigns::Set`. Cheaper: carom/locate.h; richer: carom/tracker.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "carom/geometry.h"
#include "carom/locate.h"
#include "carom/polygon.h"

namespace carom {

// Signs of the barycentric coordinates of a point in the triangle (origin, v, w), whichever way the
// triangle turns: +1 on the inner side of the line opposite to the corner that is named, 0 on it,
// -1 beyond. `triangle` is the sign of the triangle's area, +1 counter-clockwise; if it is 0, there
// are no coordinates and the others are 0. Exact.
struct BarycentricSigns {
  int triangle = 0;
  int origin = 0;  // of the coordinate that belongs to the origin: the side of the edge v->w
  int v = 0;
  int w = 0;
};
BarycentricSigns SignsIn(Vec2 origin, const Segment& edge, Vec2 p);

// Where `p` is in `polygon`, by the covering with that origin: the sum of the signed triangles that
// hold the point, half where it is on a side at the origin, is its winding number. Exact for any
// origin (`p` itself too), any rings, fill rule and solidity; equal to what a scene answers. Both
// points are accepted coordinates. O(n).
Location LocateByCovering(const Polygon& polygon, Vec2 origin, Vec2 p);

// The side of each edge's line on which a point lies: two bits an edge.
class EdgeSigns {
 public:
  // `p` is an accepted coordinate. O(n).
  EdgeSigns(const Polygon& polygon, Vec2 p) { Set(polygon, p); }
  // As if made anew, in the same memory.
  void Set(const Polygon& polygon, Vec2 point);

  // Theorem. If this and `other` are of the same polygon, are equal, and no sign in them is 0, then
  // both points lie in the same cell of the arrangement of the edges' lines. Cells are convex, so
  // the straight path between the points meets no edge: every answer about inclusion is the same
  // along it. (An edge of length zero has no line; it is an end of another edge, which sees to it,
  // unless its ring is but a point: then `has_zero` is true.) Converse false: a path that crosses a
  // line need not cross an edge.
  bool ProvesClearPathTo(const EdgeSigns& other) const;

  // Whether some sign is 0: the point lies on the line of an edge, or a ring is a point.
  bool has_zero() const { return has_zero_; }
  // 64-bit words; bit i % 64 of word i / 64 is set if the point is strictly left of edge i.
  // An edge of length zero has bit 0.
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
  size_t edge_count_ = 0;
  bool has_zero_ = false;
};

// Where a point is that moves about one polygon, by its signs. Where no sign changes, by the
// theorem above, the answer is the last one; else, by the crossings of the edges whose sign did:
//
// Let no sign be 0 at p nor at q. The winding number at q is that at p, plus 1 for
// each edge v->w that the path p->q crosses to its left side, less 1 for each to its right side.
// Only an edge whose sign changed is crossed; it is if v and w are on different sides of the line
// p->q, where the line itself counts as its left side (so a vertex on the path counts for one of
// its two edges, or for both or none, as if the path passed it on the right).
//
// Not thread-safe.
class PointTracker {
 public:
  explicit PointTracker(Polygon polygon) : polygon_(std::move(polygon)) {}

  // Where `point` is, an accepted coordinate: what `LocateByCovering` answers. O(n) for the signs,
  // and O(n) again at the first move and where a sign is 0.
  Location MoveTo(Vec2 point);

  // How many moves no sign changed in.
  uint64_t kept_count() const { return kept_count_; }

 private:
  Polygon polygon_;
  std::optional<EdgeSigns> signs_;  // at `at_`; nothing where one is 0
  std::optional<EdgeSigns> next_;   // memory for the next ones
  Vec2 at_;
  int64_t winding_ = 0;
  uint64_t kept_count_ = 0;
};

}  // namespace carom
