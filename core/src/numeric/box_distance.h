// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far apart are two boxes, at least and at most, and which box holds a box and a margin around
// it?
//
// Each gap between sides is rounded once (within u, kUnit), so the sum of the squared gaps is
// within 5u of the exact sum, relatively; the factors 1 - 8u and 1 + 8u cover more. All coordinates
// are accepted ones.
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"

namespace carom::internal {

// Returns the squared distance of the boxes with a relative error of at most 5u; exactly 0 if the
// boxes share a point.
inline double RoundedDistance2(const Box& a, const Box& b) {
  const double dx = std::max({0.0, a.min.x - b.max.x, b.min.x - a.max.x});
  const double dy = std::max({0.0, a.min.y - b.max.y, b.min.y - a.max.y});
  return dx * dx + dy * dy;
}

// Returns a lower bound of the squared distance of any point of `a` from any point of `b`.
inline double LowerDistance2(const Box& a, const Box& b) {
  return RoundedDistance2(a, b) * (1 - 8 * kUnit);
}

// Returns an upper bound of the squared distance of any point of `a` from any point of `b`.
inline double UpperDistance2(const Box& a, const Box& b) {
  const double dx = std::max(a.max.x - b.min.x, b.max.x - a.min.x);
  const double dy = std::max(a.max.y - b.min.y, b.max.y - a.min.y);
  return (dx * dx + dy * dy) * (1 + 8 * kUnit);
}

// Returns a box that holds all points within `margin` >= 0 of `box`: each side is rounded once and
// then moved outward by one double, past the rounding error.
inline Box Grown(const Box& box, double margin) {
  if (margin == 0) return box;
  return {{NextBelow(box.min.x - margin), NextBelow(box.min.y - margin)},
          {NextAbove(box.max.x + margin), NextAbove(box.max.y + margin)}};
}

}  // namespace carom::internal
