// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far are two boxes apart, at least and at most, and which box holds one that grows?
//
// The gaps of the sides are rounded once each (within u, kUnit), so the sums of their squares are
// within 5u of the exact ones; the factors cover more. Accepted coordinates only.
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"

namespace carom::internal {

// The squared distance of the boxes, within 5u; 0 exactly if they share a point.
inline double RoundedDistance2(const Box& a, const Box& b) {
  const double dx = std::max({0.0, a.min.x - b.max.x, b.min.x - a.max.x});
  const double dy = std::max({0.0, a.min.y - b.max.y, b.min.y - a.max.y});
  return dx * dx + dy * dy;
}

// At most the squared distance of any point of one box from any point of the other.
inline double LowerDistance2(const Box& a, const Box& b) {
  return RoundedDistance2(a, b) * (1 - 8 * kUnit);
}

// At least the squared distance of two points that lie in the boxes anywhere.
inline double UpperDistance2(const Box& a, const Box& b) {
  const double dx = std::max(a.max.x - b.min.x, b.max.x - a.min.x);
  const double dy = std::max(a.max.y - b.min.y, b.max.y - a.min.y);
  return (dx * dx + dy * dy) * (1 + 8 * kUnit);
}

// Holds all points within `margin` >= 0 of the box: one rounding a side, stepped past.
inline Box Grown(const Box& box, double margin) {
  if (margin == 0) return box;
  return {{NextBelow(box.min.x - margin), NextBelow(box.min.y - margin)},
          {NextAbove(box.max.x + margin), NextAbove(box.max.y + margin)}};
}

}  // namespace carom::internal
