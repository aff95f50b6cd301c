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

double Interpolate(double a, double b, double t) {
  const TwoDoubles d = TwoDiff(b, a);
  const TwoDoubles step = TwoProduct(d.high, t);
  const TwoDoubles sum = TwoSum(a, step.high);
  return sum.high + (sum.low + (step.low + d.low * t)) + 0.0;  // + 0.0 turns -0 into 0
}

}  // namespace

Vec2 PointAt(const Segment& segment, double t) {
  if (t == 0) return segment.a;
  if (t == 1) return segment.b;
  return {Interpolate(segment.a.x, segment.b.x, t), Interpolate(segment.a.y, segment.b.y, t)};
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

}  // namespace carom::internal
