// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do a moving shape and an edge meet, and which way do they push?
#pragma once

#include <optional>

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// p + t * d - step. With M the largest of the coordinates and of |step|, t errs by 2^-53 at most
// (one ulp, in [0, 1]), which moves the point by 2^-53 M, one ulp(M); a step of radius * normal
// errs by 2^-53 M for the normal and half an ulp for the product. The sum is rounded once: 3 ulp(M)
// in all, 1.5 without a step.
Vec2 PointOnPath(Vec2 p, Vec2 d, double t, Vec2 step = {});

// The edge of which the normal separates two edges of polygons that meet: the one that a vertex of
// the other meets within. Where two vertices meet: the fixed one of parallel edges that share more
// than a point, and an edge that a point meets. Of length 0 else, and where the edge is parallel to
// d.
Segment SeparatingEdge(const EdgeMeeting& meeting, const Segment& fixed, const Segment& moving,
                       Vec2 d);

// The unit normal of an edge that is not parallel to d, on the side that d comes from; -d / |d| for
// an edge of length 0. Each component is within 1 ulp.
Vec2 NormalAgainst(const Segment& edge, Vec2 d);

// The unit normal of the meeting of a round shape (radius > 0), from the fixed edge to the shape,
// at its exact time: within 1 ulp + 2^-94 in each component.
Vec2 RoundNormal(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// A point of the fixed edge that is within `radius` of the moving one displaced by `shift`, if
// there is one: within 1.5 ulp of the largest coordinate.
std::optional<Vec2> SharedPoint(const Segment& fixed, const Segment& moving, Vec2 shift,
                                double radius);

// A point that two capsules share, for capsules that do.
Vec2 SharedPointOf(const Capsule& a, const Capsule& b);

}  // namespace carom::internal
