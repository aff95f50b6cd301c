// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A segment or a ray in the form that casts compute with.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

// The points origin + t * direction for t in [t_min, t_max]. The direction of a segment a->b is
// b - a, exactly a pair of doubles in each coordinate. The direction of a ray is given in doubles:
// its low parts are 0.
struct Line {
  // The range is [0, 1]. Implicit, so that each function that takes a line also takes a segment.
  Line(const Segment& segment)  // NOLINT
      : origin(segment.a),
        dx(TwoDiff(segment.b.x, segment.a.x)),
        dy(TwoDiff(segment.b.y, segment.a.y)),
        bounds(BoundsOf(segment)) {}
  explicit Line(const Ray& ray);

  // Returns true for a segment of length zero.
  bool is_point() const { return dx.high == 0 && dy.high == 0; }
  // Returns the sign of direction x (p - origin): +1 if p is left of the line, 0 if on the line.
  // Exact, also for points on the line's unbounded extension. The rounding of the direction, a
  // difference and a product make three roundings, as `kCrossError` assumes.
  int Side(Vec2 p) const {
    const RoundedCross cross(dx.high * (p.y - origin.y), dy.high * (p.x - origin.x));
    return cross.is_certain() ? cross.sign() : ExactSide(p);
  }
  // Returns the sign of direction x (edge.b - edge.a): +1 if the edge runs to the left. Exact; the
  // filter has the error bound of `Side`.
  int Cross(const Segment& edge) const {
    const RoundedCross cross(dx.high * (edge.b.y - edge.a.y), dy.high * (edge.b.x - edge.a.x));
    return cross.is_certain() ? cross.sign() : ExactCross(edge.a, edge.b).sign();
  }
  // Returns the result of `Side` without the filter.
  int ExactSide(Vec2 p) const;
  // Returns direction x (w - v), exactly.
  Expansion<16> ExactCross(Vec2 v, Vec2 w) const;
  // Returns a box that contains the part of the line from `first` to `last`, in [t_min, t_max]. It
  // is infinite beyond all accepted coordinates; never NaN.
  Box BoundsBetween(double first, double last) const;
  Box BoundsUpTo(double t) const { return BoundsBetween(t_min, t); }

  Vec2 origin;
  TwoDoubles dx;
  TwoDoubles dy;
  double t_min = 0;
  double t_max = 1;
  Box bounds;  // a segment's smallest box; a ray's is slightly larger or infinite
};

}  // namespace carom::internal
