// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/obstacle.h"

#include <algorithm>

#include "index/scene_traversal.h"
#include "shape/meets_box.h"

namespace carom::internal {

void SortBySource(std::vector<Obstacle>& obstacles) {
  std::sort(obstacles.begin(), obstacles.end(),
            [](const Obstacle& a, const Obstacle& b) { return a.source() < b.source(); });
}

// Calls `visit` for the polygons with boxes that meet `box`. If `find_polygons_` finds that only
// few polygons are near the box, visits the polygons found; else traverses the scene's index.
template <class Use>
void Obstacles::VisitPolygonsAt(const Box& box, WorkMeter& meter, const Use& visit) const {
  const MeetsBox meets{box};
  BoxQuery query;
  query.reach = box;
  query.is_active = true;
  FindTiles(world_.scene.index(), {&query, 1});
  NearPolygons few;
  if (!find_polygons_(query, few)) {
    return VisitPolygons(world_.scene, query_filter_.mask, meter, meets, visit);
  }
  if (!meter.Spend(query.boxes + few.boxes)) return;
  for (size_t i = 0; i < few.count; ++i) {
    const Polygon& polygon = few.polygons[i]->polygon();
    if ((polygon.category() & query_filter_.mask) == 0 || !meets(polygon.bounds())) continue;
    if (!visit(*few.polygons[i]) || meter.stopped()) return;
  }
}

void Obstacles::VisitNear(const SweptBox& reach, WorkMeter& meter, const Visit& visit) const {
  bool goes_on = true;
  const auto visit_polygon = [&](const IndexedPolygon& polygon) {
    goes_on = visit({&polygon, nullptr});
    return goes_on;
  };
  const auto may_meet = [&](const Box& box) { return reach.MayMeet(box); };
  if (query_filter_.scene && reach.is_short()) {
    VisitPolygonsAt(reach.reach(), meter, visit_polygon);
  } else if (query_filter_.scene) {
    VisitPolygons(world_.scene, query_filter_.mask, meter, may_meet, visit_polygon);
  }
  if (!goes_on) return;
  VisitBodies(world_, query_filter_, meter, may_meet, [&](Body& body) {
    return visit({&body.core(), &body});
  });
}

}  // namespace carom::internal
