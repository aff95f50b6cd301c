// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a vertex from an edge, exactly, and how is the distance compared and rounded?
//
// If two sets of segments share no point, their distance is that of a vertex of one set and an edge
// of the other: an `Approach`. Its squared distance is the rational number N / D. If the point of
// the edge nearest to the vertex is within the edge, N = cross^2 is a polynomial of degree 4 in the
// coordinates, and D = length^2 has degree 2. If the nearest point has doubles as coordinates (an
// end of the edge, or a point of an edge parallel to an axis), N has degree 2 and D = 1. Comparing
// two approaches has degree 6. Bounds of N / D in doubles decide almost all comparisons.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/dyadic.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

// A sum of lengths >= 0, such as two radii and a distance: exactly a + b + c. `c` may be any double
// >= 0, even +inf.
struct LengthSum {
  double a = 0;
  double b = 0;
  double c = 0;

  // Returns the sum with a relative error of at most 2u (u = 2^-53), unless it is infinite.
  double rounded() const { return (a + b) + c; }
};

// A lower and an upper bound of a squared length.
struct Bounds2 {
  double low = 0;
  double high = 0;
};

// Returns bounds of the square of the sum; both bounds are exact if the sum is 0 or +infinity.
inline Bounds2 SquareBounds(const LengthSum& sum) {
  const double square = sum.rounded() * sum.rounded();
  if (square == HUGE_VAL) return {square, square};
  return {square * (1 - 16 * kFilterUnit), square * (1 + 16 * kFilterUnit)};
}

// The pair of a vertex and an edge, with bounds of their squared distance.
struct Approach {
  // Determines the point of `edge` that is nearest to `vertex`.
  Approach(Vec2 vertex, const Segment& edge);

  Vec2 vertex;
  // The edge; or the point of the edge nearest to the vertex, as a segment of length 0, if the
  // coordinates of this point are doubles.
  Segment edge;
  Bounds2 distance2;  // bounds of the squared distance

  bool IsPoint() const { return edge.a == edge.b; }
  // Return the numerator and the denominator of the squared distance, exactly.
  Dyadic Numerator() const;
  Dyadic Denominator() const;
};

// Returns the sign of (distance of a) - (distance of b), where the distance is that between vertex
// and edge. Exact.
int Compare(const Approach& a, const Approach& b);

// Returns the sign of (distance of `approach`) - `sum`. Exact.
int Compare(const Approach& approach, const LengthSum& sum);

// Returns the sign of (distance of the two segments) - `sum`. If the segments share a point, `sum`
// must be above 0. Exact: segments without a common point are nearest at an end of one of them.
int CompareSegments(const Segment& a, const Segment& b, const LengthSum& sum);

// Returns true if (distance of `approach`) <= `sum`. `square` is `SquareBounds(sum)`. Exact.
inline bool IsWithin(const Approach& approach, const LengthSum& sum, const Bounds2& square) {
  if (approach.distance2.low > square.high) return false;
  return approach.distance2.high < square.low || Compare(approach, sum) <= 0;
}

// Returns the double nearest to (distance of `approach`) - (radius_a + radius_b), ties to even. The
// exact value must be above 0. The result depends on the exact value alone: two approaches with
// equal distances give the same bits.
double Clearance(const Approach& approach, double radius_a, double radius_b);

// Returns the point of the edge that is nearest to the vertex, each coordinate within 1.5 ulp of
// the largest coordinate of the edge; exact if the point is an end or the edge is parallel to an
// axis.
Vec2 NearestPoint(const Approach& approach);

// Returns the unit vector from the edge to the vertex, each component within 1 ulp. The distance
// must be above 0.
Vec2 UnitDirection(const Approach& approach);

// Returns origin + length * direction. Each coordinate is within half an ulp of the exact result
// for the given doubles. Never -0.
Vec2 Along(Vec2 origin, Vec2 direction, double length);

// Returns a point that the two segments share; they must share one. It is the first of a.a, a.b,
// b.a, b.b that lies on the other segment, or else the crossing, each coordinate within 1.5 ulp of
// the largest coordinate of `a`.
Vec2 CommonPoint(const Segment& a, const Segment& b);

}  // namespace carom::internal
