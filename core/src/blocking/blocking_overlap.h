// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a shape overlap a polygon, or a round body, in more than touch?
//
// By (1) of blocking_mover.h a shape and a polygon overlap in more than touch exactly if the
// interior of the shape meets the polygon. The interior of a capsule meets the polygon exactly if a
// point of the polygon is closer to the axis of the capsule than the radius. The interior of a ring
// meets the polygon exactly if one of these holds:
//   * an edge of the polygon crosses an edge of the ring, or leads into the interior from a point
//     of the ring at which a vertex of one lies on an edge of the other;
//   * no edge of the polygon enters the interior, but the interior contains a ring of the polygon;
//   * no edge of the polygon enters the interior, so the interior lies in one face of the polygon,
//     and that face is filled. That face lies beside every vertex of the ring.
//
// A round body is the set of points within a radius of its axis. The body, as the shape, is the
// closure of its interior, so both overlap in more than touch exactly if a point of the body's axis
// is closer to the shape's axis or ring than the sum of the radii: two edges are that close, or the
// shape's ring contains the body's axis.
#pragma once

#include "blocking/blocking_mover.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Returns whether the shape, where it is placed, overlaps `fixed` in more than touch: whether the
// interior of one meets the other. `fixed` is a polygon, or the axis of a body with radius
// `fixed_radius`. Exact. The result is meaningless once `meter` has stopped.
bool OverlapsInMoreThanTouch(const BlockingMover& mover, const IndexedPolygon& fixed,
                             WorkMeter& meter, double fixed_radius = 0);

// Returns whether a capsule overlaps a polygon in more than touch: whether the interior of one
// meets the other. The capsule must be placed at most its radius away from the end of a path on
// which no obstacle overlaps it in more than touch. A capsule placed so cannot lie inside the
// polygon without meeting an edge, so the test compares the distance of the capsule's axis to edges
// only. Skips edges that the separating axes `axes` prove the path not to touch.
bool ComesCloser(const BlockingMover& mover, const IndexedPolygon& fixed, const SweepAxes& axes,
                 WorkMeter& meter);

// Returns whether the shape displaced by t * d (d is the displacement of `motion`) overlaps
// `fixed`, a polygon or the axis of a round body, in more than touch: whether the interior of one
// meets the other. Exact; slow, because every sign is computed in exact arithmetic.
bool OverlapsInMoreThanTouchAt(const BlockingMover& mover, const Motion& motion, const SweepTime& t,
                               const IndexedPolygon& fixed, WorkMeter& meter);

}  // namespace carom::internal
