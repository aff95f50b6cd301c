// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A segment or a ray in the form that casts (first-hit queries) compute with.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

// The points origin + t * direction for t in [t_min, t_max]. `dx` and `dy` hold the direction as
// pairs of doubles: for a segment a->b, b - a is exactly a pair of doubles in each coordinate; for
// a ray, the direction is given in doubles, so the low parts are 0.
struct Line {
  // Makes the line of a segment, with the range [0, 1]. The constructor is implicit, so that each
  // function that takes a line also takes a segment.
  Line(const Segment& segment)  // NOLINT
      : origin(segment.a),
        dx(TwoDiff(segment.b.x, segment.a.x)),
        dy(TwoDiff(segment.b.y, segment.a.y)),
        bounds(BoundsOf(segment)) {}
  explicit Line(const Ray& ray);

  // Returns true for a segment of length zero.
  bool is_point() const { return dx.high == 0 && dy.high == 0; }
  // Returns the sign of direction x (p - origin): +1 if p is left of the line, 0 if p is on the
  // line or its unbounded extension, -1 if p is right of it. Exact. Each product of the filter has
  // three roundings (of the direction, a difference and a product), as the error bound
  // `kCrossError` assumes.
  int Side(Vec2 p) const {
    const RoundedCross cross(dx.high * (p.y - origin.y), dy.high * (p.x - origin.x));
    return cross.is_certain() ? cross.sign() : ExactSide(p);
  }
  // Returns the sign of direction x (edge.b - edge.a): +1 if the edge runs to the left as seen
  // along the line. Exact; the filter has the error bound of the filter in `Side`.
  int Cross(const Segment& edge) const {
    const RoundedCross cross(dx.high * (edge.b.y - edge.a.y), dy.high * (edge.b.x - edge.a.x));
    return cross.is_certain() ? cross.sign() : ExactCross(edge.a, edge.b).sign();
  }
  // Returns the result of `Side` by exact arithmetic, without the filter.
  int ExactSide(Vec2 p) const;
  // Returns the cross product of the line's direction with w - v, exactly.
  Expansion<16> ExactCross(Vec2 v, Vec2 w) const;
  // Returns a box that contains the points of the line from `first` to `last`, two parameters in
  // [t_min, t_max]. A side of the box beyond 2^60, far beyond all accepted coordinates, is
  // infinite; no side is NaN.
  Box BoundsBetween(double first, double last) const;
  Box BoundsUpTo(double t) const { return BoundsBetween(t_min, t); }

  Vec2 origin;
  TwoDoubles dx;
  TwoDoubles dy;
  double t_min = 0;
  double t_max = 1;
  // A box that contains the line: the smallest such box for a segment; a slightly larger or an
  // infinite box for a ray.
  Box bounds;
};

}  // namespace carom::internal
