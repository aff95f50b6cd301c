// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is the boundary of an area, to the nearest double?
//
// A point of the boundary is the eye, or the farthest visible point in a direction from one side:
// an end of an edge, the point where an edge crosses the circle of the range, another point of an
// edge, or the point of the circle in a direction. Each coordinate is (a + b sqrt(d)) / e in dyadic
// numbers. It is computed in pairs of doubles with a bound on the error, and exactly where the
// bound leaves the nearest double undecided. So the result is a function of the point alone.
#pragma once

#include <cstdint>

#include "area/direction.h"
#include "carom/geometry.h"
#include "numeric/double_double.h"

namespace carom::internal {

// A point of the boundary. kEye: the eye. kVertex, kCircle: where the direction `at` of this kind
// leads to. kEdge: the point of the edge `edge` in the direction `at`. kArc: the point of the
// circle in the direction `at`. If `is_any`, then `at` is any one of several equal directions, and
// the point is computed exactly, so that it does not matter which.
enum class PlaceKind : uint8_t { kEye, kVertex, kCircle, kEdge, kArc };
struct Place {
  PlaceKind kind = PlaceKind::kEye;
  uint32_t edge = 0;
  EyeDirection at;
  bool is_any = false;
};

// A point: its vector from the eye in pairs of doubles, with an error of at most 2^-60 of its
// length (2^-70 of it in almost all cases), and its coordinates, each rounded to the nearest
// double.
struct PlacedPoint {
  PairVector from_eye;
  Vec2 rounded;
  bool is_exact;  // `rounded` is the exact point, as for a vertex
};

// Returns the place in which a span of the owner `owner` has its begin (`end` 0) or its end (1) at
// the direction `at`, which is on the span's side of the cut.
Place PlaceOf(const Eye& eye, uint32_t owner, const EyeDirection& at, uint8_t end);

// Returns whether two places in the same direction are the same point. Exact.
bool AreEqual(const Eye& eye, const Place& a, const Place& b);

PlacedPoint PointOf(const Eye& eye, const Place& place);

// Return the cross product and the dot product of vectors in pairs of doubles.
inline TwoDoubles CrossOf(const PairVector& a, const PairVector& b) {
  return Subtract(Multiply(a.x, b.y), Multiply(a.y, b.x));
}
inline TwoDoubles DotOf(const PairVector& a, const PairVector& b) {
  return Add(Multiply(a.x, b.x), Multiply(a.y, b.y));
}

}  // namespace carom::internal
