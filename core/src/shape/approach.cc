// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "shape/approach.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/predicates.h"
#include "numeric/double_double.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// Returns the point of `edge` that is nearest to `p`, as a segment of length 0, if the coordinates
// of this point are doubles: it is an end of the edge, or the foot of the perpendicular on an edge
// that is parallel to an axis. Otherwise returns `edge`.
Segment NearestPart(Vec2 p, const Segment& edge) {
  if (DotSign(edge.a, p, edge.a, edge.b) <= 0) return {edge.a, edge.a};
  if (DotSign(edge.b, p, edge.a, edge.b) >= 0) return {edge.b, edge.b};
  if (edge.a.x == edge.b.x) return {{edge.a.x, p.y}, {edge.a.x, p.y}};
  if (edge.a.y == edge.b.y) return {{p.x, edge.a.y}, {p.x, edge.a.y}};
  return edge;
}

// Returns bounds of |p - q|^2. With u = 2^-53, the rounded dx^2 + dy^2 has a relative error of at
// most 4u; 8u also covers the rounding of the bounds.
Bounds2 PointBounds(Vec2 p, Vec2 q) {
  const double dx = p.x - q.x;
  const double dy = p.y - q.y;
  const double square = dx * dx + dy * dy;
  return {square * (1 - 8 * kFilterUnit), square * (1 + 8 * kFilterUnit)};
}

// Returns bounds of the squared distance of `p` from the line of `edge`. Let u = 2^-53, and e the
// relative error of the rounded cross product, below 2^-30. The squared length has a relative error
// of 5u, so the quotient cross^2 / length^2 has one of 2e + e^2 + 8u at most; 3e + 16u also covers
// the rounding of the bounds. If the filter cannot give such an e, the cross product is computed
// exactly and rounded, within 4u.
Bounds2 LineBounds(Vec2 p, const Segment& edge) {
  const double dx = edge.b.x - edge.a.x;
  const double dy = edge.b.y - edge.a.y;
  const RoundedCross rounded(dx * (p.y - edge.a.y), dy * (p.x - edge.a.x));
  double cross = rounded.value;
  double error = rounded.error();
  if (error > 0x1p-30 * std::abs(cross)) {
    cross = ExactCross(edge.a, edge.b, edge.a, p).estimate();
    error = 4 * kFilterUnit * std::abs(cross);
  }
  if (cross == 0) return {};
  const double square = cross * cross / (dx * dx + dy * dy);
  const double relative = 3 * (error / std::abs(cross)) + 16 * kFilterUnit;
  return {square * (1 - relative), square * (1 + relative)};
}

Expansion<16> ExactSquare(Vec2 p, Vec2 q) {
  const auto dx = Difference(p.x, q.x);
  const auto dy = Difference(p.y, q.y);
  return dx * dx + dy * dy;
}

Dyadic DyadicDifference(double a, double b) { return Dyadic(a) - Dyadic(b); }

Dyadic Exact(const LengthSum& sum) { return Dyadic(sum.a) + Dyadic(sum.b) + Dyadic(sum.c); }

// Returns the distance between the vertex and the edge of `approach`, with a relative error of at
// most 2^-96.
TwoDoubles Length(const Approach& approach) {
  const Segment& edge = approach.edge;
  if (approach.IsPoint()) {
    const TwoDoubles dx = TwoDiff(approach.vertex.x, edge.a.x);
    const TwoDoubles dy = TwoDiff(approach.vertex.y, edge.a.y);
    return SquareRoot(Add(Multiply(dx, dx), Multiply(dy, dy)));
  }
  const TwoDoubles dx = TwoDiff(edge.b.x, edge.a.x);
  const TwoDoubles dy = TwoDiff(edge.b.y, edge.a.y);
  TwoDoubles cross = PairCross(edge.a, edge.b, edge.a, approach.vertex);
  if (cross.high < 0) cross = {-cross.high, -cross.low};
  return Divide(cross, SquareRoot(Add(Multiply(dx, dx), Multiply(dy, dy))));
}

bool HasEvenSignificand(double value) {
  int exponent = 0;
  const auto bits = static_cast<int64_t>(std::frexp(value, &exponent) * 0x1p53);
  return bits % 2 == 0;
}

// Returns the clearance (distance minus both radii), correctly rounded, where cancellation or a
// near tie leaves the computation in pairs of doubles undecided. Let N / D be the squared distance
// and R the sum of the radii. The first value is (N - R^2 D) / D / (sqrt(N / D) + R). It is within
// 4 ulp: the numerator is exact, and each of five operations adds half an ulp. Exact comparisons of
// the distance with R plus the midpoint between two neighbouring doubles then correct it.
double ExactClearance(const Approach& approach, double radius_a, double radius_b, double length) {
  const Dyadic radii = Dyadic(radius_a) + Dyadic(radius_b);
  const Dyadic n = approach.Numerator();
  const Dyadic d = approach.Denominator();
  double value = NearestQuotient(n - radii * radii * d, d) / (length + (radius_a + radius_b));
  // Returns the sign of: distance - (sum of the radii) - (midpoint between `value` and
  // `neighbour`).
  const auto beyond = [&](double neighbour) {
    const Dyadic sum = radii + Scaled(Dyadic(value) + Dyadic(neighbour), -1);
    return (n - sum * sum * d).sign();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 16; ++i) {
    const double above = std::nextafter(value, kInfinity);
    const int order = beyond(above);
    if (order < 0 || (order == 0 && HasEvenSignificand(value))) break;
    value = above;
  }
  for (int i = 0; i < 16; ++i) {
    const double below = std::nextafter(value, 0);
    const int order = beyond(below);
    if (order > 0 || (order == 0 && HasEvenSignificand(value))) break;
    value = below;
  }
  return value;
}

// Returns origin + direction * length, summed up as pairs of doubles and rounded at the end. Adding
// 0 turns -0 into 0.
double SumOfProduct(double origin, double direction, double length) {
  const TwoDoubles step = TwoProduct(direction, length);
  const TwoDoubles sum = TwoSum(origin, step.high);
  return sum.high + (sum.low + step.low) + 0.0;
}

}  // namespace

Approach::Approach(Vec2 vertex, const Segment& edge)
    : vertex(vertex),
      edge(NearestPart(vertex, edge)),
      distance2(IsPoint() ? PointBounds(vertex, this->edge.a) : LineBounds(vertex, edge)) {}

Dyadic Approach::Numerator() const {
  const Dyadic px = DyadicDifference(vertex.x, edge.a.x);
  const Dyadic py = DyadicDifference(vertex.y, edge.a.y);
  if (IsPoint()) return px * px + py * py;
  const Dyadic cross =
      DyadicDifference(edge.b.x, edge.a.x) * py - DyadicDifference(edge.b.y, edge.a.y) * px;
  return cross * cross;
}

Dyadic Approach::Denominator() const {
  if (IsPoint()) return 1.0;
  const Dyadic dx = DyadicDifference(edge.b.x, edge.a.x);
  const Dyadic dy = DyadicDifference(edge.b.y, edge.a.y);
  return dx * dx + dy * dy;
}

int Compare(const Approach& a, const Approach& b) {
  if (a.distance2.high < b.distance2.low) return -1;
  if (a.distance2.low > b.distance2.high) return 1;
  if (a.IsPoint() && b.IsPoint()) {
    // Equal: both approaches measure the distance between the same two points, for example because
    // the edges of both approaches share the end that is nearest.
    if (a.vertex == b.vertex && a.edge.a == b.edge.a) return 0;
    if (a.vertex == b.edge.a && a.edge.a == b.vertex) return 0;
    return (ExactSquare(a.vertex, a.edge.a) - ExactSquare(b.vertex, b.edge.a)).sign();
  }
  return (a.Numerator() * b.Denominator() - b.Numerator() * a.Denominator()).sign();
}

// Compares the squares in doubles first, then exactly. If the sum is infinite, or so large or small
// that its square leaves the range of doubles, the bounds in doubles already decide, because every
// distance is 0 or in (2^-440, 2^55).
int Compare(const Approach& approach, const LengthSum& sum) {
  const Bounds2 square = SquareBounds(sum);
  if (approach.distance2.high < square.low) return -1;
  if (approach.distance2.low > square.high) return 1;
  const Dyadic length = Exact(sum);
  return (approach.Numerator() - length * length * approach.Denominator()).sign();
}

// Segments without a common point are nearest at an end of one of them. So their distance is the
// least of four (each end from the other segment), and the least of the four signs is the sign for
// their distance.
int CompareSegments(const Segment& a, const Segment& b, const LengthSum& sum) {
  if (Intersects(a, b)) return -1;
  return std::min({Compare(Approach(a.a, b), sum), Compare(Approach(a.b, b), sum),
                   Compare(Approach(b.a, a), sum), Compare(Approach(b.b, a), sum)});
}

double Clearance(const Approach& approach, double radius_a, double radius_b) {
  const TwoDoubles length = Length(approach);
  const TwoDoubles radii = TwoSum(radius_a, radius_b);
  const TwoDoubles rest = Subtract(length, radii);
  // Bounds the error of `rest`: `length` has a relative error of at most 2^-96, and `Subtract` adds
  // less than 2^-99 times the sum of `length` and `radii`.
  const double error = 0x1p-94 * (length.high + radii.high);
  const bool is_rounded = kHasFilters && rest.high > 0 &&
                          rest.high + (rest.low + error) == rest.high &&
                          rest.high + (rest.low - error) == rest.high;
  return is_rounded ? rest.high : ExactClearance(approach, radius_a, radius_b, length.high);
}

// Returns edge.a + t (edge.b - edge.a) for t = dot / length^2, clamped to [0, 1]. The dot product
// and length^2 are pairs of doubles, so t is the nearest double but for an error of 2^-98 |p - a| /
// length, with p the vertex and a the start of the edge. This error moves the point by 2^-98 |p -
// a| at most.
Vec2 NearestPoint(const Approach& approach) {
  const Segment& edge = approach.edge;
  if (approach.IsPoint()) return edge.a;
  const TwoDoubles dx = TwoDiff(edge.b.x, edge.a.x);
  const TwoDoubles dy = TwoDiff(edge.b.y, edge.a.y);
  const TwoDoubles px = TwoDiff(approach.vertex.x, edge.a.x);
  const TwoDoubles py = TwoDiff(approach.vertex.y, edge.a.y);
  const TwoDoubles dot = Add(Multiply(px, dx), Multiply(py, dy));
  const TwoDoubles length2 = Add(Multiply(dx, dx), Multiply(dy, dy));
  const double t = Divide(dot, length2).high;
  return PointAt(edge, t < 0 ? 0 : t > 1 ? 1 : t);
}

Vec2 UnitDirection(const Approach& approach) {
  const Vec2 p = approach.vertex;
  const Segment& edge = approach.edge;
  if (!approach.IsPoint()) return UnitNormal(edge, Orientation(edge.a, edge.b, p));
  const TwoDoubles dx = TwoDiff(p.x, edge.a.x);
  const TwoDoubles dy = TwoDiff(p.y, edge.a.y);
  const TwoDoubles length = SquareRoot(Add(Multiply(dx, dx), Multiply(dy, dy)));
  return {Divide(dx, length).high + 0.0, Divide(dy, length).high + 0.0};
}

Vec2 Along(Vec2 origin, Vec2 direction, double length) {
  return {SumOfProduct(origin.x, direction.x, length), SumOfProduct(origin.y, direction.y, length)};
}

Vec2 CommonPoint(const Segment& a, const Segment& b) {
  if (IsOnSegment(a.a, b)) return a.a;
  if (IsOnSegment(a.b, b)) return a.b;
  if (IsOnSegment(b.a, a)) return b.a;
  if (IsOnSegment(b.b, a)) return b.b;
  // The segments cross at a.a + t (a.b - a.a) with t = n / d,
  //   n = (b.a - a.a) x (b.b - b.a) and d = (a.b - a.a) x (b.b - b.a).
  return PointAt(a,
                 RoundedQuotient(ExactCross(a.a, b.a, b.a, b.b), ExactCross(a.a, a.b, b.a, b.b)));
}

}  // namespace carom::internal
