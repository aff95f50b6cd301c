// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a polygon, and which ones are legal?
//
// `Polygon` is a shape of one or more rings, valid by construction: only `Polygon::Create` and
// `PlacedPolygon` can fail. Start with the first. Concave, holed, self-touching, self-crossing and
// degenerate rings are all legal and used as given; nothing is reordered, reversed or dropped. A
// polygon is a closed set: the filled region together with every point of every edge. To ask
// questions about polygons, put them in a scene (carom/scene.h).
//
//   PolygonSpec spec;
//   spec.id = 7;
//   spec.rings.push_back({{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, false});
//   const absl::StatusOr<Polygon> square = Polygon::Create(spec);
//   // square->edge_count() == 4, square->bounds(): from (0, 0) to (4, 4)
//
// Lengths are in the unit of the caller's coordinates. Error: none, vertices are kept as given;
// placed ones are rounded as `Placed` of carom/geometry.h says. Cost: O(n) to create and to place,
// n the vertices; O(1) to copy. Thread-safe. Cheaper: carom/convex.h for one convex ring; richer:
// carom/scene.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

class Polygon;

namespace internal {

// For the bundle reader: the polygon of `head`, but for its rings and user data, which are not
// read, with one closed ring of one vertex or more, accepted and as `Normalized` reads them. It is
// taken as it is: a vertex at the end that equals the first one stays.
Polygon PolygonOfRing(const PolygonSpec& head, std::span<const Vec2> ring);

// Makes a copy that counts as no owner (core/src/index/unowned.h).
struct AsUnowned {};
template <class T>
class Unowned;

}  // namespace internal

// An immutable polygon. Copies share it, so copying costs O(1). A polygon moved from may only be
// assigned to or destroyed. Thread-safe: no member function writes. Memory: 72 bytes and 16 a
// vertex; more for several rings, open chains and user data.
class Polygon {
 public:
  // Reads coordinates as `Normalized` does and checks the rest.
  //
  // Errors, each INVALID_ARGUMENT with a field path such as `rings[0].x[3]`, unless named:
  //   * no ring; an empty ring; an open ring on a SOLID polygon;
  //   * a coordinate that is NaN, infinite or above 2^53 in magnitude;
  //   * RESOURCE_EXHAUSTED: more vertices or user data than `limits` allow.
  static absl::StatusOr<Polygon> Create(PolygonSpec spec, const PolygonLimits& limits = {});

  Polygon(const Polygon& other) : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Polygon(Polygon&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Polygon& operator=(Polygon other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Polygon() {
    if (block_ != nullptr) Release();
  }

  uint64_t id() const { return block_->id; }
  FillRule fill_rule() const { return block_->fill_rule; }
  Solidity solidity() const { return block_->solidity; }
  // A query with mask m considers the polygon when category & m is not 0.
  uint64_t category() const { return block_->category; }
  const std::string& user_data() const;

  const Box& bounds() const { return block_->bounds; }
  size_t vertex_count() const { return block_->vertex_count; }
  size_t edge_count() const {
    return is_one_closed_ring() ? block_->vertex_count : block_->details->next.size();
  }
  // The vertices of all rings, ring after ring, without closing duplicates.
  std::span<const Vec2> vertices() const { return {block_->vertices(), block_->vertex_count}; }

  size_t ring_count() const { return is_one_closed_ring() ? 1 : block_->details->rings.size(); }
  // The vertices of ring `ring`, without the closing duplicate.
  std::span<const Vec2> ring(size_t ring) const {
    if (is_one_closed_ring()) return vertices();
    const Ring& found = block_->details->rings[ring];
    return vertices().subspan(found.first_vertex, found.vertex_count);
  }
  bool is_open(size_t ring) const {
    return !is_one_closed_ring() && block_->details->rings[ring].open;
  }
  // Whether it has one ring, which is closed: edge i then runs from vertex i to the next one.
  bool is_one_closed_ring() const { return block_->is_one_closed_ring; }

  // Edge `index` in [0, edge_count()), ring after ring.
  Segment edge(size_t index) const {
    const Vec2* v = block_->vertices();
    if (is_one_closed_ring()) {
      return {v[index], v[index + 1 == block_->vertex_count ? 0 : index + 1]};
    }
    return {v[block_->details->tail[index]], v[block_->details->next[index]]};
  }
  EdgeRef edge_ref(size_t index) const;

  // Whether a point with this winding number is filled. Always false for BOUNDARY.
  bool IsFilled(int64_t winding) const {
    if (solidity() == Solidity::kBoundary) return false;
    return fill_rule() == FillRule::kEvenOdd ? winding % 2 != 0 : winding != 0;
  }

  // Where it lies, for whoever asks the processor to fetch it ahead.
  const void* memory() const { return block_; }

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

  // What few polygons have.
  struct Details {
    std::string user_data;
    // Of anything but one closed ring:
    std::vector<Ring> rings;
    std::vector<uint32_t> tail;  // of each edge, its first vertex
    std::vector<uint32_t> next;  // of each edge, its second vertex
  };

  // One allocation, the vertices behind it, so that a query that reaches a polygon finds all it
  // needs side by side.
  struct Block {
    std::atomic<uint32_t> owners = 1;
    uint32_t vertex_count = 0;
    uint64_t id = 0;
    uint64_t category = 1;
    Box bounds;
    std::unique_ptr<Details> details;
    FillRule fill_rule = FillRule::kEvenOdd;
    Solidity solidity = Solidity::kSolid;
    bool is_one_closed_ring = true;
    std::atomic<uint8_t> convexity = 0;  // known once it is in a scene (`IndexedPolygon`)
    uint32_t capacity = 0;               // vertices that there is room for

    static Block* New(size_t vertex_count);
    static void Delete(Block* block);
    const Vec2* vertices() const { return reinterpret_cast<const Vec2*>(this + 1); }
    Vec2* vertices() { return reinterpret_cast<Vec2*>(this + 1); }
  };

  friend bool PlaceInto(const Polygon& shape, const Pose& pose, std::optional<Polygon>& placed);
  friend void RingInto(std::span<const Vec2> ring, std::optional<Polygon>& polygon);
  friend Polygon internal::PolygonOfRing(const PolygonSpec& head, std::span<const Vec2> ring);
  friend class IndexedPolygon;
  friend class internal::Unowned<Polygon>;

  explicit Polygon(Block* block) : block_(block) {}
  Polygon(const Polygon& other, internal::AsUnowned /*tag*/) : block_(other.block_) {}
  // The one that lies there (`memory`); none at null.
  Polygon(const void* memory, internal::AsUnowned /*tag*/)
      : block_(static_cast<Block*>(const_cast<void*>(memory))) {}
  static Block& Reuse(std::optional<Polygon>& polygon, size_t vertex_count);
  void Release();
  static std::unique_ptr<Details> DetailsOf(PolygonSpec& spec);

  Block* block_;
};

// A moving shape at a pose: the polygon of its placed vertices (`Placed`), same rings, fill rule,
// solidity and id. INVALID_ARGUMENT if a placed vertex leaves the accepted range. Cost O(vertices).
absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose);

// The same for whoever places often: writes over `placed` where it has room and no copy of it is
// left, and allocates otherwise. Returns false, with `placed` empty, where the other is an error.
bool PlaceInto(const Polygon& shape, const Pose& pose, std::optional<Polygon>& placed);

// A solid polygon of one closed ring, whose vertices are accepted, in the memory of `polygon`
// likewise.
void RingInto(std::span<const Vec2> ring, std::optional<Polygon>& polygon);

}  // namespace carom
