// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "measures.h"

#include <cmath>

#include "double_double.h"

namespace carom::internal {
namespace {

double Interpolate(double a, TwoDoubles d, double t) {
  const TwoDoubles step = TwoProduct(d.high, t);
  const TwoDoubles sum = TwoSum(a, step.high);
  return sum.high + (sum.low + (step.low + d.low * t)) + 0.0;  // + 0.0 turns -0 into 0
}

}  // namespace

Vec2 PointAt(const Line& line, double t) {
  return {Interpolate(line.origin.x, line.dx, t), Interpolate(line.origin.y, line.dy, t)};
}

// With e the edge, (-e.y, e.x) . direction = e x direction.
Vec2 UnitNormal(const Segment& edge, int side) {
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

}  // namespace carom::internal
