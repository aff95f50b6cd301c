// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/covering.h"

#include <algorithm>
#include <bit>

#include "carom/predicates.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"

namespace carom {

using internal::Double2;
using internal::Long2;
using internal::RoundedCrossLanes;

BarycentricSigns SignsIn(Vec2 origin, const Segment& edge, Vec2 p) {
  BarycentricSigns signs;
  signs.triangle = Orientation(origin, edge.a, edge.b);
  if (signs.triangle == 0) return signs;
  signs.origin = signs.triangle * Orientation(p, edge.a, edge.b);
  signs.v = signs.triangle * Orientation(origin, p, edge.b);
  signs.w = signs.triangle * Orientation(origin, edge.a, p);
  return signs;
}

namespace {

// Returns the winding number of the polygon about p, by the triangles (origin, v, w) of the edges
// v->w; nullopt if p is on an edge.
//
// The ray from p away from the origin crosses the edge v->w, in the direction of the triangle's
// sign, exactly if p is in the triangle and not on the edge. The triangles of the two edges at v
// share the side (origin, v). If p is on this side, each of the two triangles counts half, since
// the ray then passes through v. The ray does not cross an edge on a line with the origin: it meets
// this line at the origin at most, behind p. If p is the origin, all signs of p are 0; the winding
// number does not depend on the origin, so the function replaces `origin` by another point.
std::optional<int64_t> WindingByCovering(const Polygon& polygon, Vec2 origin, Vec2 p) {
  if (p == origin) origin = {p.x > 0 ? -1.0 : 1.0, p.y};
  int64_t doubled_winding = 0;
  for (size_t i = 0; i < polygon.edge_count(); ++i) {
    const Segment edge = polygon.edge(i);
    if (IsOnSegment(p, edge)) return std::nullopt;
    const BarycentricSigns signs = SignsIn(origin, edge, p);
    if (signs.origin <= 0 || signs.v < 0 || signs.w < 0) continue;
    doubled_winding += int64_t{signs.triangle} * (signs.v + signs.w);
  }
  return doubled_winding / 2;
}

// Tests on which side of two edges at a time, v[0]->v[1] and v[1]->v[2], the point p certainly
// lies, by rounded cross products with an error bound. In the result, bits 0 and 1 are set if p is
// certainly left of the first or second edge, bits 2 and 3 if p is certainly right of it. A lane of
// a comparison is -1 where it holds, so masking it with one bit puts the bit in its place. An edge
// with neither bit is undecided; the caller decides it by exact arithmetic.
unsigned SureSides(const Vec2* v, Vec2 p) {
  const Double2 ax = Double2{v[0].x, v[1].x} - p.x;
  const Double2 ay = Double2{v[0].y, v[1].y} - p.y;
  const Double2 bx = Double2{v[1].x, v[2].x} - p.x;
  const Double2 by = Double2{v[1].y, v[2].y} - p.y;
  const RoundedCrossLanes cross(ax * by, ay * bx);
  const Long2 left = cross.is_positive();
  const Long2 right = cross.is_negative();
  return static_cast<unsigned>((left[0] & 1) | (left[1] & 2) | (right[0] & 4) | (right[1] & 8));
}

}  // namespace

Location LocateByCovering(const Polygon& polygon, Vec2 origin, Vec2 p) {
  const std::optional<int64_t> winding =
      WindingByCovering(polygon, Normalized(origin), Normalized(p));
  if (!winding) return Location::kBoundary;
  return polygon.IsFilled(*winding) ? Location::kInside : Location::kOutside;
}

void EdgeSigns::Set(const Polygon& polygon, Vec2 point) {
  const Vec2 p = Normalized(point);
  edge_count_ = polygon.edge_count();
  words_.assign((edge_count_ + 63) / 64, 0);
  has_zero_ = false;
  size_t index = 0;
  const auto add = [&](size_t i) {
    const Segment edge = polygon.edge(i);
    if (edge.a == edge.b) return;
    const int side = Orientation(edge.a, edge.b, p);
    has_zero_ = has_zero_ || side == 0;
    if (side > 0) words_[i / 64] |= uint64_t{1} << (i % 64);
  };
  for (size_t r = 0; r < polygon.ring_count(); ++r) {
    const std::span<const Vec2> ring = polygon.ring(r);
    const bool is_point =
        std::all_of(ring.begin(), ring.end(), [&](Vec2 v) { return v == ring.front(); });
    has_zero_ = has_zero_ || is_point;
    const size_t begin = index;
    const size_t edges = ring.size() - (polygon.is_open(r) && ring.size() > 1 ? 1 : 0);
    for (const size_t end = begin + edges; index < end; ++index) {
      const size_t i = index - begin;
      if (i + 2 >= ring.size()) {
        add(index);
        continue;
      }
      const unsigned sides = SureSides(&ring[i], p);
      for (unsigned k = 0; k < 2; ++k) {
        if ((sides >> k & 1) != 0) {
          words_[(index + k) / 64] |= uint64_t{1} << ((index + k) % 64);
        } else if ((sides >> (k + 2) & 1) == 0) {
          add(index + k);
        }
      }
      ++index;
    }
  }
}

// An `EdgeSigns` holds, for each edge of a polygon, on which side of the line of the edge a point
// lies. If two points lie on the same side of the line of each edge, both are in one convex cell of
// the arrangement of these lines, so the path between them meets no edge (carom/covering.h). Signs
// of 0 prove nothing, since a point on a line is in no cell.
bool EdgeSigns::ProvesClearPathTo(const EdgeSigns& other) const {
  return !has_zero_ && !other.has_zero_ && edge_count_ == other.edge_count_ &&
         words_ == other.words_;
}

// The sign of an edge is the side of the line of the edge on which the point lies. The path from
// the last point that was on no such line to the new point can cross only edges with a changed
// sign. Xor finds which signs changed in each word of 64 signs, and counting trailing zeros finds
// the changed bits of a word. If there is no such last point, or the new point lies on the line of
// an edge, the winding number is computed from all edges.
Location PointTracker::MoveTo(Vec2 point) {
  const Vec2 p = Normalized(point);
  if (next_) {
    next_->Set(polygon_, p);
  } else {
    next_.emplace(polygon_, p);
  }
  if (next_->has_zero() || !signs_) {
    const Box& box = polygon_.bounds();
    const std::optional<int64_t> winding = WindingByCovering(polygon_, box.min, p);
    signs_.reset();
    if (!winding) return Location::kBoundary;
    winding_ = *winding;
    if (!next_->has_zero()) signs_.swap(next_);
  } else if (signs_->ProvesClearPathTo(*next_)) {
    ++kept_count_;
  } else {
    for (size_t word = 0; word < signs_->words().size(); ++word) {
      uint64_t changed = signs_->words()[word] ^ next_->words()[word];
      for (; changed != 0; changed &= changed - 1) {
        const auto bit = static_cast<size_t>(std::countr_zero(changed));
        const Segment edge = polygon_.edge(64 * word + bit);
        const bool a_left = Orientation(at_, p, edge.a) >= 0;
        const bool b_left = Orientation(at_, p, edge.b) >= 0;
        if (a_left == b_left) continue;
        winding_ += (next_->words()[word] >> bit & 1) != 0 ? 1 : -1;
      }
    }
    signs_.swap(next_);
  }
  at_ = p;
  return polygon_.IsFilled(winding_) ? Location::kInside : Location::kOutside;
}

}  // namespace carom
