// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from the edges of a small ring, within error bounds, and which edges may be
// nearest?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"

namespace carom::internal {

// Bounds of the distances of a point from the edges of a ring.
struct EdgeBounds {
  // Bounds of the least squared distance. `lower2` is below 0 if the distance may be 0.
  double lower2;
  double upper2;
  uint64_t nearest;  // bit i: edge i may be at the least distance
};

inline constexpr size_t kMostBoundedEdges = 64;

// Returns the bounds for a closed ring of 1 to 64 vertices. Computes in doubles, with the rounding
// error that `PointDistances` derives.
EdgeBounds BoundsOfEdges(std::span<const Vec2> ring, Vec2 point);

}  // namespace carom::internal
