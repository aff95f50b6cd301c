// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far are two boxes apart, at least and at most?
//
// The gaps of the sides are rounded once each (within u, kUnit), so the sums of their squares are
// within 4u of the exact ones; the factors cover twice that. Accepted coordinates only.
#pragma once

#include <algorithm>

#include "carom/geometry.h"
#include "numeric/exact.h"

namespace carom::internal {

// At most the squared distance of any point of one box from any point of the other.
inline double LowerDistance2(const Box& a, const Box& b) {
  const double dx = std::max({0.0, a.min.x - b.max.x, b.min.x - a.max.x});
  const double dy = std::max({0.0, a.min.y - b.max.y, b.min.y - a.max.y});
  return (dx * dx + dy * dy) * (1 - 8 * kUnit);
}

// At least the squared distance of two points that lie in the boxes anywhere.
inline double UpperDistance2(const Box& a, const Box& b) {
  const double dx = std::max(a.max.x - b.min.x, b.max.x - a.min.x);
  const double dy = std::max(a.max.y - b.min.y, b.max.y - a.min.y);
  return (dx * dx + dy * dy) * (1 + 8 * kUnit);
}

}  // namespace carom::internal
