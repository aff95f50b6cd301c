// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "measures.h"

#include <cmath>

#include "expansion.h"

namespace carom::internal {
namespace {

// Double-double arithmetic (Dekker 1971): relative errors of a few 2^-104.
TwoDoubles Multiply(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles product = TwoProduct(a.high, b.high);
  return FastTwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

TwoDoubles Add(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles high = TwoSum(a.high, b.high);
  const TwoDoubles low = TwoSum(a.low, b.low);
  const TwoDoubles sum = FastTwoSum(high.high, high.low + low.high);
  return FastTwoSum(sum.high, sum.low + low.low);
}

// One Newton step from the rounded root.
TwoDoubles SquareRoot(TwoDoubles a) {
  const double root = std::sqrt(a.high);
  const TwoDoubles square = TwoProduct(root, root);
  const double residual = ((a.high - square.high) - square.low) + a.low;
  return FastTwoSum(root, residual / (2 * root));
}

double Divide(TwoDoubles a, TwoDoubles b) {
  const double quotient = a.high / b.high;
  const TwoDoubles back = Multiply({quotient, 0}, b);
  return quotient + (((a.high - back.high) - back.low) + a.low) / b.high;
}

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
  const double x = -side * Divide(dy, length) + 0.0;
  const double y = side * Divide(dx, length) + 0.0;
  return {x, y};
}

Vec2 Reflected(const Line& line, const Segment& edge) {
  const TwoDoubles ex = TwoDiff(edge.b.x, edge.a.x);
  const TwoDoubles ey = TwoDiff(edge.b.y, edge.a.y);
  const TwoDoubles xx = Multiply(ex, ex);
  const TwoDoubles yy = Multiply(ey, ey);
  const TwoDoubles xy = Multiply(ex, ey);
  const TwoDoubles difference = Add(xx, {-yy.high, -yy.low});
  const TwoDoubles twice_xy{2 * xy.high, 2 * xy.low};
  const TwoDoubles length2 = Add(xx, yy);
  const TwoDoubles y = Multiply(line.dy, difference);
  return {Divide(Add(Multiply(line.dx, difference), Multiply(line.dy, twice_xy)), length2) + 0.0,
          Divide(Add(Multiply(line.dx, twice_xy), {-y.high, -y.low}), length2) + 0.0};
}

}  // namespace carom::internal
