// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A convex shape in the form that contacts use: a strictly convex hull and a radius around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::internal {

// How a ring is convex. STRICT: it has at least three vertices and turns left at each of them, so
// it is its own hull. STRICT_CLOCKWISE: it turns right at each of them. WEAK: it is convex, but
// also goes straight on, repeats a vertex or has no area. NONE: it is not convex.
enum class Convexity : uint8_t { kNone, kWeak, kStrict, kStrictClockwise };

// Returns how the ring is convex. Exact. O(n).
Convexity ConvexityOf(std::span<const Vec2> ring);
// Returns how contacts may treat the polygon: NONE unless it is solid and has one ring. Exact.
// O(n).
Convexity ConvexityOf(const Polygon& polygon);

// The points within `radius` of a strictly convex hull. A hull of one vertex is a point without
// edges; a hull of two vertices is a segment, which has one edge for each of its sides; a hull of
// three or more vertices winds counter-clockwise. Edge k runs from vertex k to the next vertex, and
// its outer normal is on its right.
class ConvexCore {
 public:
  // The hull of a ring, which the core borrows. O(n), but O(n log n) if the convexity is WEAK.
  ConvexCore(std::span<const Vec2> ring, Convexity convexity);
  // A segment, or a point if its ends coincide. Its features are vertices 0 and 1, and edges 0 and
  // 1.
  ConvexCore(const Segment& segment, double radius);
  // An edge of a polygon, or a point if its ends coincide. Its features have the given indices of
  // the polygon: two vertices and an edge.
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
  // The vertices that have the shape's centre as their mean.
  std::span<const Vec2> source_vertices() const { return ring_.empty() ? vertices() : ring_; }

  // The index of vertex i or edge k in the given ring. Of vertices that coincide it is the least
  // index; of edges, the least index among the edges that lie along edge k (for a segment, among
  // the edges that also run in the direction of edge k).
  uint32_t vertex_index(size_t i) const {
    return vertex_index_.empty() ? static_cast<uint32_t>(i) : vertex_index_[i];
  }
  uint32_t edge_index(size_t k) const {
    return edge_index_.empty() ? static_cast<uint32_t>(k) : edge_index_[k];
  }
  // The index that breaks ties between edges: `edge_index(k)`, but for both sides of a segment the
  // lesser of their indices.
  uint32_t edge_order(size_t k) const;

 private:
  template <class T>
  using SmallVector = absl::InlinedVector<T, 8>;

  void BuildHull(std::span<const Vec2> ring);
  void SetEdgeIndices(std::span<const Vec2> ring);

  std::span<const Vec2> ring_;
  double radius_ = 0;
  // Empty if the hull is the given ring with its own indices.
  SmallVector<Vec2> hull_;
  SmallVector<uint32_t> vertex_index_, edge_index_;
};

}  // namespace carom::internal
