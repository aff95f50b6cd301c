// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is known of a moving polygon wherever it stands, kept from pose to pose.
//
// Its edges are indexed as they are described, once for all poses. A question about some place is
// taken back into the polygon's own frame, widened by what rounds, and the index finds the edges
// that may be there: only these are placed.
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

// From where a polygon stands back to where it is described.
class FrameOf {
 public:
  // Of a polygon that is described as it stands.
  FrameOf() = default;
  // `extent` bounds the coordinates of the polygon as described, in magnitude.
  FrameOf(const Pose& pose, double extent)
      : pose_(pose),
        error_(3 * PlacingError(std::max(std::abs(pose.position.x), std::abs(pose.position.y)),
                                2 * extent)) {}

  // What an edge of the polygon as described has to meet so that, placed, it can meet `segment`.
  MeetsSegment Meeting(const Segment& segment) const;
  // Holds what an edge in the box, which is of the polygon as described, is once it is placed.
  Box Placed(const Box& box) const { return ReachOf(pose_, box); }

 private:
  Pose pose_;
  double error_ = 0;
};

// The greatest coordinate of the polygon, in magnitude.
inline double ExtentOf(const Polygon& polygon) {
  const Box& box = polygon.bounds();
  return std::max({-box.min.x, -box.min.y, box.max.x, box.max.y});
}

// Not thread-safe. The polygon outlives it.
class Outline {
 public:
  explicit Outline(const Polygon& polygon) : polygon_(&polygon) {}

  const Polygon& polygon() const { return *polygon_; }
  // Made when it is asked for first, in O(n). For polygons that have an edge.
  const EdgeIndex& edges();
  // Holds the polygon at the pose, rounded outward. O(1), but O(n) at the second of all poses.
  Box ReachOf(const Pose& pose);

 private:
  const Polygon* polygon_;
  std::optional<EdgeIndex> edges_;
  Vec2 center_;         // of the circle about all vertices
  double radius_ = -1;  // below 0 before it is known
  bool is_used_ = false;
};

// The outlines of a batch's polygons, as many as fit.
class Outlines {
 public:
  // That of `polygons[i]`, which is the same polygon until `Clear`.
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
