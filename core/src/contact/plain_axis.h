// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The axis of minimum penetration of small convex polygons, where filters can decide.
//
// All edges of both are bounded at once, in lanes, as `ContactAxis` bounds those of any small pair.
// Where more than one edge may be the least deep, or the two may only touch, the edges that are
// left are compared exactly (plain_ties.h).
#pragma once

#include <cstdint>
#include <span>

#include "carom/work_meter.h"
#include "contact/plain_mover.h"
#include "contact/plain_ties.h"
#include "edges/indexed_polygon.h"
#include "index/unowned.h"

namespace carom::internal {

// A polygon of the scene and a mover that may meet it.
struct PlainPair {
  const Polygon& polygon() const { return fixed.get(); }
  Convexity convexity() const { return IndexedPolygon::ConvexityInScene(polygon()); }
  bool is_clockwise() const { return convexity() == Convexity::kStrictClockwise; }
  // Whether the polygon can be the fixed one of an axis that is looked for here.
  bool is_plain() const {
    return (convexity() == Convexity::kStrict || is_clockwise()) &&
           polygon().vertex_count() <= kMostPlainVertices;
  }

  Unowned<Polygon> fixed;
  const IndexedPolygon* indexed;  // the same, null where only the polygon is known
  uint32_t mover;                 // its number
  PlainAxis axis;
};

// Sets the axes of the pairs with polygons that are plain and movers of a size that is not 0. Each
// vertex is a unit of work. Returns false once the meter stops.
bool FindAxes(std::span<PlainPair> pairs, const PlainMover* movers, WorkMeter& meter);

// Sets the axis of one pair, which is plain, by `ContactAxis`. Returns false once the meter stops.
bool FindAxisAlone(const PlainMover& mover, WorkMeter& meter, PlainPair& pair);

}  // namespace carom::internal
