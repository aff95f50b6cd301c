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
#include "shape/place_vertices.h"

namespace carom::internal {

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
  double extent = 0;             // its BoundingRadius (edges/shape_facts.h)
  double inscribed_radius = -1;  // its InscribedRadius
  // Of a polygon. Children come before their parents, so the last one is the root.
  std::vector<OutlineNode> nodes;
};

}  // namespace carom::internal
