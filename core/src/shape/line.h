// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A segment or a ray, as casts see it.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

// The points origin + t * direction for t in [t_min, t_max]. The direction of a segment a->b is
// b - a, exactly a pair of doubles in each coordinate; a ray's has low parts 0.
struct Line {
  // The range is [0, 1]. Implicit: whatever takes a line takes a segment.
  Line(const Segment& segment)  // NOLINT
      : origin(segment.a),
        dx(TwoDiff(segment.b.x, segment.a.x)),
        dy(TwoDiff(segment.b.y, segment.a.y)),
        bounds(BoundsOf(segment)) {}
  explicit Line(const Ray& ray);

  // A segment of length zero.
  bool is_point() const { return dx.high == 0 && dy.high == 0; }
  // The sign of direction x (p - origin): +1 if p is left of the line, 0 if on it. Exact, also for
  // points of the line's unbounded extension. The direction's rounding, a difference and a product
  // make three roundings, as `kCrossError` has them.
  int Side(Vec2 p) const {
    const RoundedCross cross(dx.high * (p.y - origin.y), dy.high * (p.x - origin.x));
    return cross.is_certain() ? cross.sign() : ExactSide(p);
  }
  // The sign of direction x (edge.b - edge.a): +1 if the edge runs to the left. Exact, likewise.
  int Cross(const Segment& edge) const {
    const RoundedCross cross(dx.high * (edge.b.y - edge.a.y), dy.high * (edge.b.x - edge.a.x));
    return cross.is_certain() ? cross.sign() : ExactCross(edge.a, edge.b).sign();
  }
  // `Side` without the filter.
  int ExactSide(Vec2 p) const;
  // direction x (w - v), exactly.
  Expansion<16> ExactCross(Vec2 v, Vec2 w) const;
  // A box that holds the part from `first` to `last`, in [t_min, t_max]. Infinite where that is
  // beyond all accepted coordinates; never NaN.
  Box BoundsBetween(double first, double last) const;
  Box BoundsUpTo(double t) const { return BoundsBetween(t_min, t); }

  Vec2 origin;
  TwoDoubles dx;
  TwoDoubles dy;
  double t_min = 0;
  double t_max = 1;
  Box bounds;  // of a segment the smallest box, of a ray a little larger, perhaps infinite
};

}  // namespace carom::internal
