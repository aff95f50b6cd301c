// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a vertex from an edge, exactly, and how is that compared, rounded and drawn?
//
// Two sets of segments that share no point are nearest at a vertex of one and an edge of the other:
// an `Approach`. Its squared distance is the rational N / D, with N = cross^2 and D = length^2 of
// degree 4 and 2 where the nearest point is within the edge, and N of degree 2 and D = 1 where it
// is a point of doubles. Comparing two has degree 6. Doubles that bound it decide almost always.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/dyadic.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

// A sum of lengths >= 0, such as two radii and a distance: exactly a + b + c, the last of which may
// be any double, +inf too.
struct LengthSum {
  double a = 0;
  double b = 0;
  double c = 0;

  // Within 2u of the sum, unless it is infinite.
  double rounded() const { return (a + b) + c; }
};

// Bounds of a squared length, from below and from above.
struct Bounds2 {
  double low = 0;
  double high = 0;
};

// Bounds of the squared sum; exact for 0 and +inf.
inline Bounds2 SquareBounds(const LengthSum& sum) {
  const double square = sum.rounded() * sum.rounded();
  if (square == HUGE_VAL) return {square, square};
  return {square * (1 - 16 * kFilterUnit), square * (1 + 16 * kFilterUnit)};
}

struct Approach {
  // The nearest point of `edge` to `vertex`.
  Approach(Vec2 vertex, const Segment& edge);

  Vec2 vertex;
  Segment edge;       // of length 0 where the nearest point is the point `edge.a`
  Bounds2 distance2;  // holds N / D

  bool IsPoint() const { return edge.a == edge.b; }
  // Exact.
  Dyadic Numerator() const;
  Dyadic Denominator() const;
};

// The sign of (distance of a) - (distance of b). Exact.
int Compare(const Approach& a, const Approach& b);

// The sign of (distance of `approach`) - `sum`. Exact.
int Compare(const Approach& approach, const LengthSum& sum);

// The sign of (distance of two segments) - `sum`, which is above 0 unless the segments share no
// point. Exact: apart they are nearest at an end of one of them.
int CompareSegments(const Segment& a, const Segment& b, const LengthSum& sum);

// Whether that is at most 0, given the `SquareBounds` of the sum.
inline bool IsWithin(const Approach& approach, const LengthSum& sum, const Bounds2& square) {
  if (approach.distance2.low > square.high) return false;
  return approach.distance2.high < square.low || Compare(approach, sum) <= 0;
}

// The double nearest to (distance of `approach`) - (radius_a + radius_b), which is above 0; ties to
// even. A function of the exact value alone: approaches that tie give the same bits.
double Clearance(const Approach& approach, double radius_a, double radius_b);

// The point of the edge that is nearest to the vertex, each coordinate within 1.5 ulp of the
// largest coordinate of the edge; exact where it is an end or the edge is parallel to an axis.
Vec2 NearestPoint(const Approach& approach);

// The unit vector from the edge to the vertex, which are apart; each component within 1 ulp.
Vec2 UnitDirection(const Approach& approach);

// origin + length * direction, each coordinate within half an ulp of itself of the exact result for
// the given doubles. Never -0.
Vec2 Along(Vec2 origin, Vec2 direction, double length);

// A point that two segments share, for segments that do: the first of a.a, a.b, b.a, b.b that lies
// on the other segment, else the crossing, each coordinate within 1.5 ulp of the largest of `a`.
Vec2 CommonPoint(const Segment& a, const Segment& b);

}  // namespace carom::internal
