// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/predicates.h"

#include <algorithm>
#include <cmath>

#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom {
namespace {

using internal::ExactCross;
using internal::RoundedCross;

int ExactCrossSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  return ExactCross(from_a, a, from_b, b).sign();
}

// Returns the sign of the cross product (a - from_a) x (b - from_b). Inline, so that a predicate
// that needs several signs compiles to one function with the filters inside; only the exact
// fallback is a call.
inline int CrossSignOf(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const RoundedCross cross(from_a, a, from_b, b);
  return cross.is_certain() ? cross.sign() : ExactCrossSign(from_a, a, from_b, b);
}

// Returns the sign of the dot product (a - from_a) . (b - from_b). It equals the cross product
// after the second vector is turned counter-clockwise by a right angle: (x, y) becomes (-y, x).
inline int DotSignOf(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  return CrossSignOf(from_a, a, {-from_b.y, from_b.x}, {-b.y, b.x});
}

// Returns the sign of (a - c) x (b - c), the form of the orientation test for which Shewchuk
// derived the error bound of the filter. It is the orientation of (c, a, b), a cyclic shift of (a,
// b, c), which has the same sign.
inline int OrientationOf(Vec2 a, Vec2 b, Vec2 c) { return CrossSignOf(c, a, c, b); }

}  // namespace

namespace internal {

int CrossSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  return CrossSignOf(from_a, a, from_b, b);
}

int DotSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) { return DotSignOf(from_a, a, from_b, b); }

// Returns the sign of cross^2 - radius^2 * length^2, where `cross` is the cross product of the
// segment as a vector and the vector from `segment.a` to the centre, and `length` is the length of
// the segment. The sign compares the centre's distance from the line of the segment with the
// radius. Let u = 2^-53, and M the sum of the magnitudes of the two products in the cross product.
// Then |cross^2 - rounded| <= 9u M^2. radius^2 * length^2 is a product of factors with relative
// errors of at most 6u in all. 16u (M^2 + radius^2 * length^2) covers both errors and the rounding
// of the subtraction.
int CompareLineDistance(const Segment& segment, const Circle& circle) {
  const Vec2 d{segment.b.x - segment.a.x, segment.b.y - segment.a.y};
  const double left = d.x * (circle.center.y - segment.a.y);
  const double right = d.y * (circle.center.x - segment.a.x);
  const double cross = left - right;
  const double magnitude = std::abs(left) + std::abs(right);
  const double limit = circle.radius * circle.radius * (d.x * d.x + d.y * d.y);
  const double difference = cross * cross - limit;
  if (std::abs(difference) > 16 * kFilterUnit * (magnitude * magnitude + limit)) {
    return Sign(difference);
  }
  const auto exact_cross = ExactCross(segment.a, segment.b, segment.a, circle.center);
  const auto exact_dx = Difference(segment.b.x, segment.a.x);
  const auto exact_dy = Difference(segment.b.y, segment.a.y);
  const auto length2 = exact_dx * exact_dx + exact_dy * exact_dy;
  return (exact_cross * exact_cross - length2 * Square(circle.radius)).sign();
}

}  // namespace internal

int Orientation(Vec2 a, Vec2 b, Vec2 c) { return OrientationOf(a, b, c); }

bool IsOnSegment(Vec2 p, const Segment& segment) {
  return BoundsOf(segment).Contains(p) && Orientation(segment.a, segment.b, p) == 0;
}

// If the bounding boxes of two segments meet, the segments share no point exactly if both ends of
// one segment lie strictly on one side of the line through the other. If all four orientations are
// 0, the segments lie on one line (or are points), and then they meet because their boxes do.
bool Intersects(const Segment& a, const Segment& b) {
  if (!BoundsOf(a).Intersects(BoundsOf(b))) return false;
  if (OrientationOf(a.a, a.b, b.a) * OrientationOf(a.a, a.b, b.b) > 0) return false;
  return OrientationOf(b.a, b.b, a.a) * OrientationOf(b.a, b.b, a.b) <= 0;
}

// If the bounding box of the segment meets `box`, the segment misses `box` exactly if all corners
// of `box` lie strictly on one side of the line through the segment.
bool Intersects(const Segment& segment, const Box& box) {
  if (box.empty() || !BoundsOf(segment).Intersects(box)) return false;
  const int side = Orientation(segment.a, segment.b, box.min);
  return side * Orientation(segment.a, segment.b, box.max) <= 0 ||
         side * Orientation(segment.a, segment.b, {box.min.x, box.max.y}) <= 0 ||
         side * Orientation(segment.a, segment.b, {box.max.x, box.min.y}) <= 0;
}

// The segment a->b crosses the line of edge i = v->w at t_i = n_i / d_i with n_i = (v - a) x (w -
// v) and d_i = (b - a) x (w - v). Let u = 2^-53. Each product of two rounded cross products errs by
// less than 8u of the product of their magnitudes (a little more than 3u for each factor, u for the
// product), and their subtraction adds u times the sum of both products: 16u covers all errors.
int CompareCrossings(const Segment& segment, const Segment& edge_1, const Segment& edge_2) {
  const auto numerator = [&](const Segment& e) { return RoundedCross(segment.a, e.a, e.a, e.b); };
  const auto divisor = [&](const Segment& e) {
    return RoundedCross(segment.a, segment.b, e.a, e.b);
  };
  const RoundedCross n_1 = numerator(edge_1);
  const RoundedCross n_2 = numerator(edge_2);
  const RoundedCross d_1 = divisor(edge_1);
  const RoundedCross d_2 = divisor(edge_2);
  const double difference = n_1.value * d_2.value - n_2.value * d_1.value;
  const double magnitude = n_1.magnitude * d_2.magnitude + n_2.magnitude * d_1.magnitude;
  if (d_1.is_certain() && d_2.is_certain() &&
      std::abs(difference) > 16 * internal::kFilterUnit * magnitude) {
    return internal::Sign(difference) * internal::Sign(d_1.value) * internal::Sign(d_2.value);
  }
  const auto exact_d_1 = ExactCross(segment.a, segment.b, edge_1.a, edge_1.b);
  const auto exact_d_2 = ExactCross(segment.a, segment.b, edge_2.a, edge_2.b);
  const int sign = exact_d_1.sign() * exact_d_2.sign();
  if (sign == 0) return 0;
  const auto exact_n_1 = ExactCross(segment.a, edge_1.a, edge_1.a, edge_1.b);
  const auto exact_n_2 = ExactCross(segment.a, edge_2.a, edge_2.a, edge_2.b);
  return sign * (exact_n_1 * exact_d_2 - exact_n_2 * exact_d_1).sign();
}

// The filter's error bound: with u = 2^-53, dx^2 + dy^2 has a relative error of at most 5u and
// radius^2 of at most u, and their subtraction adds u times (dx^2 + dy^2 + radius^2). 8u covers all
// three errors.
int CompareDistance(Vec2 p, const Circle& circle) {
  const double dx = p.x - circle.center.x;
  const double dy = p.y - circle.center.y;
  const double distance2 = dx * dx + dy * dy;
  const double radius2 = circle.radius * circle.radius;
  const double difference = distance2 - radius2;
  if (std::abs(difference) > 8 * internal::kFilterUnit * (distance2 + radius2)) {
    return internal::Sign(difference);
  }
  const auto exact_dx = internal::Difference(p.x, circle.center.x);
  const auto exact_dy = internal::Difference(p.y, circle.center.y);
  return (exact_dx * exact_dx + exact_dy * exact_dy - internal::Square(circle.radius)).sign();
}

int CompareDistance(const Segment& segment, const Circle& circle) {
  // The point of the segment nearest to the centre is an end unless the centre projects strictly
  // between the ends. For a segment of length zero both dot products are 0, and the first test
  // compares the distance from the only point of the segment.
  if (DotSignOf(segment.a, circle.center, segment.a, segment.b) <= 0) {
    return CompareDistance(segment.a, circle);
  }
  if (DotSignOf(segment.b, circle.center, segment.a, segment.b) >= 0) {
    return CompareDistance(segment.b, circle);
  }
  return internal::CompareLineDistance(segment, circle);
}

// If the segment and the capsule's axis share no point, their distance is the least of four: each
// end of the segment from the axis, and each end of the axis from the segment.
int CompareDistance(const Segment& segment, const Capsule& capsule) {
  const Segment& axis = capsule.axis;
  const double radius = capsule.radius;
  if (Intersects(segment, axis)) return radius == 0 ? 0 : -1;
  if (radius == 0) return 1;
  int least = CompareDistance(segment, Circle{axis.a, radius});
  if (least >= 0) least = std::min(least, CompareDistance(segment, Circle{axis.b, radius}));
  if (least >= 0) least = std::min(least, CompareDistance(axis, Circle{segment.a, radius}));
  if (least >= 0) least = std::min(least, CompareDistance(axis, Circle{segment.b, radius}));
  return least;
}

}  // namespace carom
