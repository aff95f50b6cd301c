// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which axis of two small convex polygons has the minimum penetration? Filters in SIMD lanes
// decide.
//
// The depths of all edges of both polygons are bounded at once, as `ContactAxis` bounds them for
// any small pair. Where more than one edge may be the least deep, or the polygons may only touch,
// `ResolveTies` (fast_ties.h) compares the candidate edges exactly.
#pragma once

#include <cstdint>
#include <span>

#include "carom/work_meter.h"
#include "contact/fast_mover.h"
#include "contact/fast_ties.h"
#include "edges/indexed_polygon.h"
#include "index/unowned.h"

namespace carom::internal {

// A polygon of the scene, a mover that may meet it, and the axis of the pair.
struct FastPair {
  const Polygon& polygon() const { return fixed.get(); }
  Convexity convexity() const { return IndexedPolygon::ConvexityInScene(polygon()); }
  bool is_clockwise() const { return convexity() == Convexity::kStrictClockwise; }
  // Returns whether the polygon is strictly convex and small enough for `FindAxes`.
  bool suits_fast_path() const {
    return (convexity() == Convexity::kStrict || is_clockwise()) &&
           polygon().vertex_count() <= kMostFastVertices;
  }

  Unowned<Polygon> fixed;
  const IndexedPolygon* indexed;  // the scene's entry of `fixed`; null if a cell gave the polygon
  uint32_t mover;                 // index into the movers of `FindAxes`
  FastAxis axis;
};

// Sets the axes of the pairs with a polygon that suits the fast path and a mover of a size above 0.
// Charges one unit of work for each vertex. Returns false once the meter stops.
bool FindAxes(std::span<FastPair> pairs, const FastMover* movers, WorkMeter& meter);

// Sets the axis of a pair that suits the fast path by `ContactAxis`, the general path. Returns
// false once the meter stops.
bool FindAxisByGeneralPath(const FastMover& mover, WorkMeter& meter, FastPair& pair);

}  // namespace carom::internal
