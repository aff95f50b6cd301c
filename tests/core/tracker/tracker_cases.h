// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes of boxes, a disc that moves among them, and one batch of its moves.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"

namespace carom::testing {

inline Scene::Ptr SceneOf(std::vector<PolygonSpec> specs) {
  std::vector<Polygon> polygons;
  for (PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(std::move(spec)).value());
  return Scene::Create(std::move(polygons)).value();
}

inline PolygonSpec BoxSpec(uint64_t id, Vec2 min, Vec2 max) {
  return {id, {{{min, {max.x, min.y}, max, {min.x, max.y}}}}};
}

inline Tracker UnitDisc() {
  return Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()).value();
}

inline MoveAnswers MoveTo(const Scene& scene, std::vector<Tracker>& trackers, std::vector<double> x,
                          std::vector<double> y, const MoveOptions& options = {}) {
  MoveAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(MoveTrackers(scene, {trackers, {}, x, y}, options, answers, meter));
  return answers;
}

}  // namespace carom::testing
