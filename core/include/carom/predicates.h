// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// On which side, exactly?
//
// The signs that every verdict rests on. Each is what exact real arithmetic gives for the given
// doubles: a floating-point filter decides almost always, expansions of doubles (Shewchuk,
// "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997) the
// rest. Inputs are accepted coordinates (carom/geometry.h), so nothing overflows or underflows.
//
//   const Segment a{{0, 0}, {4, 0}}, b{{4, 0}, {4, 4}};
//   const int side = Orientation(a.a, a.b, {2, 1});                       // 1: left of a
//   const bool on = IsOnSegment({2, 0}, a);                               // true
//   const bool meet = Intersects(a, b);                                   // true: they touch
//   const int distance = CompareDistance(Vec2{3, 4}, Circle{{0, 0}, 5});  // 0: on the circle
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: none, signs are
// exact. Cost: O(1). Thread-safe; nothing allocates. Cheaper: `Box::Intersects` of
// carom/geometry.h; richer: carom/cast.h and carom/distance.h, which say where.
#pragma once

#include "carom/geometry.h"

namespace carom {

// The sign of the area of triangle (a, b, c): +1 if c is left of the directed line a->b
// (counter-clockwise), -1 if right, 0 if the three points are on one line or two coincide.
int Orientation(Vec2 a, Vec2 b, Vec2 c);

// Whether p is a point of the closed segment. Its ends belong to it.
bool IsOnSegment(Vec2 p, const Segment& segment);

// Whether two closed segments share a point. Touching counts; either may be a single point.
bool Intersects(const Segment& a, const Segment& b);

// Whether a closed segment and a closed box share a point. Touching counts; an empty box shares
// none. For where, see `ClipSegment` of carom/convex.h.
bool Intersects(const Segment& segment, const Box& box);

// Which line is met first: with t_i such that a + t_i (b - a) of `segment` is on the line of edge
// i, the sign of t_1 - t_2. 0 where an edge is parallel to the segment, so that it has no t_i.
int CompareCrossings(const Segment& segment, const Segment& edge_1, const Segment& edge_2);

// The sign of |p - center|^2 - radius^2: -1 inside, 0 at exactly that distance, +1 outside.
int CompareDistance(Vec2 p, const Circle& circle);

// The sign of (distance from the circle's centre to the closed segment) - radius.
int CompareDistance(const Segment& segment, const Circle& circle);

// The sign of (distance from the capsule's axis to the closed segment) - radius.
int CompareDistance(const Segment& segment, const Capsule& capsule);

}  // namespace carom
