// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a shape from an area?
#pragma once

#include "area/area_finder.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "numeric/expansion.h"

namespace carom::internal {

// A shape grown by a radius above 0: `bounds` contains all points within the radius of `core`.
struct GrownShape {
  const IndexedPolygon& core;
  TwoDoubles radius;
  Box bounds;
};

// Returns the largest magnitude of a coordinate of the eye and of a box.
double LargestCoordinate(Vec2 eye, const Box& box);

// What is added to the radius in doubt: 2^-55 of the largest coordinate of the eye and the shape.
inline constexpr double kReachSlack = 0x1p-55;

// Returns true if an edge of the core is nearer than the radius to the boundary of the area of
// `finder`, whose pieces have been found, if the radius grows by `slack` of the largest coordinate;
// and false if all are farther than that by 2^-57 of this coordinate. Also returns false once the
// meter stops the work. Cost: O(edges * pieces).
bool IsNearBoundary(const AreaFinder& finder, const GrownShape& shape, double slack,
                    WorkMeter& meter);

}  // namespace carom::internal
