// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "shape/measures.h"

#include <cmath>

#include "numeric/double_double.h"
#include "numeric/double_lanes.h"

namespace carom::internal {

Vec2 PointAt(const Line& line, double t) {
  const TwoLanes d = ToLanes(line.dx, line.dy);
  const TwoLanes step = TwoProduct(d.high, Lanes{t, t});
  const TwoLanes sum = TwoSum(ToLanes(line.origin), step.high);
  // Adding 0.0 turns -0 into 0.
  const Lanes point = sum.high + (sum.low + (step.low + d.low * t)) + 0.0;
  return {point[0], point[1]};
}

// Let u = 2^-53, E the edge as a vector and n = E / |E| its exact unit direction. Let m be E
// divided by its length in doubles: each component of m is within 6u of n's. (The errors here are
// relative, and terms of higher order are left out.) With m corrected by the length of m and by the
// angle from m to E,
//     n = m (1 - g / 2) + (-m.y, m.x) f   with g = m^2 - 1, |g| <= 12u, and f = m x E / |E|,
// |f| <= 12u |n.x n.y|; the omitted terms are 3/8 g^2 + f^2 / 2 in the first part and f g in the
// second. Both corrections sum up exact products of halves (`Split`), where a low half is at most w
// = 2^-26 of its number. The sums of the products of high halves have no error: for f both products
// are |E n.x n.y| within 4w, and for g the rounding error of the sum is added back. The other
// products of halves are each at most 2w times the product of the whole numbers; they round by 12uw
// times that product in f and by 4uw in g; all other terms are of order u^2. So n is known within
// 16uw = 2^-75, and pairs of doubles (`UnitNormalOfPairs`) err by 2^-98: if all numbers within
// 2^-74 of n round to one double, both computations return that double. No component is midway
// between doubles: p^2 + q^2 = 4^k has no integer solutions unless p or q is 0. Differences of
// accepted coordinates are multiples of 2^-192 and at most 2^54, and components of m are multiples
// of 2^-300: nothing underflows.
Vec2 UnitNormal(const Segment& edge, int side) {
  const TwoLanes e = TwoDiff(ToLanes(edge.b), ToLanes(edge.a));
  const Lanes squares = e.high * e.high;
  const double inverse = 1 / std::sqrt(squares[0] + squares[1]);
  const Lanes m = e.high * inverse;
  const TwoLanes parts = Split(m);
  const TwoLanes other = Split(Swapped(e.high));

  const Lanes m2 = parts.high * parts.high;
  const Lanes m2_low = 2 * (parts.high * parts.low);
  const Lanes m2_least = parts.low * parts.low;
  const TwoDoubles sum = TwoSum(m2[0], m2[1]);
  const double g =
      (sum.high - 1) + ((m2_low[0] + m2_low[1]) + (sum.low + (m2_least[0] + m2_least[1])));

  const Lanes high = parts.high * other.high;
  const Lanes low = (parts.high * other.low + parts.low * other.high) +
                    (parts.low * other.low + m * Swapped(e.low));
  const double f = ((high[0] - high[1]) + (low[0] - low[1])) * inverse;

  // `turned` is the rounded direction m of the edge, turned left by a right angle. It approximates
  // (-n.y, n.x), the normal for side 1, where n is the exact unit direction of the edge.
  const Lanes turned = Lanes{-m[1], m[0]};
  const Lanes correction = turned * (-0.5 * g) - m * f;
  const Lanes bound = Abs(turned) * (kHasFilters ? 0x1p-74 : 1);
  const Lanes least = turned + (correction - bound);
  const Lanes most = turned + (correction + bound);
  if (least[0] != most[0] || least[1] != most[1]) return UnitNormalOfPairs(edge, side);
  return {side * least[0] + 0.0, side * least[1] + 0.0};
}

// Let e be the edge as a vector. For side 1 the normal is (-e.y, e.x) / |e|: the dot product of
// (-e.y, e.x) with a direction is the cross product e x direction, and `side` is the sign of this
// product.
Vec2 UnitNormalOfPairs(const Segment& edge, int side) {
  const TwoDoubles dx = TwoDiff(edge.b.x, edge.a.x);
  const TwoDoubles dy = TwoDiff(edge.b.y, edge.a.y);
  const TwoDoubles length = SquareRoot(Add(Multiply(dx, dx), Multiply(dy, dy)));
  const double x = -side * Divide(dy, length).high + 0.0;
  const double y = side * Divide(dx, length).high + 0.0;
  return {x, y};
}

Vec2 Reflected(const Line& line, const Segment& edge) {
  const TwoDoubles ex = TwoDiff(edge.b.x, edge.a.x);
  const TwoDoubles ey = TwoDiff(edge.b.y, edge.a.y);
  const TwoDoubles xx = Multiply(ex, ex);
  const TwoDoubles yy = Multiply(ey, ey);
  const TwoDoubles xy = Multiply(ex, ey);
  const TwoDoubles difference = Subtract(xx, yy);
  const TwoDoubles twice_xy{2 * xy.high, 2 * xy.low};
  const TwoDoubles length2 = Add(xx, yy);
  const TwoDoubles x = Add(Multiply(line.dx, difference), Multiply(line.dy, twice_xy));
  const TwoDoubles y = Subtract(Multiply(line.dx, twice_xy), Multiply(line.dy, difference));
  return {Divide(x, length2).high + 0.0, Divide(y, length2).high + 0.0};
}

Vec2 Reflected(const Line& line, Vec2 normal) {
  const double twice = 2 * (line.dx.high * normal.x + line.dy.high * normal.y);
  return {line.dx.high - twice * normal.x + 0.0, line.dy.high - twice * normal.y + 0.0};
}

}  // namespace carom::internal
