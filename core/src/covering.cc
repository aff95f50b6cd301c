// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/covering.h"

#include <algorithm>

#include "carom/predicates.h"

namespace carom {

BarycentricSigns SignsIn(Vec2 origin, const Segment& edge, Vec2 p) {
  BarycentricSigns signs;
  signs.triangle = Orientation(origin, edge.a, edge.b);
  if (signs.triangle == 0) return signs;
  signs.origin = signs.triangle * Orientation(p, edge.a, edge.b);
  signs.v = signs.triangle * Orientation(origin, p, edge.b);
  signs.w = signs.triangle * Orientation(origin, edge.a, p);
  return signs;
}

// The ray from p away from the origin crosses the edge v->w, in the direction of the triangle's
// sign, exactly if p is in the triangle and not on the edge. A side (origin, v) is shared by the
// triangles of the two edges at v, and each counts half there, as a ray through a vertex does.
// An edge on a line with the origin is not crossed: the ray meets that line at the origin at most,
// behind p. If p is the origin, its signs are all 0; the winding number depends on no origin, so
// another serves.
Location CoveringHolds(const Polygon& polygon, Vec2 origin, Vec2 p) {
  if (p == origin) origin = {p.x > 0 ? -1.0 : 1.0, p.y};
  int64_t doubled_winding = 0;
  for (size_t i = 0; i < polygon.edge_count(); ++i) {
    const Segment edge = polygon.edge(i);
    if (IsOnSegment(p, edge)) return Location::kBoundary;
    const BarycentricSigns signs = SignsIn(origin, edge, p);
    if (signs.origin <= 0 || signs.v < 0 || signs.w < 0) continue;
    doubled_winding += int64_t{signs.triangle} * (signs.v + signs.w);
  }
  return polygon.IsFilled(doubled_winding / 2) ? Location::kInside : Location::kOutside;
}

EdgeSigns::EdgeSigns(const Polygon& polygon, Vec2 p)
    : words_((polygon.edge_count() + 63) / 64), edge_count_(polygon.edge_count()) {
  size_t index = 0;
  for (size_t r = 0; r < polygon.ring_count(); ++r) {
    const std::span<const Vec2> ring = polygon.ring(r);
    const bool is_point =
        std::all_of(ring.begin(), ring.end(), [&](Vec2 v) { return v == ring.front(); });
    has_zero_ = has_zero_ || is_point;
    const size_t edges = ring.size() - (polygon.is_open(r) && ring.size() > 1 ? 1 : 0);
    for (const size_t end = index + edges; index < end; ++index) {
      const Segment edge = polygon.edge(index);
      if (edge.a == edge.b) continue;
      const int side = Orientation(edge.a, edge.b, p);
      has_zero_ = has_zero_ || side == 0;
      if (side > 0) words_[index / 64] |= uint64_t{1} << (index % 64);
    }
  }
}

bool EdgeSigns::ProvesClearPathTo(const EdgeSigns& other) const {
  return !has_zero_ && !other.has_zero_ && edge_count_ == other.edge_count_ &&
         words_ == other.words_;
}

}  // namespace carom
