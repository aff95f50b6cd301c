// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a ring like: its area, its turning, its centres?
//
// Pure functions of one closed ring of vertices, as a polygon holds it: accepted coordinates, read
// as by `Normalized` (carom/geometry.h), no closing duplicate. What is about a convex ring alone is
// in carom/convex.h.
//
//   const Vec2 ring[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
//   const double area = SignedArea(ring);                   // 16
//   const bool convex = IsConvex(ring);                     // true
//   const std::optional<Vec2> centre = AreaCentroid(ring);  // (2, 2)
//   const Circle circle = BoundingCircle(ring);             // about (2, 2)
//
// Lengths are in the unit of the caller's coordinates, areas in its square. Error: signs and
// verdicts are exact, areas and centres correctly rounded; see `BoundingCircle`. Cost: O(n), n the
// vertices of the ring. Thread-safe. Cheaper: `Polygon::bounds` of carom/polygon.h; richer:
// carom/convex.h.
#pragma once

#include <optional>
#include <span>

#include "carom/geometry.h"

namespace carom {

// Half of the sum of cross products: positive for a counter-clockwise simple ring, 0 for less than
// three vertices; with multiplicity where a ring crosses itself. Correctly rounded. O(n).
double SignedArea(std::span<const Vec2> ring);

// The sign of the exact signed area: +1 counter-clockwise, -1 clockwise, 0 neither. O(n).
int WindingSign(std::span<const Vec2> ring);

// Whether the ring is convex: all turns the same way or straight, and turning once in all (a
// pentagram turns twice). Duplicates and collinear vertices are allowed, a spike is not unless the
// whole ring lies on one line, which counts as convex. No vertex is not. Exact. O(n).
bool IsConvex(std::span<const Vec2> ring);

// The exact mean of the vertices, each coordinate correctly rounded; {0, 0} of none. O(n).
Vec2 VertexMean(std::span<const Vec2> ring);

// The centroid of the signed area, each coordinate correctly rounded; nothing where the signed area
// is 0. It may lie outside of a concave ring, and anywhere where a ring crosses itself. O(n).
std::optional<Vec2> AreaCentroid(std::span<const Vec2> ring);

// The smallest circle that holds all vertices; {{0, 0}, 0} for none. The centre is correctly
// rounded, then read as by `Normalized`. The radius is the least double for which the circle
// returned holds every vertex (exactly, by `CompareDistance`), but 0 or at least 2^-140: within 3
// ulp of the largest coordinate, or 2^-138, of the exact one. It may reach 2^53 sqrt(2), more than
// a query accepts. Neither depends on where the ring starts, nor on its direction. Expected O(n),
// by a fixed shuffle.
//
// Circles of different rings that do not meet prove that the rings do not (the paper's bounding
// circumferences, about the centre that makes them least).
Circle BoundingCircle(std::span<const Vec2> ring);

}  // namespace carom
