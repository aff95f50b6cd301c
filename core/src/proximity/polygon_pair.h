// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Do two polygons share a point, and at which edges?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "index/indexed_polygon.h"
#include "index/placed_shape.h"

namespace carom::internal {

// Up to eight edges, their boxes in columns.
class EdgeCluster {
 public:
  bool empty() const { return count_ == 0; }
  std::span<const Segment> edges() const { return {edges_, count_}; }
  bool full() const { return count_ == kLanes; }
  // Smallest that holds the edges.
  const Box& box() const { return box_; }

  void Clear() {
    count_ = 0;
    box_ = {};
  }
  // `box` is the edge's. The cluster is not full.
  void Add(const Segment& edge, const Box& box);
  // The first of the edges that shares a point with `edge`. Counts the pairs that are tested.
  std::optional<size_t> FirstMeeting(const Segment& edge, WorkMeter& meter) const;
  bool Meets(const Segment& edge, WorkMeter& meter) const {
    return FirstMeeting(edge, meter).has_value();
  }

 private:
  Segment edges_[kLanes];
  Doubles min_x_{}, min_y_{}, max_x_{}, max_y_{};
  Box box_;
  size_t count_ = 0;
};

// A moving polygon against one polygon of the scene. Once the meter has stopped, answers are
// meaningless.
class PolygonPair {
 public:
  PolygonPair(const IndexedPolygon& fixed, MovingShape& moving, WorkMeter& meter)
      : fixed_(fixed), moving_(moving), meter_(meter) {}

  // Where no edges meet, every ring of either lies in one face of the other, so one vertex a ring
  // decides.
  bool Overlap();

  // Appends the fixed edges that share a point with the moving polygon, ascending.
  void AppendEdges(std::vector<EdgeRef>& edges);

 private:
  bool HoldsMovingRing();
  bool DoEdgesMeet();
  bool DoNearEdgesMeet(std::span<const Segment> near);
  bool DoManyEdgesMeet();
  bool MeetsFixedEdge(const EdgeCluster& cluster);
  // Whether an edge of `polygon` shares a point with `edge`.
  bool MeetsEdgeOf(const IndexedPolygon& polygon, const Segment& edge);

  const IndexedPolygon& fixed_;
  MovingShape& moving_;
  WorkMeter& meter_;
};

}  // namespace carom::internal
