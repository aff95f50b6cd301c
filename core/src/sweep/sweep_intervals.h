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

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

struct SweepInterval {
  SweepTime begin = SweepTime::Zero();
  SweepTime end = SweepTime::One();
};

// The interval within [0, 1], for radius 0; nothing if it is empty. Either edge may be a point.
std::optional<SweepInterval> ContactInterval(const Motion& motion, const Segment& fixed,
                                             const Segment& moving);

// Whether the edges are within the radius of each other at the start. Exact.
bool AreWithin(const Segment& fixed, const Segment& moving, const Motion& motion);

// The interval for radius > 0, piece by piece. A begin that is above `limit` may be left out. The end
// is asked of an edge whose begin is something.
std::optional<SweepTime> RoundContactBegin(const Motion& motion, const Segment& fixed,
                                           const Segment& axis, double limit);
SweepTime RoundContactEnd(const Motion& motion, const Segment& fixed, const Segment& axis);

}  // namespace carom::internal
