// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A convex shape as contacts see it: a strictly convex hull, and a radius about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"

namespace carom::internal {

// Whether contacts take the shape as convex: a capsule, or a solid polygon of one convex ring.
// O(n).
bool IsConvexPolygon(const Polygon& polygon);
bool IsConvexShape(const Shape& shape);

// The points within `radius` of the hull. One vertex is a point without edges; two are the ends of
// a segment, which has an edge for each of its sides; three or more wind counter-clockwise. The
// outer normal of an edge is on its right.
struct ConvexCore {
  std::vector<Vec2> vertices;
  std::vector<uint32_t> vertex_index;  // as given: the least of those that coincide
  // Of edge k, from vertex k to the next: as given, the least of those that lie along it (and run
  // its way, for the sides of a segment).
  std::vector<uint32_t> edge_index;
  std::vector<uint32_t> edge_order;  // for ties: edge_index, but the same for both sides
  std::span<const Vec2> given;       // the vertices of which the centre is the mean
  double radius = 0;

  size_t size() const { return vertices.size(); }
  size_t edge_count() const { return vertices.size() == 1 ? 0 : vertices.size(); }
  size_t Next(size_t i) const { return i + 1 == vertices.size() ? 0 : i + 1; }
  size_t Previous(size_t i) const { return i == 0 ? vertices.size() - 1 : i - 1; }
  Segment Edge(size_t k) const { return {vertices[k], vertices[Next(k)]}; }
};

// The hull of the first ring of a polygon, or the capsule. Borrows the shape's vertices. O(n log
// n).
ConvexCore CoreOf(const Shape& shape);
ConvexCore CoreOfRing(std::span<const Vec2> ring);
// A segment with features of its own, or a point where its ends coincide.
ConvexCore CoreOfSegment(const Segment& segment, double radius);

}  // namespace carom::internal
