// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which obstacles may a moving shape meet? Polygons of the scene and bodies.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/hit_collector.h"
#include "carom/bodies.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "index/box_traversal.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {

// An obstacle for a moving shape: a reference to a polygon of the scene, or to a body, which must
// outlive the reference. A round body has a radius, and is all points within the radius of its
// axis.
struct Obstacle {
  // the polygon of the scene, the polygon of a body, or the axis of a round body
  const IndexedPolygon* core = nullptr;
  const Body* body = nullptr;  // null for a polygon of the scene

  double radius() const { return body == nullptr ? 0 : body->radius(); }
  bool is_round() const { return radius() > 0; }
  HitSource source() const {
    if (body != nullptr) return {true, body->index()};
    return {false, core->polygon().id()};
  }

  friend bool operator==(const Obstacle& a, const Obstacle& b) { return a.core == b.core; }
};

// Sorts obstacles (scene polygons before bodies) by the id of the polygon or the index of the body,
// so that results do not depend on the order of visits.
void SortBySource(std::vector<Obstacle>& obstacles);

// Visits the polygons of the scene and the bodies that pass the filter of a query. Not thread-safe.
class Obstacles {
 public:
  using Visit = std::function<bool(const Obstacle&)>;

  explicit Obstacles(const World& world) : world_(world) {}

  // Sets which polygons and bodies later calls visit.
  void SetFilter(const QueryFilter& query_filter) { query_filter_ = query_filter; }

  // Calls visit(obstacle) once for each obstacle that passes the filter and has a bounding box that
  // meets `reach` (a region that a moving box passes over), and perhaps for other obstacles that
  // pass the filter. Stops when `visit` returns false or the meter stops.
  void VisitNear(const SweptBox& reach, WorkMeter& meter, const Visit& visit) const;

 private:
  template <class Use>
  void VisitPolygonsAt(const Box& box, WorkMeter& meter, const Use& visit) const;

  const World world_;
  QueryFilter query_filter_;
  const FindPolygonsFunction find_polygons_ = FindPolygons();
};

}  // namespace carom::internal
