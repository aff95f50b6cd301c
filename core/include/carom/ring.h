// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What are the area, the winding and the centres of a ring?
//
// Pure functions of one closed ring of vertices, in the form in which a polygon stores it: accepted
// coordinates, read as by `Normalized` (carom/geometry.h), without a closing duplicate.
// carom/convex.h has functions for convex rings alone.
//
//   const Vec2 ring[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
//   const double area = SignedArea(ring);                   // 16
//   const bool convex = IsConvex(ring);                     // true
//   const std::optional<Vec2> centre = AreaCentroid(ring);  // (2, 2)
//   const Circle circle = BoundingCircle(ring);             // about (2, 2)
//
// Lengths are in the unit of the caller's coordinates, areas in its square. Error: signs and
// verdicts are exact, areas and centres are correctly rounded; for the radius see `BoundingCircle`.
// Cost: O(n) for n vertices. Thread-safe. Cheaper alternative: `Polygon::bounds` of
// carom/polygon.h. More powerful: carom/convex.h.
#pragma once

#include <optional>
#include <span>

#include "carom/geometry.h"

namespace carom {

// Returns the signed area, half of the sum of cross products: positive for a counter-clockwise
// simple ring, 0 for fewer than three vertices. If a ring crosses itself, each region counts with
// its winding number. Correctly rounded. O(n).
double SignedArea(std::span<const Vec2> ring);

// Returns the sign of the exact signed area: +1 for a counter-clockwise ring, -1 for a clockwise
// ring, 0 if the area is 0. O(n).
int WindingSign(std::span<const Vec2> ring);

// Returns whether the ring is convex: its turns all go one way or are straight, and it turns once
// in all (a pentagram turns twice). Duplicate and collinear vertices are allowed. A spike makes a
// ring not convex, unless the whole ring lies on one line: a ring on one line is convex. A ring
// without vertices is not convex. Exact. O(n).
bool IsConvex(std::span<const Vec2> ring);

// Returns the exact mean of the vertices, each coordinate correctly rounded; {0, 0} for a ring
// without vertices. O(n).
Vec2 VertexMean(std::span<const Vec2> ring);

// Returns the centroid of the signed area, each coordinate correctly rounded; nothing if the signed
// area is 0. The centroid of a concave ring may lie outside of the ring, and the centroid of a ring
// that crosses itself may lie anywhere. O(n).
std::optional<Vec2> AreaCentroid(std::span<const Vec2> ring);

// Returns the smallest circle that contains all vertices; {{0, 0}, 0} for a ring without vertices.
// The centre is correctly rounded, then read as by `Normalized`. The radius is the least double, 0
// or at least 2^-140, for which the returned circle contains every vertex (exactly, by
// `CompareDistance`): within 3 ulp of the largest coordinate, or 2^-138, of the exact radius. The
// radius may reach 2^53 sqrt(2), more than a query accepts. Neither centre nor radius depends on
// the vertex at which the ring starts, or on its direction. Expected O(n), with a fixed shuffle.
//
// If the bounding circles of two rings do not meet, the rings do not meet either (the bounding
// circumferences of the articles in docs/sources.md, here with the centre that makes the radius
// least).
Circle BoundingCircle(std::span<const Vec2> ring);

}  // namespace carom
