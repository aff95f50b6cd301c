// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which point do a moving shape and an edge touch, and what is the contact normal there?
#pragma once

#include <optional>

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Returns p + t * d - step. Error bound: let M be the largest magnitude of the coordinates and of
// the step's length. If t is within 2^-53 of an exact time, this error of t moves the point by at
// most 2^-53 M, one ulp of M. A step of radius * normal errs by 2^-53 M for the normal and half an
// ulp for the product. The sum is rounded once. So the point errs by at most 3 ulp of M in all, and
// by at most 1.5 ulp of M if `step` is 0.
Vec2 PointOnPath(Vec2 p, Vec2 d, double t, Vec2 step = {});

// Returns the edge with the normal that separates two polygons when their edges `fixed` and
// `moving` meet: the edge that a vertex of the other polygon meets between the edge's ends. If two
// vertices meet, returns the fixed edge if the edges are parallel and share more than a point, or
// the other edge if one edge has length 0. In all other cases, and if the edge found is parallel to
// d, returns an edge of length 0.
Segment SeparatingEdge(const EdgeMeeting& meeting, const Segment& fixed, const Segment& moving,
                       Vec2 d);

// Returns the unit normal of an edge on the side from which the displacement d comes; the edge must
// not be parallel to d. For an edge of length 0 returns -d / |d|. The error of each component is at
// most 1 ulp.
Vec2 NormalAgainst(const Segment& edge, Vec2 d);

// Returns the unit normal of `meeting`, from the fixed shape to the moving one, at the exact time
// at which the distance of the features becomes the sum of the radii (above 0): when they come that
// near, or, for `end` = kEnd, when they go farther apart. The error of each component is at most 1
// ulp + 2^-94.
Vec2 RoundNormal(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns a point of the fixed edge that is at most `radius` away from the moving edge displaced by
// `shift`, or nothing if no such point exists. The point errs by at most 1.5 ulp of its largest
// coordinate.
std::optional<Vec2> SharedPoint(const Segment& fixed, const Segment& moving, Vec2 shift,
                                double radius);

// Returns a point that both capsules contain; they must overlap.
Vec2 SharedPointOf(const Capsule& a, const Capsule& b);

}  // namespace carom::internal
