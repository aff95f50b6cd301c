// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is true of a shape at every pose?
//
// These functions take a shape in its own frame, which has its origin at the reference point.
// Contacts need the convexity of a shape, trackers its reach at any rotation; vertices, radius and
// bounds of a shape are its members (carom/shape.h). Each call computes its result; callers that
// need a result often store it.
#pragma once

#include "carom/shape.h"

namespace carom::internal {

// Returns true if contacts treat the shape as convex: a capsule, or a solid polygon of one convex
// ring. Exact. O(n).
bool IsConvexShape(const Shape& shape);

// Returns a radius around the reference point that contains the whole shape. Rounded up. O(n).
double BoundingRadius(const Shape& shape);

// Returns a radius such that each point nearer to the reference point belongs to the shape. Rounded
// down; below 0 if not even the reference point certainly belongs to the shape. O(n).
double InscribedRadius(const Shape& shape);

}  // namespace carom::internal
