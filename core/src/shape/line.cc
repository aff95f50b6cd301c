// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "shape/line.h"

#include <cmath>

#include "numeric/exact.h"

namespace carom::internal {
namespace {

// Returns a bound of origin + t * d: a lower bound for `side` -1, an upper bound for +1. With u =
// 2^-53, the step t * d has a relative error of at most 2u (d may be rounded) and the sum of u: 8u
// (|origin| + |step|) covers these errors and the rounding of the bound. A bound beyond 2^60
// becomes infinite, because accepted coordinates are at most 2^53. If the step underflows, it errs
// by less than 2^-1074, which does not matter, because no coordinate except 0 has a magnitude below
// 2^-140.
double Bound(double origin, double d, double t, double side) {
  if (d == 0 || t == 0) return origin;
  const double step = d * t;
  if (!(std::abs(step) < 0x1p60)) return step > 0 ? HUGE_VAL : -HUGE_VAL;
  return origin + step + side * 8 * kUnit * (std::abs(origin) + std::abs(step));
}

}  // namespace

Line::Line(const Ray& ray)
    : origin(ray.origin),
      dx{ray.direction.x, 0},
      dy{ray.direction.y, 0},
      t_min(ray.t_min),
      t_max(ray.t_max),
      bounds(BoundsUpTo(ray.t_max)) {}

// If all differences of coordinates are exactly doubles, as the differences of small integers are,
// two exact products of doubles decide: products with different rounded parts compare by the
// rounded parts, products with equal rounded parts by their rounding errors. Otherwise expansions
// decide.
int Line::ExactSide(Vec2 p) const {
  const TwoDoubles x = TwoDiff(p.x, origin.x);
  const TwoDoubles y = TwoDiff(p.y, origin.y);
  if (dx.low != 0 || dy.low != 0 || x.low != 0 || y.low != 0) return ExactCross(origin, p).sign();
  const TwoDoubles left = TwoProduct(dx.high, y.high);
  const TwoDoubles right = TwoProduct(dy.high, x.high);
  return left.high != right.high ? Sign(left.high - right.high) : Sign(left.low - right.low);
}

Expansion<16> Line::ExactCross(Vec2 v, Vec2 w) const {
  return Expand(dx) * Difference(w.y, v.y) - Expand(dy) * Difference(w.x, v.x);
}

Box Line::BoundsBetween(double first, double last) const {
  const auto along = [&](double from, double d, double& min, double& max) {
    min = Bound(from, d, d > 0 ? first : last, -1);
    max = Bound(from, d, d > 0 ? last : first, 1);
  };
  Box box;
  along(origin.x, dx.high, box.min.x, box.max.x);
  along(origin.y, dy.high, box.min.y, box.max.y);
  return box;
}

}  // namespace carom::internal
