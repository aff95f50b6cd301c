// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a shape overlap a polygon, or a round body, in more than touch?
//
// By (1) of blocking_mover.h: does the interior of the shape meet the polygon? For an axis with a
// radius, exactly if a point of the polygon is closer to the axis than the radius. For a ring,
// exactly if one of these holds:
//   * an edge of the polygon crosses one of the ring, or goes on into the interior from a point of
//     the ring: where a vertex of one lies on an edge of the other;
//   * else no edge of the polygon enters the interior, and a ring of the polygon lies in it;
//   * else the interior lies in one face of the polygon, which is filled. The face is the one
//   beside
//     any vertex of the ring.
//
// A round body is its axis and a radius. It is the closure of its interior, as the shape is, so
// that both overlap so exactly if a point of the axis is closer to the shape's than the sum of the
// radii: where two edges are, or a ring has the axis in it.
#pragma once

#include "blocking/blocking_mover.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// As they stand. `fixed` is a polygon, or the axis of a body with that radius. Exact. Meaningless
// once `meter` has stopped.
bool OverlapsInMoreThanTouch(const BlockingMover& mover, const IndexedPolygon& fixed,
                             WorkMeter& meter, double fixed_radius = 0);

// The same of a polygon for a round shape that stands next to the end of a path on which nothing
// overlaps it so, by less than its radius: it cannot stand inside, so that edges decide. Those that
// `axes` are clear of are not near.
bool ComesCloser(const BlockingMover& mover, const IndexedPolygon& fixed, const SweepAxes& axes,
                 WorkMeter& meter);

// The same for the shape displaced by t * d. Exact, and slow.
bool OverlapsInMoreThanTouchAt(const BlockingMover& mover, const Motion& motion, const SweepTime& t,
                               const IndexedPolygon& fixed, WorkMeter& meter);

}  // namespace carom::internal
