// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which interval of t does an edge moving by t * d touch a fixed edge?
//
// The displacements z for which the moving edge f, displaced by z, is within the radius of the
// fixed edge e form a convex set: the Minkowski sum of e, -f and a disc of that radius (the sum of
// the radii of both shapes). So f displaced by t * d is in contact with e during one closed
// interval of t. For radius 0 the ends of the interval lie on the boundary of the parallelogram e -
// f, which may be flat. For a radius above 0 each end lies on a side of that parallelogram moved
// outward by the radius, or on the circle of that radius about one of its corners.
#pragma once

#include <optional>
#include <vector>

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// An interval of times t of a motion by t * d.
struct SweepInterval {
  SweepTime begin = SweepTime::Zero();
  SweepTime end = SweepTime::One();
};

// Returns the sign of the cross product (q - p) x d: the side of the line through p along d on
// which the point q lies. Exact.
int SideOfPath(Vec2 q, Vec2 p, Vec2 d);

// Returns the interval of times within [0, 1] in which the fixed edge and the moving edge
// (displaced by t * d at time t) touch, if both radii are 0, or nothing if they never touch. Either
// edge may be a point.
std::optional<SweepInterval> ContactInterval(const Motion& motion, const Segment& fixed,
                                             const Segment& moving);

// Returns the interval of times in which an inner point of one edge passes an inner point of the
// other, if both radii are 0. The interval may extend before 0 and after 1. Its begin and end are
// equal if the edges are parallel; else the edges cross at all times between its begin and its end.
// Returns nothing if the line of displacements t * d meets the parallelogram (fixed - moving) at
// most at a side or corner.
std::optional<SweepInterval> CrossingInterval(const Motion& motion, const Segment& fixed,
                                              const Segment& moving);

// Returns whether the distance of the edges at the start is at most the sum of the radii of
// `motion`. Exact.
bool AreWithin(const Segment& fixed, const Segment& moving, const Motion& motion);
// Returns whether the distance of the edges, at their given positions, is less than `radius` +
// `fixed_radius`. Exact.
bool AreCloser(const Segment& fixed, const Segment& moving, double radius, double fixed_radius);

// Returns the first time within [0, 1] at which the distance of `fixed` and the moving `axis` is at
// most the sum of the radii, which is above 0; or nothing if no such time exists. May return
// nothing if that time is above `limit`.
std::optional<SweepTime> RoundContactBegin(const Motion& motion, const Segment& fixed,
                                           const Segment& axis, double limit);
// Returns the time at which the distance of the edges becomes less than the sum of the radii, which
// is above 0, or nothing if it never does. At the start the distance must be at least that sum. An
// axis that only grazes a circle about a vertex, or runs along an edge at exactly that distance,
// never comes closer. May return nothing if that time is above `limit`.
std::optional<SweepTime> RoundEntry(const Motion& motion, const Segment& fixed, const Segment& axis,
                                    double limit);
// Returns the last time within [0, 1] at which the distance of the edges is at most the sum of the
// radii, which is above 0. `RoundContactBegin` must have returned a time.
SweepTime RoundContactEnd(const Motion& motion, const Segment& fixed, const Segment& axis);

// Two features (two vertices, or a vertex and an edge) at a distance of exactly the sum of the
// radii, at the begin or the end of the interval in which they are that close or closer, and the
// radius of the fixed shape.
struct RoundTouch {
  EdgeMeeting meeting;
  IntervalEnd end;
  double fixed_radius = 0;
};

// Appends to `touches` the pairs of features whose distance becomes the sum of the radii (above 0)
// exactly at the time `t`, either because they come that near or because they go farther apart. The
// edges must not be closer than that sum at `t`. `t` may be the time of a touch with another fixed
// shape than the one that `fixed` belongs to; that other shape may have a radius or none.
void FindRoundTouches(const Motion& motion, const Segment& fixed, const Segment& axis,
                      const SweepTime& t, std::vector<RoundTouch>& touches);

}  // namespace carom::internal
