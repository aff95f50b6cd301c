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

void Obstacles::VisitNear(const SweptBox& reach, WorkMeter& meter, const Visit& visit) const {
  bool goes_on = true;
  const auto visit_polygon = [&](const IndexedPolygon& polygon) {
    goes_on = visit({&polygon, nullptr});
    return goes_on;
  };
  const auto may_meet = [&](const Box& box) { return reach.MayMeet(box); };
  if (considered_.scene && reach.is_short()) {
    VisitPolygons(world_.scene, considered_.mask, meter, MeetsBox{reach.reach()}, visit_polygon);
  } else if (considered_.scene) {
    VisitPolygons(world_.scene, considered_.mask, meter, may_meet, visit_polygon);
  }
  if (!goes_on) return;
  VisitBodies(world_, considered_, meter, may_meet, [&](Body& body) {
    return visit({&body.core(), &body});
  });
}

}  // namespace carom::internal
