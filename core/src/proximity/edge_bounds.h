// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from the edges of a ring of at most 64 vertices, within error bounds, and
// which edges may be nearest?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"

namespace carom::internal {

// Bounds of the distances of a point from the edges of a ring.
struct EdgeBounds {
  // Bounds of the squared distance of the nearest edge. `lower2` is at most 0 if the distance may
  // be 0.
  double lower2;
  double upper2;
  uint64_t nearest;  // bit i: edge i may be at the least distance
};

inline constexpr size_t kMostBoundedEdges = 64;

// Returns the bounds for a closed ring of 1 to 64 vertices. Computes in doubles, with a margin for
// the rounding error that shape/point_distances.h derives.
EdgeBounds BoundsOfEdges(std::span<const Vec2> ring, Vec2 point);

}  // namespace carom::internal
