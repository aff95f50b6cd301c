// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which facts about a tracked shape hold at every pose?
//
// The facts are lengths from the reference point that hold at any rotation and, for a polygon, a
// tree of bounding circles about runs of its edges. A bounding box would have to be computed again
// for each rotation; a rotation turns a circle into an equal circle.
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

// A node of the tree of bounding circles of a polygon. A leaf (a run) is a circle about up to eight
// consecutive edges of a ring; an inner node is a circle about the circles of up to eight nodes.
struct OutlineNode {
  Vec2 center;
  // Upper bound of the distances of all points of the edges of this node from the centre, in the
  // coordinates of the shape before it is placed at a pose.
  double radius = 0;
  // The index of the first edge (of a run) or of the first child (of an inner node); the other
  // edges or children follow it.
  uint32_t first = 0;
  uint32_t count = 0;
  bool is_run = false;
};

// A tracked shape, its options, and the facts about it that hold at every pose. Immutable, hence
// thread-safe.
struct TrackedShape {
  TrackedShape(Shape its_shape, const TrackerOptions& its_options);

  // Returns whether a path from the pose `from` to the pose `to` turns the shape. A shape of extent
  // 0 is a single point at the reference point, about which shapes turn, so no rotation changes it.
  bool Turns(const Pose& from, const Pose& to) const {
    return extent > 0 && (from.c != to.c || from.s != to.s);
  }

  // Returns about how many bytes this object, its polygon and its tree of circles take in all,
  // without the overhead of the allocator.
  size_t memory_bytes() const;

  Shape shape;
  TrackerOptions options;
  // The greatest distance of a point of the shape from its reference point (`BoundingRadius` in
  // edges/shape_facts.h).
  double extent = 0;
  // The radius of a disc about the reference point that the shape contains (`InscribedRadius` in
  // edges/shape_facts.h); below 0 if the shape does not contain this point.
  double inscribed_radius = -1;
  // The tree of bounding circles of a polygon; empty for a capsule. Children precede their parents,
  // so the last node is the root.
  std::vector<OutlineNode> nodes;
};

}  // namespace carom::internal
