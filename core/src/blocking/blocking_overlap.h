// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a shape overlap a polygon, or a round body, in more than touch?
//
// By (1) of blocking_mover.h the question is whether the interior of the shape meets the polygon.
// For an axis with a radius it does exactly if a point of the polygon is closer to the axis than
// the radius. For a ring it does exactly if one of these holds:
//   * an edge of the polygon crosses an edge of the ring, or runs into the interior from a point of
//     the ring, where a vertex of one lies on an edge of the other;
//   * else no edge of the polygon enters the interior, and a ring of the polygon lies in it;
//   * else the interior lies in one face of the polygon, which is filled: the face beside any
//     vertex of the ring.
//
// A round body is its axis and a radius. The body is the closure of its interior, as the shape is,
// so both overlap in more than touch exactly if a point of the body's axis is closer to the shape's
// axis or ring than the sum of the radii: two edges are that close, or a ring contains the axis.
#pragma once

#include "blocking/blocking_mover.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Returns whether the shape as it stands overlaps `fixed` in more than touch: a polygon, or the
// axis of a body with radius `fixed_radius`. Exact. Meaningless once `meter` has stopped.
bool OverlapsInMoreThanTouch(const BlockingMover& mover, const IndexedPolygon& fixed,
                             WorkMeter& meter, double fixed_radius = 0);

// Returns whether a round shape overlaps a polygon in more than touch, if the shape stands less
// than its radius from the end of a path on which no obstacle overlaps it in more than touch. Such
// a shape cannot stand inside the polygon, so edges decide. Edges that `axes` prove clear are
// skipped.
bool ComesCloser(const BlockingMover& mover, const IndexedPolygon& fixed, const SweepAxes& axes,
                 WorkMeter& meter);

// Returns whether the shape displaced by t * d overlaps `fixed` in more than touch. Exact, and
// slow.
bool OverlapsInMoreThanTouchAt(const BlockingMover& mover, const Motion& motion, const SweepTime& t,
                               const IndexedPolygon& fixed, WorkMeter& meter);

}  // namespace carom::internal
