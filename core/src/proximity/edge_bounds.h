// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from the edges of a small ring, to within a bound, and which may be nearest?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"

namespace carom::internal {

struct EdgeBounds {
  // Bounds of the least squared distance; below 0 where that may be 0.
  double lower2;
  double upper2;
  uint64_t nearest;  // bit i: edge i may be at the least distance
};

inline constexpr size_t kMostBoundedEdges = 64;

// For a closed ring of 1 to 64 vertices. In plain doubles, with the error that `PointDistances`
// derives.
EdgeBounds BoundsOfEdges(std::span<const Vec2> ring, Vec2 point);

}  // namespace carom::internal
