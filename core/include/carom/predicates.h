// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// On which side of a line is a point, do two segments meet, which distance is less?
//
// All verdicts of the library rest on these signs. Each function returns the sign that exact real
// arithmetic gives for the given doubles: a floating-point filter decides almost always, and
// otherwise expansions of doubles decide (Shewchuk, "Adaptive Precision Floating-Point Arithmetic
// and Fast Robust Geometric Predicates", 1997). Inputs are accepted coordinates (carom/geometry.h),
// so that no operation overflows or underflows.
//
//   const Segment a{{0, 0}, {4, 0}}, b{{4, 0}, {4, 4}};
//   const int side = Orientation(a.a, a.b, {2, 1});                       // 1: left of a
//   const bool on = IsOnSegment({2, 0}, a);                               // true
//   const bool meet = Intersects(a, b);                                   // true: they touch
//   const int distance = CompareDistance(Vec2{3, 4}, Circle{{0, 0}, 5});  // 0: on the circle
//
// Lengths are in the unit of the caller's coordinates. Segments, boxes and circles are closed:
// shapes that only touch meet. Error: none, signs are exact. Cost: O(1), without allocation.
// Thread-safe. Cheaper alternative: `Box::Intersects` of carom/geometry.h. More powerful:
// carom/cast.h and carom/distance.h, which return points.
#pragma once

#include "carom/geometry.h"

namespace carom {

// Returns the sign of the area of triangle (a, b, c): +1 if c is left of the directed line a->b
// (counter-clockwise), -1 if c is right of it, 0 if the three points are collinear or two of them
// coincide.
int Orientation(Vec2 a, Vec2 b, Vec2 c);

// Returns whether `p` is a point of the closed segment, which contains its ends.
bool IsOnSegment(Vec2 p, const Segment& segment);

// Returns whether two closed segments share a point. Touching counts; either may be a point.
bool Intersects(const Segment& a, const Segment& b);

// Returns whether a closed segment and a closed box share a point. Touching counts; an empty box
// shares no point. `ClipSegment` of carom/convex.h returns where they meet.
bool Intersects(const Segment& segment, const Box& box);

// Compares where a segment a->b crosses the lines of two edges: returns the sign of t_1 - t_2,
// where the point a + t_i (b - a) is on the line of `edge_i`. Returns 0 if an edge is parallel to
// the segment, since t_i then does not exist.
int CompareCrossings(const Segment& segment, const Segment& edge_1, const Segment& edge_2);

// Returns the sign of |p - center|^2 - radius^2: -1 inside the circle, 0 on it, +1 outside.
int CompareDistance(Vec2 p, const Circle& circle);

// Returns the sign of (distance from the circle's centre to the closed segment) - radius.
int CompareDistance(const Segment& segment, const Circle& circle);

// Returns the sign of (distance from the capsule's axis to the closed segment) - radius.
int CompareDistance(const Segment& segment, const Capsule& capsule);

}  // namespace carom
