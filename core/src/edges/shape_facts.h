// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which properties does a shape have at every pose?
//
// These functions take a shape in its own frame, before placing, with the reference point as the
// origin. Contacts use the convexity of a shape; each `Tracker` (carom/tracker.h) uses the distance
// up to which the shape reaches from the reference point at any rotation. For the vertices, radius
// and bounds of a shape, call the member functions of `Shape` (carom/shape.h). Each call computes
// its result anew; callers that need a result often store it.
#pragma once

#include "carom/shape.h"

namespace carom::internal {

// Returns true if queries for contacts treat the shape as convex: if it is a capsule, or a SOLID
// polygon (its interior belongs to it) of one convex ring. Exact. O(n).
bool IsConvexShape(const Shape& shape);

// Returns the radius of a circle about the reference point (the origin) that contains the whole
// shape. Rounded up. O(n).
double BoundingRadius(const Shape& shape);

// Returns a radius such that each point within this radius of the reference point (the origin)
// belongs to the shape. The radius is rounded down; it is below 0 if the reference point does not
// certainly belong to the shape. O(n).
double InscribedRadius(const Shape& shape);

}  // namespace carom::internal
