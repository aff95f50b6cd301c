// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a polygon, and which polygons are legal?
//
// `Polygon` is a shape of one or more rings, valid by construction: only `Polygon::Create` and
// `PlacedPolygon` can fail. Start with `Polygon::Create`. Concave, holed, self-touching,
// self-crossing and degenerate rings are all legal and used as given: no vertex is reordered, and
// none but a closing duplicate is dropped. A polygon is a closed set: the filled region together
// with every point of every edge. To query polygons, put them in a scene (carom/scene.h).
//
//   PolygonSpec spec;
//   spec.id = 7;
//   spec.rings.push_back({{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, false});
//   const absl::StatusOr<Polygon> square = Polygon::Create(spec);
//   // square->edge_count() == 4, square->bounds(): from (0, 0) to (4, 4)
//
// Lengths are in the unit of the caller's coordinates. Error: none, vertices are kept as
// `Normalized` of carom/geometry.h reads them; placed vertices are rounded as by `Placed` of
// carom/geometry.h. Cost: O(n) to create or place a polygon of n vertices, O(1) to copy it.
// Thread-safe. Cheaper alternative: carom/convex.h for one convex ring. More powerful:
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

// Which points count as filled, by the exact winding number over all rings: EVEN_ODD if the number
// is odd, NON_ZERO if it is not 0.
enum class FillRule : uint8_t { kEvenOdd, kNonZero };

// Which points belong to a polygon. SOLID: the filled region and the edges. BOUNDARY: the edges
// alone (a hollow polygon).
enum class Solidity : uint8_t { kSolid, kBoundary };

// One ring as a caller describes it. A closed ring of n vertices has n edges: edge i runs from
// vertex i to vertex i+1, the last edge back to vertex 0. A ring of one vertex has edge 0, a point;
// a ring of two vertices has edges 0 and 1. An open chain (BOUNDARY polygons only) has n-1 edges,
// or one if n is 1. A closed ring of two or more vertices may repeat its first vertex at the end:
// `Polygon::Create` drops one such closing duplicate.
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

// The limits that `Polygon::Create` enforces. They bound memory and change no answer.
struct PolygonLimits {
  size_t max_vertices = 1048576;
  size_t max_user_data_bytes = 4096;
};

// Names an edge: the number of its ring, in the caller's order, and the number of the edge in the
// ring.
struct EdgeRef {
  uint32_t ring = 0;
  uint32_t edge = 0;

  friend constexpr auto operator<=>(const EdgeRef&, const EdgeRef&) = default;
};

class Polygon;

namespace internal {

// Returns, for the bundle reader, a polygon of one closed ring with the id, category, fill rule and
// solidity of `head`; ignores the rings and user data of `head`. `ring` has at least one vertex,
// and its coordinates are accepted and normalized (`Normalized`). The ring is used as it is: a last
// vertex that equals the first one stays.
Polygon PolygonOfRing(const PolygonSpec& head, std::span<const Vec2> ring);

// Selects the constructors that do not count an owner (core/src/index/unowned.h).
struct AsUnowned {};
template <class T>
class Unowned;

}  // namespace internal

// An immutable polygon. Copies share one block of memory, so a copy costs O(1). A moved-from
// polygon may only be assigned to or destroyed. Thread-safe: no const member function changes the
// polygon. Memory: 72 bytes, and 16 for each vertex; more for several rings, open chains and user
// data.
class Polygon {
 public:
  // Creates the polygon that `spec` describes. Reads coordinates as `Normalized` does.
  //
  // Errors are INVALID_ARGUMENT with a field path such as `rings[0].x[3]`, unless named otherwise:
  //   * there is no ring, or an empty ring, or an open ring in a SOLID polygon;
  //   * a coordinate is NaN, infinite or above 2^53 in magnitude;
  //   * RESOURCE_EXHAUSTED: there are more vertices or user data than `limits` allow.
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
  // Returns the category bits. A query with mask m considers the polygon if `category() & m` is not
  // 0.
  uint64_t category() const { return block_->category; }
  const std::string& user_data() const;

  const Box& bounds() const { return block_->bounds; }
  size_t vertex_count() const { return block_->vertex_count; }
  size_t edge_count() const {
    return is_one_closed_ring() ? block_->vertex_count : block_->details->next.size();
  }
  // Returns the vertices of all rings, ring after ring, without closing duplicates.
  std::span<const Vec2> vertices() const { return {block_->vertices(), block_->vertex_count}; }

  size_t ring_count() const { return is_one_closed_ring() ? 1 : block_->details->rings.size(); }
  // Returns the vertices of ring `ring`, without the closing duplicate.
  std::span<const Vec2> ring(size_t ring) const {
    if (is_one_closed_ring()) return vertices();
    const Ring& found = block_->details->rings[ring];
    return vertices().subspan(found.first_vertex, found.vertex_count);
  }
  bool is_open(size_t ring) const {
    return !is_one_closed_ring() && block_->details->rings[ring].open;
  }
  // Returns whether the polygon has one ring, which is closed: edge i then runs from vertex i to
  // the next vertex.
  bool is_one_closed_ring() const { return block_->is_one_closed_ring; }

  // Returns edge `index` in [0, edge_count()); edges are numbered ring after ring.
  Segment edge(size_t index) const {
    const Vec2* v = block_->vertices();
    if (is_one_closed_ring()) {
      return {v[index], v[index + 1 == block_->vertex_count ? 0 : index + 1]};
    }
    return {v[block_->details->tail[index]], v[block_->details->next[index]]};
  }
  EdgeRef edge_ref(size_t index) const;

  // Returns whether a point with the winding number `winding` is filled. Always false for a
  // BOUNDARY polygon.
  bool IsFilled(int64_t winding) const {
    if (solidity() == Solidity::kBoundary) return false;
    return fill_rule() == FillRule::kEvenOdd ? winding % 2 != 0 : winding != 0;
  }

  // Returns the address of the polygon's memory, for code that prefetches it.
  const void* memory() const { return block_; }

  // Returns a description from which `Create` makes an equal polygon: a closed ring that ends with
  // its first vertex is described with the closing duplicate that `Create` drops.
  PolygonSpec spec() const;

 private:
  struct Ring {
    uint32_t first_vertex;
    uint32_t vertex_count;
    uint32_t first_edge;
    bool open;
  };

  // The data that few polygons have.
  struct Details {
    std::string user_data;
    // Empty for a polygon of one closed ring:
    std::vector<Ring> rings;
    std::vector<uint32_t> tail;  // first vertex of each edge
    std::vector<uint32_t> next;  // second vertex of each edge
  };

  // The memory of a polygon: one allocation, with the vertices right behind the block, so that a
  // query that reaches a polygon reads adjacent memory.
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
    std::atomic<uint8_t> convexity = 0;  // 0 until a scene computes it (`IndexedPolygon`)
    uint32_t capacity = 0;               // vertices that the allocation has room for

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
  // Refers to the block at the address `memory` (see `memory()`); to no block if it is null.
  Polygon(const void* memory, internal::AsUnowned /*tag*/)
      : block_(static_cast<Block*>(const_cast<void*>(memory))) {}
  static Block& Reuse(std::optional<Polygon>& polygon, size_t vertex_count);
  void Release();
  static std::unique_ptr<Details> DetailsOf(PolygonSpec& spec);

  Block* block_;
};

// Returns a moving shape at a pose: the polygon of its placed vertices (`Placed`), with the rings,
// fill rule, solidity, id, category and user data of `shape`. INVALID_ARGUMENT if a placed vertex
// leaves the accepted range. Cost O(vertices).
absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose);

// Sets `placed` to what `PlacedPolygon` returns, for callers that place often: overwrites the
// memory of `placed` if it has room and no copy shares it, and allocates otherwise. Returns false
// and empties `placed` if `PlacedPolygon` would return an error.
bool PlaceInto(const Polygon& shape, const Pose& pose, std::optional<Polygon>& placed);

// Sets `polygon` to a solid polygon of one closed ring of accepted vertices. Overwrites the memory
// of `polygon` if it has room and no copy shares it, and allocates otherwise.
void RingInto(std::span<const Vec2> ring, std::optional<Polygon>& polygon);

}  // namespace carom
