// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do a moving shape and an edge meet, and what is the normal of the meeting?
#pragma once

#include <optional>

#include "carom/geometry.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Returns p + t * d - step. Let M be the largest of the coordinates and of |step|. The rounding of
// t is at most 2^-53 (one ulp, in [0, 1]), which moves the point by 2^-53 M, one ulp(M). A step of
// radius * normal errs by 2^-53 M for the normal and half an ulp for the product. The sum is
// rounded once. So the point errs by 3 ulp(M) in all, by 1.5 ulp(M) without a step.
Vec2 PointOnPath(Vec2 p, Vec2 d, double t, Vec2 step = {});

// Returns the edge with the normal that separates two polygons at a meeting of their edges: the
// edge within which a vertex of the other polygon meets it. Where two vertices meet, it is the
// fixed edge if the edges are parallel and share more than a point, or the other edge if one edge
// has length 0. Otherwise, and where that edge is parallel to d, returns an edge of length 0.
Segment SeparatingEdge(const EdgeMeeting& meeting, const Segment& fixed, const Segment& moving,
                       Vec2 d);

// Returns the unit normal of an edge that is not parallel to d, on the side from which d comes, or
// -d / |d| for an edge of length 0. Each component is within 1 ulp.
Vec2 NormalAgainst(const Segment& edge, Vec2 d);

// Returns the unit normal of the meeting of a round shape (radius > 0), from the fixed edge to the
// shape, at the exact time of the meeting. Each component is within 1 ulp + 2^-94.
Vec2 RoundNormal(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns a point of the fixed edge that is within `radius` of the moving edge displaced by
// `shift`, or nothing if no such point exists. The point is within 1.5 ulp of the largest
// coordinate.
std::optional<Vec2> SharedPoint(const Segment& fixed, const Segment& moving, Vec2 shift,
                                double radius);

// Returns a point that two capsules share; they must overlap.
Vec2 SharedPointOf(const Capsule& a, const Capsule& b);

}  // namespace carom::internal
