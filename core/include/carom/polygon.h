// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a polygon, and which ones are legal?
//
// `Polygon` is a shape of one or more rings, valid by construction: only `Polygon::Create` and
// `PlacedPolygon` can fail. Start with the first. Concave, holed, self-touching, self-crossing and
// degenerate rings are all legal and used as given; nothing is reordered, reversed or dropped. A
// polygon is a closed set: the filled region together with every point of every edge. To ask
// questions about polygons, put them in a scene (carom/scene.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"

namespace carom {

// Which points count as filled, from the exact winding number over all rings: odd, or not 0.
enum class FillRule : uint8_t { kEvenOdd, kNonZero };

// SOLID: the filled region and the edges. BOUNDARY: the edges alone (hollow).
enum class Solidity : uint8_t { kSolid, kBoundary };

// One ring as a caller describes it. A closed ring of n vertices has n edges, edge i from vertex i
// to vertex i+1, the last one back to vertex 0; one vertex is edge 0 (a point), two vertices are
// edges 0 and 1. An open chain (BOUNDARY polygons only) has n-1 edges, or one if n is 1. A closed
// ring of two or more vertices may repeat its first vertex at the end: one such duplicate is
// dropped.
struct RingSpec {
  std::vector<Vec2> vertices;
  bool open = false;
};

// A polygon as a caller describes it; see the members of `Polygon`.
struct PolygonSpec {
  uint64_t id = 0;
  std::vector<RingSpec> rings;
  FillRule fill_rule = FillRule::kEvenOdd;
  Solidity solidity = Solidity::kSolid;
  uint64_t category = 1;
  std::string user_data = "";
};

// The caps that `Polygon::Create` enforces. They bound memory, not answers.
struct PolygonLimits {
  size_t max_vertices = 1048576;
  size_t max_user_data_bytes = 4096;
};

// Names an edge: the ring as the caller numbered it, and the edge within it.
struct EdgeRef {
  uint32_t ring = 0;
  uint32_t edge = 0;

  friend constexpr auto operator<=>(const EdgeRef&, const EdgeRef&) = default;
};

// An immutable polygon. Copying costs O(vertices): pass by reference, or share the scene.
// Thread-safe: no member function writes.
class Polygon {
 public:
  // Reads coordinates as `Normalized` does and checks the rest.
  //
  // Errors, each INVALID_ARGUMENT with a field path such as `rings[0].x[3]`, unless named:
  //   * no ring; an empty ring; an open ring on a SOLID polygon;
  //   * a coordinate that is NaN, infinite or above 2^53 in magnitude;
  //   * RESOURCE_EXHAUSTED: more vertices or user data than `limits` allow.
  static absl::StatusOr<Polygon> Create(PolygonSpec spec, const PolygonLimits& limits = {});

  uint64_t id() const { return id_; }
  FillRule fill_rule() const { return fill_rule_; }
  Solidity solidity() const { return solidity_; }
  // A query with mask m considers the polygon when category & m is not 0.
  uint64_t category() const { return category_; }
  const std::string& user_data() const { return user_data_; }

  const Box& bounds() const { return bounds_; }
  size_t vertex_count() const { return vertices_.size(); }
  size_t edge_count() const { return next_.size(); }

  size_t ring_count() const { return rings_.size(); }
  // The vertices of ring `ring`, without the closing duplicate.
  std::span<const Vec2> ring(size_t ring) const {
    return {vertices_.data() + rings_[ring].first_vertex, rings_[ring].vertex_count};
  }
  bool is_open(size_t ring) const { return rings_[ring].open; }

  // Edge `index` in [0, edge_count()), ring after ring.
  Segment edge(size_t index) const { return {vertices_[tail_[index]], vertices_[next_[index]]}; }
  EdgeRef edge_ref(size_t index) const;

  // Whether a point with this winding number is filled. Always false for BOUNDARY.
  bool IsFilled(int64_t winding) const {
    if (solidity_ == Solidity::kBoundary) return false;
    return fill_rule_ == FillRule::kEvenOdd ? winding % 2 != 0 : winding != 0;
  }

  // A description from which `Create` makes an equal polygon: a closed ring whose last vertex
  // equals its first gets the closing duplicate that `Create` drops.
  PolygonSpec spec() const;

 private:
  struct Ring {
    uint32_t first_vertex;
    uint32_t vertex_count;
    uint32_t first_edge;
    bool open;
  };

  friend absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose);

  Polygon() = default;
  void AppendRing(std::span<const Vec2> vertices, bool open);

  uint64_t id_ = 0;
  uint64_t category_ = 1;
  FillRule fill_rule_ = FillRule::kEvenOdd;
  Solidity solidity_ = Solidity::kSolid;
  std::vector<Ring> rings_;
  std::vector<Vec2> vertices_;
  std::vector<uint32_t> tail_;  // of each edge, its first vertex
  std::vector<uint32_t> next_;  // of each edge, its second vertex
  Box bounds_;
  std::string user_data_;
};

// A moving shape at a pose: the polygon of its placed vertices (`Placed`), same rings, fill rule,
// solidity and id. INVALID_ARGUMENT if a placed vertex leaves the accepted range. Cost O(vertices).
absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose);

}  // namespace carom
