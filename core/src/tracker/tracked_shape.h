// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker know of its shape, wherever that is?
//
// Lengths about the reference point that hold at any rotation, and for a polygon a tree of circles
// about runs of its edges. A box would have to be made anew for each rotation; a circle turns into
// an equal circle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/tracker.h"
#include "numeric/lanes.h"

namespace carom::internal {

// The range of the factor sqrt(c^2 + s^2) by which an accepted rotation stretches lengths. From
// |c^2 + s^2 - 1| <= 1e-6 follows |factor - 1| <= 5.1e-7; the rest is for the rounding of the
// check.
inline constexpr double kMostStretch = 1 + 6e-7;
inline constexpr double kLeastStretch = 1 - 6e-7;

// Bounds how far placing errs in each coordinate, beside its stretch, for a shape of this extent
// whose reference point has coordinates of at most `magnitude`. In (c u - s v) + x, two products
// and their difference err by 2^-53 times 4 extents at most, the sum by 2^-53 times the magnitude
// and 2 extents; a result below 2^-140 is read as 0. The bound has 8 times 2^-53 for all of them,
// which covers its own rounding too.
inline double PlacingError(double magnitude, double extent) {
  return 0x1p-50 * (magnitude + 2 * extent) + 0x1p-139;
}

// A circle about up to eight consecutive edges of a ring (a run), or about up to eight nodes.
struct OutlineNode {
  Vec2 center;
  double radius = 0;   // no point of it is farther from the centre, as described
  uint32_t first = 0;  // edge or node
  uint32_t count = 0;
  bool is_run = false;
};

// Immutable, hence thread-safe.
struct TrackedShape {
  TrackedShape(Shape its_shape, const TrackerOptions& its_options);

  // Whether a path between these poses turns the shape. Without an extent it is a point at the
  // reference point, which no rotation moves.
  bool Turns(const Pose& from, const Pose& to) const {
    return extent > 0 && (from.c != to.c || from.s != to.s);
  }

  // About, without what the allocator adds.
  size_t memory_bytes() const;

  Shape shape;
  TrackerOptions options;
  double extent = 0;             // its BoundingRadius (index/shape_facts.h)
  double inscribed_radius = -1;  // its InscribedRadius
  // Of a polygon. Children come before their parents, so the last one is the root.
  std::vector<OutlineNode> nodes;
};

}  // namespace carom::internal
