// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is true of a shape wherever it is placed.
//
// Facts of the shape as it is described, about its reference point, the origin. Contacts ask
// whether it is convex, trackers how far it reaches at any rotation; its vertices, radius and
// bounds are its own (carom/shape.h). Each is computed when it is asked for, and kept by whoever
// asks often.
#pragma once

#include "carom/shape.h"

namespace carom::internal {

// Whether contacts take it as convex: a capsule, or a solid polygon of one convex ring. Exact.
// O(n).
bool IsConvexShape(const Shape& shape);

// No point of the shape is farther from the reference point. Rounded up. O(n).
double BoundingRadius(const Shape& shape);

// Each point nearer than this to the reference point belongs to the shape. Rounded down; below 0
// where not even the reference point belongs to it for sure. O(n).
double InscribedRadius(const Shape& shape);

}  // namespace carom::internal
