// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far apart are two boxes, at least and at most, and which box contains a box and a margin
// around it?
//
// Each gap (the difference of a coordinate of one box and a coordinate of the other) is rounded
// once, with a relative error of at most u = 2^-53 (kUnit). So the sum of the squared gaps has a
// relative error of at most 5u; the factors 1 - 8u and 1 + 8u cover that error and their own
// rounding. All coordinates are accepted (0 or a magnitude in [2^-140, 2^53]), so that no square
// underflows or overflows.
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"

namespace carom::internal {

// Returns the squared distance of the boxes, with a relative error of at most 5u (u = 2^-53,
// kUnit); exactly 0 if the boxes share a point.
inline double RoundedDistance2(const Box& a, const Box& b) {
  const double dx = std::max({0.0, a.min.x - b.max.x, b.min.x - a.max.x});
  const double dy = std::max({0.0, a.min.y - b.max.y, b.min.y - a.max.y});
  return dx * dx + dy * dy;
}

// Returns a lower bound of the squared distance between any point of `a` and any point of `b`.
inline double LowerDistance2(const Box& a, const Box& b) {
  return RoundedDistance2(a, b) * (1 - 8 * kUnit);
}

// Returns an upper bound of the squared distance between any point of `a` and any point of `b`.
inline double UpperDistance2(const Box& a, const Box& b) {
  const double dx = std::max(a.max.x - b.min.x, b.max.x - a.min.x);
  const double dy = std::max(a.max.y - b.min.y, b.max.y - a.min.y);
  return (dx * dx + dy * dy) * (1 + 8 * kUnit);
}

// Returns a box that holds all points within `margin` >= 0 of `box`: each side is rounded once and
// then moved outward to the next double, past the rounding error.
inline Box Grown(const Box& box, double margin) {
  if (margin == 0) return box;
  return {{NextBelow(box.min.x - margin), NextBelow(box.min.y - margin)},
          {NextAbove(box.max.x + margin), NextAbove(box.max.y + margin)}};
}

}  // namespace carom::internal
