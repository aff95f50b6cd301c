// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Do two polygons share a point, and at which edges?
#pragma once

#include <cstddef>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/edge_cluster.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"

namespace carom::internal {

// Compares a moving polygon (the query's shape) with one polygon of the scene, the fixed polygon.
// Results are meaningless once `meter` has stopped the work.
class PolygonPair {
 public:
  PolygonPair(const IndexedPolygon& fixed, MovingShape& moving, WorkMeter& meter)
      : fixed_(fixed), moving_(moving), meter_(meter) {}

  // Returns whether the polygons share a point. If no edges meet, every ring of either polygon is
  // inside or outside of the other polygon as a whole, so testing one vertex of each ring decides.
  bool Overlap();

  // Appends the edges of the fixed polygon that share a point with the solid moving polygon,
  // ascending.
  void AppendEdges(std::vector<EdgeRef>& edges);

 private:
  // The edges of the fixed polygon near the moving polygon.
  struct Near;

  bool HoldsMovingRing();
  bool HoldsFixedRing();
  bool is_small() const;
  bool DoNearEdgesMeet(const Near& near);
  bool DoesAnyEdgeMeet(const Near& near);
  bool DoManyEdgesMeet();
  bool MeetsMovingEdge(const Segment& fixed_edge, const LaneBox& box);
  bool MeetsFixedEdge(const EdgeCluster& cluster);
  // Returns whether an edge of `polygon` shares a point with `edge`.
  bool MeetsEdgeOf(const IndexedPolygon& polygon, const Segment& edge);

  const IndexedPolygon& fixed_;
  MovingShape& moving_;
  WorkMeter& meter_;
};

}  // namespace carom::internal
