// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a triangle covering locate a point in a polygon?
//
// Implements the triangle covering of Jimenez, Segura and Feito ("Polygon-Polygon Collision
// Detection in 2D"): one triangle (origin, v, w) for each edge v->w. `LocateByCovering` tests
// inclusion by signs of barycentric coordinates alone, for any polygon and any origin (Algorithm 1
// of the article, made sound). `EdgeSigns` keeps the signs of a point against the lines of all
// edges: equal signs without a 0 prove that the point stayed in one cell (Algorithm 2 of the
// article, made sound). `PointTracker` follows a point by these signs. Scenes locate points faster
// (carom/locate.h), and carom/tracker.h follows any shape faster: use this header for one polygon
// of few edges, or to read the signs.
//
//   const Location at = LocateByCovering(polygon, {0, 0}, {1, 4});  // kBoundary
//   PointTracker tracker(polygon);
//   tracker.MoveTo({1, 1});
//   const Location moved = tracker.MoveTo({2.5, 1.5});  // kInside
//   // tracker.kept_count() == 1: no sign changed
//
// Lengths are in the unit of the caller's coordinates. A point on an edge is on the boundary.
// Error: none, verdicts are exact. Cost: O(n) for each point or move, n the edges of the polygon.
// Thread-safe, except for `PointTracker` and `EdgeSigns::Set`. Cheaper alternative: carom/locate.h.
// More powerful: carom/tracker.h.
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

// Signs of the barycentric coordinates of a point in the triangle (origin, v, w), independent of
// the direction in which the triangle turns. The sign of a corner is +1 if the point is on the
// inner side of the line opposite to the corner, 0 if it is on this line, -1 if it is beyond.
// `triangle` is the sign of the triangle's area, +1 counter-clockwise; if it is 0, there are no
// coordinates and the other signs are 0. Exact.
struct BarycentricSigns {
  int triangle = 0;
  int origin = 0;  // sign of the origin's coordinate: the side of the edge v->w
  int v = 0;
  int w = 0;
};
BarycentricSigns SignsIn(Vec2 origin, const Segment& edge, Vec2 p);

// Returns where `p` is in `polygon`, by the covering with the origin `origin`. The winding number
// of `p` is the sum of the signs of the triangles that contain `p`, half if `p` is on a side that
// ends at the origin. Exact for any origin (also for `p` itself), rings, fill rule and solidity;
// equal to the answer of a scene. Both points are accepted coordinates. O(n).
Location LocateByCovering(const Polygon& polygon, Vec2 origin, Vec2 p);

// The side of each edge's line on which a point lies: one bit for each edge.
class EdgeSigns {
 public:
  // Computes the signs of `p`, an accepted coordinate. O(n).
  EdgeSigns(const Polygon& polygon, Vec2 p) { Set(polygon, p); }
  // Computes the signs of `point` in the memory of the old signs. O(n).
  void Set(const Polygon& polygon, Vec2 point);

  // Returns whether the signs prove that the straight path between the two points meets no edge.
  //
  // Theorem. If `*this` and `other` belong to one polygon, are equal, and contain no sign 0, then
  // both points lie in one cell of the arrangement of the edges' lines. Cells are convex, so the
  // straight path between the points meets no edge, and every answer about inclusion stays valid
  // along it. (An edge of length zero has no line. Such an edge is an end of another edge, and the
  // line of the other edge covers it, unless the ring is a single point: `has_zero` is then true.)
  // The converse is false: a path that crosses a line need not cross an edge.
  bool ProvesClearPathTo(const EdgeSigns& other) const;

  // Returns whether some sign is 0: the point lies on the line of an edge, or a ring is a point.
  bool has_zero() const { return has_zero_; }
  // Returns 64-bit words: bit i % 64 of word i / 64 is set if the point is strictly left of edge i.
  // The bit of an edge of length zero is 0.
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
  size_t edge_count_ = 0;
  bool has_zero_ = false;
};

// Follows a point that moves about one polygon, by its edge signs. If no sign changes, the last
// answer holds by the theorem of `ProvesClearPathTo`; otherwise the edges with a changed sign give
// the next winding number:
//
// Let no sign be 0 at p or at q. The winding number at q is the winding number at p, plus 1 for
// each edge v->w that the path p->q crosses to the left side of the edge, minus 1 for each edge
// that it crosses to the right side. Only an edge with a changed sign is crossed; it is crossed if
// v and w are on different sides of the line p->q, where the line itself counts as its left side
// (so a vertex on the path counts for one of its two edges, or for both or none, as if the path
// passed it on the right).
//
// Not thread-safe.
class PointTracker {
 public:
  explicit PointTracker(Polygon polygon) : polygon_(std::move(polygon)) {}

  // Moves the point to `point`, an accepted coordinate, and returns where it is: what
  // `LocateByCovering` returns. O(n) for the signs, and O(n) again at the first move and if a sign
  // is 0.
  Location MoveTo(Vec2 point);

  // Returns the number of moves in which no sign changed.
  uint64_t kept_count() const { return kept_count_; }

 private:
  Polygon polygon_;
  std::optional<EdgeSigns> signs_;  // signs of the point `at_`; empty if a sign is 0
  std::optional<EdgeSigns> next_;   // memory for the signs of the next point
  Vec2 at_;
  int64_t winding_ = 0;
  uint64_t kept_count_ = 0;
};

}  // namespace carom
