// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker know of its shape, wherever that is?
//
// Lengths about the reference point that hold at any rotation, and for a large polygon circles
// about runs of its edges: turned, a circle is the same circle, so they need no boxes made anew.
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

// The range of sqrt(c^2 + s^2), where |c^2 + s^2 - 1| <= 1e-6 as computed, widened.
inline constexpr double kMostStretch = 1 + 6e-7;
inline constexpr double kLeastStretch = 1 - 6e-7;

// Bounds how far placing errs in each coordinate, beside its stretch, for a shape of this extent
// whose reference point has coordinates of at most `magnitude`: four roundings and a flush.
inline double PlacingError(double magnitude, double extent) {
  return 0x1p-50 * (magnitude + 2 * extent) + 0x1p-139;
}

// Up to eight consecutive edges of a ring, or up to eight nodes.
struct OutlineNode {
  Vec2 center;
  double radius = 0;   // all of it is at most so far from the centre
  uint32_t first = 0;  // edge or node
  uint32_t count = 0;
  bool is_run = false;
};

// Immutable, hence thread-safe.
struct TrackedShape {
  TrackedShape(Shape its_shape, const TrackerOptions& its_options);

  // Whether a way between these poses turns it.
  bool Turns(const Pose& from, const Pose& to) const {
    return extent > 0 && (from.c != to.c || from.s != to.s);
  }

  // About; beside what allocating takes.
  size_t memory_bytes() const;

  Shape shape;
  TrackerOptions options;
  // No point of the shape is farther from the reference point, as described.
  double extent = 0;
  // The disc of this radius about the reference point belongs to the shape, as described; below 0
  // where not even the reference point does for sure.
  double core = -1;
  // Of a polygon. Children come before their parents: the root is the last.
  std::vector<OutlineNode> nodes;
};

}  // namespace carom::internal
