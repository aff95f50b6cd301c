// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which interval of t does a moving edge touch a fixed one?
//
// The displacements z for which the moving edge f + z is within the radius of the fixed edge e form
// the Minkowski sum of e, -f and a disc. The sum is convex, so a translation by t * d is in contact
// during one closed interval. For radius 0 the ends of the interval lie on the boundary of the
// parallelogram e - f, which may be flat; else they are where a side of that parallelogram moved
// outward, or a disc about one of its corners, begins or ends.
#pragma once

#include <optional>
#include <vector>

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

struct SweepInterval {
  SweepTime begin = SweepTime::Zero();
  SweepTime end = SweepTime::One();
};

// Returns the sign of (q - p) x d: on which side of the path of p the point q lies. Exact.
int SideOfPath(Vec2 q, Vec2 p, Vec2 d);

// Returns the contact interval within [0, 1] for radius 0, or nothing if it is empty. Either edge
// may be a point.
std::optional<SweepInterval> ContactInterval(const Motion& motion, const Segment& fixed,
                                             const Segment& moving);

// Returns, for radius 0, the times between which a point within one edge passes a point within the
// other, also before 0 and after 1. Begin and end are equal where the edges are parallel; else the
// edges cross between them. Returns nothing where the path meets the parallelogram at a side or
// corner at most.
std::optional<SweepInterval> CrossingInterval(const Motion& motion, const Segment& fixed,
                                              const Segment& moving);

// Returns whether the edges are within the radius of each other at the start. Exact.
bool AreWithin(const Segment& fixed, const Segment& moving, const Motion& motion);
// Returns whether the edges as they stand are closer than `radius` + `fixed_radius`. Exact.
bool AreCloser(const Segment& fixed, const Segment& moving, double radius, double fixed_radius);

// Returns the begin of the contact interval for radius > 0, or nothing if it is empty. A begin
// above `limit` may be left out.
std::optional<SweepTime> RoundContactBegin(const Motion& motion, const Segment& fixed,
                                           const Segment& axis, double limit);
// Returns the time, for radius > 0, at which edges that are not closer than the radius at the start
// come closer than the radius. Edges that graze a disc or run along a side never do. A time above
// `limit` may be left out.
std::optional<SweepTime> RoundEntry(const Motion& motion, const Segment& fixed, const Segment& axis,
                                    double limit);
// Returns the end of the contact interval for radius > 0, for edges that have a begin.
SweepTime RoundContactEnd(const Motion& motion, const Segment& fixed, const Segment& axis);

// A meeting of a round shape that touches, at the begin or the end of its contact interval, and the
// radius of the fixed shape.
struct RoundTouch {
  EdgeMeeting meeting;
  IntervalEnd end;
  double fixed_radius = 0;
};

// Appends to `touches` the meetings that begin or end at `t`, for radius > 0 and edges that are not
// closer than the radius at `t`. `t` may be a time of another fixed shape, with or without a
// radius.
void FindRoundTouches(const Motion& motion, const Segment& fixed, const Segment& axis,
                      const SweepTime& t, std::vector<RoundTouch>& touches);

}  // namespace carom::internal
