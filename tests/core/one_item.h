// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Batches of one item, for tests that ask one question at a time.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "carom/cast.h"
#include "carom/locate.h"
#include "carom/overlap.h"

namespace carom::testing {

inline CastAnswers CastOne(const Scene& scene, const carom::Segment& s,
                           const CastOptions& options = {}) {
  CastAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastSegments(scene, {{&s.a.x, 1}, {&s.a.y, 1}, {&s.b.x, 1}, {&s.b.y, 1}}, options,
                           answers, meter));
  return answers;
}

inline CastAnswers CastOne(const Scene& scene, const carom::Ray& ray,
                           const CastOptions& options = {}) {
  CastAnswers answers;
  WorkMeter meter;
  const RayColumns rays{{&ray.origin.x, 1},    {&ray.origin.y, 1}, {&ray.direction.x, 1},
                        {&ray.direction.y, 1}, {&ray.t_min, 1},    {&ray.t_max, 1}};
  EXPECT_TRUE(CastRays(scene, rays, options, answers, meter));
  return answers;
}

// Where `p` is in the only polygon of `scene`.
inline Location LocateOne(const Scene& scene, Vec2 p) {
  LocateAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(LocatePoints(scene, {{&p.x, 1}, {&p.y, 1}}, kEveryCategory, answers, meter));
  return answers.locations.empty() ? Location::kOutside : answers.locations[0];
}

inline OverlapAnswers OverlapOne(const Scene& scene, const Circle& circle,
                                 const OverlapOptions& options = {}) {
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapCircles(scene,
                             {{&circle.center.x, 1}, {&circle.center.y, 1}, {&circle.radius, 1}},
                             options, answers, meter));
  return answers;
}

inline OverlapAnswers OverlapOne(const Scene& scene, const Polygon& shape, Vec2 at = {},
                                 const OverlapOptions& options = {}) {
  PolygonColumns columns;
  columns.shapes = {&shape, 1};
  columns.x = {&at.x, 1};
  columns.y = {&at.y, 1};
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapPolygons(scene, columns, options, answers, meter));
  return answers;
}

}  // namespace carom::testing
