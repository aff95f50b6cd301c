// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which facts about a tracked shape hold at every pose?
//
// Lengths from the reference point that hold at any rotation, and for a polygon a tree of circles
// about runs of its edges. A box would have to be computed again for each rotation; a circle turns
// into an equal circle.
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

// A circle about up to eight consecutive edges of a ring (a run), or about the circles of up to
// eight nodes.
struct OutlineNode {
  Vec2 center;
  double radius = 0;   // bound of the distance of its points from the centre, as described
  uint32_t first = 0;  // the first edge, or the first child node
  uint32_t count = 0;
  bool is_run = false;
};

// A shape, and the facts about it. Immutable, hence thread-safe.
struct TrackedShape {
  TrackedShape(Shape its_shape, const TrackerOptions& its_options);

  // Returns whether a path between these poses turns the shape. A shape without extent is a point
  // at the reference point, which no rotation moves.
  bool Turns(const Pose& from, const Pose& to) const {
    return extent > 0 && (from.c != to.c || from.s != to.s);
  }

  // Returns about how many bytes the shape takes, without the overhead of the allocator.
  size_t memory_bytes() const;

  Shape shape;
  TrackerOptions options;
  double extent = 0;             // BoundingRadius of the shape (edges/shape_facts.h)
  double inscribed_radius = -1;  // InscribedRadius of the shape
  // The outline of a polygon. Children come before their parents, so the last node is the root.
  std::vector<OutlineNode> nodes;
};

}  // namespace carom::internal
