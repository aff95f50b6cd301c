// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which axis of two small convex polygons has the minimum penetration? Filters in SIMD lanes
// decide.
//
// The depth of an edge is how far the other polygon reaches past the line of the edge, towards the
// edge's polygon. Computes the depths of all edges of both polygons at once, with a bound of their
// error, as `ContactAxis` does for any small pair of convex shapes. Where more than one edge may be
// the least deep, or the polygons may only touch, `ResolveTies` (fast_ties.h) compares the
// candidate edges exactly.
#pragma once

#include <cstdint>
#include <span>

#include "carom/work_meter.h"
#include "contact/fast_mover.h"
#include "contact/fast_ties.h"
#include "edges/indexed_polygon.h"
#include "index/unowned.h"

namespace carom::internal {

// A polygon of the scene, a moving shape (mover) that may meet it, and the contact axis of the two
// (the normal of the edge past which the other polygon reaches least).
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
  // The scene's entry for the polygon, with the polygon's edge index if it has one; null if the
  // polygon was found in a cell of the scene's grid (cells list polygons without their entries).
  const IndexedPolygon* indexed;
  uint32_t mover;  // index into the argument `movers` of `FindAxes`
  FastAxis axis;
};

// Sets the contact axis (the normal of the edge past which the other polygon reaches least) of each
// pair for which `suits_fast_path` holds and the mover has a size above 0 (is strictly convex and
// small, too). Charges one unit of work for each vertex of both polygons of these pairs. Returns
// false once the meter stops.
bool FindAxes(std::span<FastPair> pairs, const FastMover* movers, WorkMeter& meter);

// Sets the contact axis of a pair of small convex polygons, which `FindAxes` left uncertain, by the
// exact general path, `ContactAxis`. Returns false once the meter stops.
bool FindAxisByGeneralPath(const FastMover& mover, WorkMeter& meter, FastPair& pair);

}  // namespace carom::internal
