// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A convex shape in the form that contact computation uses: a strictly convex hull and a radius
// around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::internal {

// Whether and how a ring is convex. kStrict: it has at least three vertices and turns left at each
// of them, so it is its own hull. kStrictClockwise: it has at least three vertices and turns right
// at each of them. kWeak: it is convex, but also goes straight on at a vertex, repeats a vertex or
// has no area. kNone: it is not convex.
enum class Convexity : uint8_t { kNone, kWeak, kStrict, kStrictClockwise };

// Returns whether and how the ring is convex; kNone if it is not. Exact. O(n).
Convexity ConvexityOf(std::span<const Vec2> ring);
// Returns the convexity of the polygon's ring if the polygon is solid and has one ring, else kNone:
// contacts treat only a solid polygon of one convex ring as convex. Exact. O(n).
Convexity ConvexityOf(const Polygon& polygon);

// A convex shape: the points within `radius` of a strictly convex hull. A hull of one vertex is a
// point without edges. A hull of two vertices is a segment, which has one edge for each of its
// sides. A hull of three or more vertices winds counter-clockwise. Edge k runs from vertex k to the
// next vertex, and its outer normal is on its right.
class ConvexCore {
 public:
  // Makes the core with radius 0 of a convex ring with the given convexity. The core borrows
  // `ring`. O(n), but O(n log n) if the convexity is kWeak.
  ConvexCore(std::span<const Vec2> ring, Convexity convexity);
  // Makes the core of a segment, or of a point if the ends of the segment coincide. `vertex_index`
  // returns 0 and 1 for its vertices, `edge_index` 0 and 1 for its edges.
  ConvexCore(const Segment& segment, double radius);
  // Makes the core of an edge of a polygon, or of a point if the ends of the edge coincide. `tail`,
  // `head` and `edge` are the indices of its two vertices and of the edge in the polygon;
  // `vertex_index` and `edge_index` return them.
  ConvexCore(const Segment& segment, double radius, uint32_t tail, uint32_t head, uint32_t edge);

  size_t size() const { return hull_.empty() ? ring_.size() : hull_.size(); }
  size_t edge_count() const { return size() == 1 ? 0 : size(); }
  std::span<const Vec2> vertices() const {
    return hull_.empty() ? ring_ : std::span<const Vec2>(hull_);
  }
  Vec2 vertex(size_t i) const { return vertices()[i]; }
  size_t Next(size_t i) const { return i + 1 == size() ? 0 : i + 1; }
  size_t Previous(size_t i) const { return i == 0 ? size() - 1 : i - 1; }
  Segment Edge(size_t k) const { return {vertex(k), vertex(Next(k))}; }
  double radius() const { return radius_; }
  // Returns the vertices of the ring or segment that the constructor got (of a ring, also those
  // that are not hull vertices). The mean of these vertices is the centre of the shape.
  std::span<const Vec2> source_vertices() const { return ring_.empty() ? vertices() : ring_; }

  // Return the index of hull vertex i, or of hull edge k, in the ring that the constructor got. For
  // ring vertices that coincide it is the least index. For an edge it is the least index among the
  // ring's edges that lie along hull edge k (in a hull of two vertices, among the edges that also
  // run in the direction of edge k).
  uint32_t vertex_index(size_t i) const {
    return vertex_index_.empty() ? static_cast<uint32_t>(i) : vertex_index_[i];
  }
  uint32_t edge_index(size_t k) const {
    return edge_index_.empty() ? static_cast<uint32_t>(k) : edge_index_[k];
  }
  // Returns the index that breaks ties between edges: `edge_index(k)`, but in a hull of two
  // vertices, for both edges, the lesser of their two indices.
  uint32_t edge_order(size_t k) const;

 private:
  template <class T>
  using SmallVector = absl::InlinedVector<T, 8>;

  void BuildHull(std::span<const Vec2> ring);
  void SetEdgeIndices(std::span<const Vec2> ring);

  std::span<const Vec2> ring_;
  double radius_ = 0;
  // The hull's vertices, and the indices that `vertex_index` and `edge_index` return. All three
  // vectors are empty if the hull is the ring itself: the index of hull vertex i is then i, and
  // that of hull edge k is k. `edge_index_` is also empty if the hull is a point, which has no
  // edges.
  SmallVector<Vec2> hull_;
  SmallVector<uint32_t> vertex_index_, edge_index_;
};

}  // namespace carom::internal
