// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which interval of t does a moving edge touch a fixed one?
//
// The points z with "f + z meets e within the radius" are the sum of e, -f and a disc: convex, so a
// translation by t * d is in contact in one closed interval. Its ends lie on the boundary of the
// parallelogram e - f (radius 0; it may be flat), or where a side of that parallelogram moved
// outward, or a disc about a corner, begins or ends.
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

// The sign of (q - p) x d: on which side of the path of p q lies. Exact.
int SideOfPath(Vec2 q, Vec2 p, Vec2 d);

// The interval within [0, 1], for radius 0; nothing if it is empty. Either edge may be a point.
std::optional<SweepInterval> ContactInterval(const Motion& motion, const Segment& fixed,
                                             const Segment& moving);

// Radius 0: the times between which a point within one edge passes a point within the other, before
// 0 and after 1 too. Both are the same where the edges are parallel; else the edges cross between.
// Nothing where the path passes the parallelogram at a side or a corner at most.
std::optional<SweepInterval> CrossingInterval(const Motion& motion, const Segment& fixed,
                                              const Segment& moving);

// Whether the edges are within the radius of each other at the start. Exact.
bool AreWithin(const Segment& fixed, const Segment& moving, const Motion& motion);
// Whether they are closer than the sum of the two, as they stand. Exact.
bool AreCloser(const Segment& fixed, const Segment& moving, double radius, double fixed_radius);

// The interval for radius > 0, piece by piece. A begin that is above `limit` may be left out. The
// end is asked of an edge whose begin is something.
std::optional<SweepTime> RoundContactBegin(const Motion& motion, const Segment& fixed,
                                           const Segment& axis, double limit);
// Likewise the time at which the edges come closer than the radius, for edges that are not closer
// at the start: what grazes a disc or runs along a side never does.
std::optional<SweepTime> RoundEntry(const Motion& motion, const Segment& fixed, const Segment& axis,
                                    double limit);
SweepTime RoundContactEnd(const Motion& motion, const Segment& fixed, const Segment& axis);

// A meeting, which end of its interval it is at, and what the fixed shape adds to the radius.
struct RoundTouch {
  EdgeMeeting meeting;
  IntervalEnd end;
  double fixed_radius = 0;
};

// Radius > 0: the meetings of which an end is at `t`, for edges that are not closer than the radius
// then; each is a touch. `t` may be of another fixed shape, with a radius or without. Appends to
// `touches`.
void FindRoundTouches(const Motion& motion, const Segment& fixed, const Segment& axis,
                      const SweepTime& t, std::vector<RoundTouch>& touches);

}  // namespace carom::internal
