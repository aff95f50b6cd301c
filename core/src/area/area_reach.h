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

// Returns true if an edge of `core` is nearer than `radius` to the boundary of the area of `finder`,
// whose pieces have been found; and false if all are farther than `radius` and 2^-54 of the largest
// coordinate of the eye and of `bounds`, which contains all points within `radius` of `core`. Also
// returns false once the meter stops the work. Cost: O(edges near the eye * pieces).
bool IsNearBoundary(const AreaFinder& finder, const IndexedPolygon& core, TwoDoubles radius,
                    const Box& bounds, WorkMeter& meter);

}  // namespace carom::internal
