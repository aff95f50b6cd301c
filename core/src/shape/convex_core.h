// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A convex shape as contacts see it: a strictly convex hull, and a radius about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::internal {

// How a ring is convex. STRICT: it has three vertices or more and turns the same way at each of
// them, so it is its own hull; the next one winds the other way. WEAK: it also goes straight on,
// repeats a vertex or has no area.
enum class Convexity : uint8_t { kNone, kWeak, kStrict, kStrictClockwise };

// Exact. O(n).
Convexity ConvexityOf(std::span<const Vec2> ring);
// The same of a polygon as contacts take it: NONE unless it is solid and of one ring.
Convexity ConvexityOf(const Polygon& polygon);

// The points within `radius` of a strictly convex hull. One vertex is a point without edges; two
// are the ends of a segment, which has an edge for each of its sides; three or more wind
// counter-clockwise. The outer normal of an edge is on its right. Edge k runs from vertex k to the
// next.
class ConvexCore {
 public:
  // The hull of a ring, which it borrows. O(n), under WEAK O(n log n).
  ConvexCore(std::span<const Vec2> ring, Convexity convexity);
  // A segment with features of its own, or a point where its ends coincide.
  ConvexCore(const Segment& segment, double radius);
  // An edge of a polygon, likewise; names its features after the polygon's.
  ConvexCore(const Segment& segment, double radius, uint32_t tail, uint32_t head, uint32_t edge);

  size_t size() const { return hull_.empty() ? given_.size() : hull_.size(); }
  size_t edge_count() const { return size() == 1 ? 0 : size(); }
  std::span<const Vec2> vertices() const {
    return hull_.empty() ? given_ : std::span<const Vec2>(hull_);
  }
  Vec2 vertex(size_t i) const { return vertices()[i]; }
  size_t Next(size_t i) const { return i + 1 == size() ? 0 : i + 1; }
  size_t Previous(size_t i) const { return i == 0 ? size() - 1 : i - 1; }
  Segment Edge(size_t k) const { return {vertex(k), vertex(Next(k))}; }
  double radius() const { return radius_; }
  // The vertices of which the centre is the mean.
  std::span<const Vec2> given() const { return given_.empty() ? vertices() : given_; }

  // As given: of vertices that coincide the least, of edges the least of those that lie along edge
  // k (and run its way, for the sides of a segment).
  uint32_t vertex_index(size_t i) const {
    return vertex_index_.empty() ? static_cast<uint32_t>(i) : vertex_index_[i];
  }
  uint32_t edge_index(size_t k) const {
    return edge_index_.empty() ? static_cast<uint32_t>(k) : edge_index_[k];
  }
  // For ties: that index, but for both sides of a segment the least of the two.
  uint32_t edge_order(size_t k) const;

 private:
  template <class T>
  using Few = absl::InlinedVector<T, 8>;

  void TakeHull(std::span<const Vec2> ring);
  void NameEdges(std::span<const Vec2> ring);

  std::span<const Vec2> given_;
  double radius_ = 0;
  // Empty where they are the ring and its indices.
  Few<Vec2> hull_;
  Few<uint32_t> vertex_index_, edge_index_;
};

}  // namespace carom::internal
