// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The data of a moving polygon that do not depend on its pose: the edge index and the bounding
// circle.
//
// The edges are indexed once for all poses, in the polygon's own frame (before placing). A query
// about the polygon at a pose is transformed into the polygon's own frame and widened by the
// rounding errors. The index finds the edges that may meet the query, and only these edges are
// placed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "edges/edge_index.h"
#include "shape/place_vertices.h"

namespace carom::internal {

// Transforms queries from the world, where a polygon has a pose, into the polygon's own coordinate
// system (before placing, that is, before the pose transforms the vertices).
class LocalFrame {
 public:
  // Makes the frame of a polygon whose vertices are at their places in the world already: no
  // transformation.
  LocalFrame() = default;
  // Makes the frame of a polygon at `pose`. `extent` bounds the magnitudes of the polygon's
  // coordinates before placing.
  LocalFrame(const Pose& pose, double extent)
      : pose_(pose),
        error_(3 * PlacingError(std::max(std::abs(pose.position.x), std::abs(pose.position.y)),
                                2 * extent)) {}

  // Returns a condition on edges of the polygon before placing. It holds for every edge that, once
  // placed, can meet `segment`, which is in the world.
  MeetsSegment Meeting(const Segment& segment) const;
  // Returns a box in the world that contains, once placed, every edge of the polygon that is in
  // `box` before placing.
  Box Placed(const Box& box) const { return PlacedBounds(pose_, box); }

 private:
  Pose pose_;
  double error_ = 0;
};

// Returns the greatest magnitude of a coordinate of the polygon's vertices.
inline double ExtentOf(const Polygon& polygon) {
  const Box& box = polygon.bounds();
  return std::max({-box.min.x, -box.min.y, box.max.x, box.max.y});
}

// The edge index and the bounding circle of a moving polygon, computed at their first use and kept
// for all poses. Not thread-safe. The polygon must outlive the `Outline`.
class Outline {
 public:
  explicit Outline(const Polygon& polygon) : polygon_(&polygon) {}

  const Polygon& polygon() const { return *polygon_; }
  // Returns the index of the polygon's edges, which the first call builds in O(n). The polygon must
  // have at least one edge.
  const EdgeIndex& edges();
  // Returns a box that contains the polygon at `pose`, rounded outward. O(1), but the second call
  // on an `Outline` takes O(n) for the bounding circle.
  Box PlacedBounds(const Pose& pose);

 private:
  const Polygon* polygon_;
  std::optional<EdgeIndex> edges_;
  Vec2 center_;         // the centre of a circle around all vertices, before placing
  double radius_ = -1;  // the radius of that circle; below 0 before it is computed
  bool is_used_ = false;
};

// Caches the outlines of the polygons of a batch: polygon i uses slot i modulo 16, and evicts the
// outline of another polygon from that slot.
class Outlines {
 public:
  // Returns the outline of `polygon`, which is `polygons[i]` of the batch: a polygon must stay
  // unchanged at its address until `Clear`.
  Outline& Of(const Polygon& polygon, size_t i) {
    std::optional<Outline>& outline = outlines_[i % outlines_.size()];
    if (!outline || &outline->polygon() != &polygon) outline.emplace(polygon);
    return *outline;
  }
  void Clear() {
    for (std::optional<Outline>& outline : outlines_) outline.reset();
  }

 private:
  std::array<std::optional<Outline>, 16> outlines_;
};

}  // namespace carom::internal
