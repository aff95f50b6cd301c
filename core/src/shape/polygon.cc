// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/polygon.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/batch.h"
#include "carom/status.h"
#include "shape/place_vertices.h"

namespace carom {
namespace {

// Adds the violations of the rules for rings to `refusal`, which keeps the first violations and
// counts the further ones. NaN is refused, too: every comparison with NaN is false, so `IsAccepted`
// returns false.
void CheckRing(size_t index, const RingSpec& ring, Solidity solidity, Refusal& refusal) {
  if (ring.vertices.empty()) {
    refusal.Add(absl::StrCat("rings[", index, "]"), "must have at least one vertex");
  }
  if (ring.open && solidity == Solidity::kSolid) {
    refusal.Add(absl::StrCat("rings[", index, "].open"),
                "must be false in a SOLID polygon: only BOUNDARY polygons have open chains");
  }
  for (size_t i = 0; i < ring.vertices.size(); ++i) {
    const Vec2 p = ring.vertices[i];
    if (!IsAccepted(p.x)) {
      refusal.Add(absl::StrCat("rings[", index, "].x[", i, "]"),
                  Description(ItemFault::kNotAccepted));
    }
    if (!IsAccepted(p.y)) {
      refusal.Add(absl::StrCat("rings[", index, "].y[", i, "]"),
                  Description(ItemFault::kNotAccepted));
    }
  }
}

// Checks the numbers of vertices and bytes before any work that grows with the vertices, so that
// refusing a polygon that is too large costs nothing.
absl::Status CheckSize(const PolygonSpec& spec, const PolygonLimits& limits) {
  size_t vertices = 0;
  for (const RingSpec& ring : spec.rings) vertices += ring.vertices.size();
  if (vertices > limits.max_vertices) {
    return Refused(absl::StatusCode::kResourceExhausted, "rings",
                   absl::StrCat("must have at most ", limits.max_vertices,
                                " vertices in all (vertices a polygon)"));
  }
  if (spec.user_data.size() > limits.max_user_data_bytes) {
    return Refused(absl::StatusCode::kResourceExhausted, "user_data",
                   absl::StrCat("must be at most ", limits.max_user_data_bytes,
                                " bytes (user data a polygon)"));
  }
  return absl::OkStatus();
}

// Returns the vertices of a ring without its closing duplicate (the last vertex of a closed ring,
// if it equals the first). The edges of a closed ring return to its first vertex anyway. Only one
// duplicate is dropped: if the last of the other vertices equals the first vertex again, the edge
// between them has length zero, as the caller wrote it.
std::span<const Vec2> OpenVertices(const RingSpec& ring) {
  const std::span<const Vec2> all = ring.vertices;
  const bool repeats = !ring.open && all.size() >= 2 && all.front() == all.back();
  return repeats ? all.first(all.size() - 1) : all;
}

}  // namespace

// A block holds the data of a polygon; copies of the polygon share it. Allocates a block and its
// vertices at once, the vertices directly after the block, so that a polygon of few vertices is
// read in one or two cache lines. The assertion checks that the vertices are aligned.
Polygon::Block* Polygon::Block::New(size_t vertex_count) {
  static_assert(alignof(Vec2) <= alignof(Block) && sizeof(Block) % alignof(Vec2) == 0);
  void* memory = ::operator new(sizeof(Block) + vertex_count * sizeof(Vec2));
  auto* block = new (memory) Block;
  block->vertex_count = static_cast<uint32_t>(vertex_count);
  block->capacity = block->vertex_count;
  std::uninitialized_value_construct_n(block->vertices(), vertex_count);
  return block;
}

void Polygon::Block::Delete(Block* block) {
  block->~Block();
  ::operator delete(block);
}

// The polygons that share a block own it. The release by every other owner happens before the
// deletion by the last owner, hence acq_rel.
void Polygon::Release() {
  if (block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) Block::Delete(block_);
}

// Returns the part of a polygon that most polygons do not need: the user data, the table of rings,
// and, because the edges of several rings are numbered consecutively, the vertices at the tail and
// the head of each edge. An open chain has one edge less than vertices, but a chain of one vertex
// has one edge, a point. Returns null for one closed ring without user data. The coordinates of
// `spec` must be normalised.
std::unique_ptr<Polygon::Details> Polygon::DetailsOf(PolygonSpec& spec) {
  const bool is_one_closed_ring = spec.rings.size() == 1 && !spec.rings[0].open;
  if (is_one_closed_ring && spec.user_data.empty()) return nullptr;
  auto details = std::make_unique<Details>();
  details->user_data = std::move(spec.user_data);
  if (is_one_closed_ring) return details;
  uint32_t first = 0;
  for (const RingSpec& ring : spec.rings) {
    const auto count = static_cast<uint32_t>(OpenVertices(ring).size());
    const auto first_edge = static_cast<uint32_t>(details->tail.size());
    details->rings.push_back({first, count, first_edge, ring.open});
    const uint32_t edges = ring.open && count > 1 ? count - 1 : count;
    for (uint32_t i = 0; i < edges; ++i) {
      details->tail.push_back(first + i);
      details->next.push_back(first + (i + 1 == count ? 0 : i + 1));
    }
    first += count;
  }
  return details;
}

absl::StatusOr<Polygon> Polygon::Create(PolygonSpec spec, const PolygonLimits& limits) {
  if (absl::Status size = CheckSize(spec, limits); !size.ok()) return size;
  Refusal refusal;
  if (spec.rings.empty()) refusal.Add("rings", "must have at least one ring");
  for (size_t i = 0; i < spec.rings.size(); ++i) {
    CheckRing(i, spec.rings[i], spec.solidity, refusal);
  }
  if (!refusal.empty()) return refusal.status();

  size_t vertex_count = 0;
  for (RingSpec& ring : spec.rings) {
    // Normalises before `OpenVertices` compares vertices: -0 and magnitudes below 2^-140 become 0,
    // and a last vertex may thereby become equal to the first.
    for (Vec2& p : ring.vertices) p = Normalized(p);
    vertex_count += OpenVertices(ring).size();
  }
  Polygon polygon(Block::New(vertex_count));
  Block& block = *polygon.block_;
  block.id = spec.id;
  block.category = spec.category;
  block.fill_rule = spec.fill_rule;
  block.solidity = spec.solidity;
  Vec2* next = block.vertices();
  for (const RingSpec& ring : spec.rings) {
    for (const Vec2 p : OpenVertices(ring)) {
      *next++ = p;
      block.bounds.Extend(p);
    }
  }
  block.details = DetailsOf(spec);
  block.is_one_closed_ring = block.details == nullptr || block.details->rings.empty();
  return polygon;
}

const std::string& Polygon::user_data() const {
  static const std::string* const none = new std::string;
  return block_->details == nullptr ? *none : block_->details->user_data;
}

// Finds the ring that contains the edge `index`: the last ring with a `first_edge` of at most
// `index`.
EdgeRef Polygon::edge_ref(size_t index) const {
  if (is_one_closed_ring()) return {0, static_cast<uint32_t>(index)};
  const std::vector<Ring>& rings = block_->details->rings;
  const auto after =
      std::upper_bound(rings.begin(), rings.end(), index,
                       [](size_t edge, const Ring& ring) { return edge < ring.first_edge; });
  const auto ring = static_cast<uint32_t>(after - rings.begin() - 1);
  return {ring, static_cast<uint32_t>(index) - rings[ring].first_edge};
}

// If a closed ring ends with a vertex that equals its first one, appends the first vertex once
// more: `Create` drops one closing duplicate, and would otherwise drop a vertex of the ring.
PolygonSpec Polygon::spec() const {
  PolygonSpec spec{id(), {}, fill_rule(), solidity(), category(), user_data()};
  for (size_t i = 0; i < ring_count(); ++i) {
    const std::span<const Vec2> vertices = ring(i);
    RingSpec described{{vertices.begin(), vertices.end()}, is_open(i)};
    if (!described.open && vertices.size() >= 2 && vertices.front() == vertices.back()) {
      described.vertices.push_back(vertices.front());
    }
    spec.rings.push_back(std::move(described));
  }
  return spec;
}

absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose) {
  std::optional<Polygon> placed;
  if (!PlaceInto(shape, pose, placed)) {
    return InvalidField("", Description(ItemFault::kPlacedOutOfRange));
  }
  return *std::move(placed);
}

// A block holds the data of a polygon; copies of the polygon share it. Returns the block of
// `polygon` with room for `vertex_count` vertices; first gives `polygon` a new block if another
// polygon shares the block or its capacity is too small. If the block has one owner, no other
// thread can add an owner meanwhile: copies can only be made of `polygon`, which this thread alone
// uses.
Polygon::Block& Polygon::Reuse(std::optional<Polygon>& polygon, size_t vertex_count) {
  if (!polygon || polygon->block_->owners.load(std::memory_order_acquire) != 1 ||
      polygon->block_->capacity < vertex_count) {
    polygon = Polygon(Block::New(vertex_count));
  }
  polygon->block_->vertex_count = static_cast<uint32_t>(vertex_count);
  return *polygon->block_;
}

// Writes every field of the block (the data of `polygon`) except its capacity, because the block
// may hold the fields of another polygon.
void RingInto(std::span<const Vec2> ring, std::optional<Polygon>& polygon) {
  Polygon::Block& block = Polygon::Reuse(polygon, ring.size());
  std::copy(ring.begin(), ring.end(), block.vertices());
  block.bounds = {};
  for (const Vec2 p : ring) block.bounds.Extend(p);
  block.id = 0;
  block.category = 1;
  block.fill_rule = FillRule::kEvenOdd;
  block.solidity = Solidity::kSolid;
  block.is_one_closed_ring = true;
  block.details = nullptr;
}

// Makes the polygon that `Polygon::Create` would make of a single closed ring with accepted
// vertices, but in one pass and without the checks of `Create`.
Polygon internal::PolygonOfRing(const PolygonSpec& head, std::span<const Vec2> ring) {
  Polygon polygon(Polygon::Block::New(ring.size()));
  Polygon::Block& block = *polygon.block_;
  block.id = head.id;
  block.category = head.category;
  block.fill_rule = head.fill_rule;
  block.solidity = head.solidity;
  std::copy(ring.begin(), ring.end(), block.vertices());
  for (const Vec2 p : ring) block.bounds.Extend(p);
  return polygon;
}

// Rotates and moves all vertices by `pose`. Returns false, and leaves `placed` empty, if the
// bounding box of the placed vertices is not within the accepted range (at most 2^53 in magnitude).
// NaN cannot occur, because vertices and poses are finite. If `placed` holds `shape` itself,
// `shape` is copied first, so that its vertices are not overwritten while they are read.
bool PlaceInto(const Polygon& shape, const Pose& pose, std::optional<Polygon>& placed) {
  if (placed && &*placed == &shape) return PlaceInto(Polygon(shape), pose, placed);
  const Polygon::Block& from = *shape.block_;
  Polygon::Block& block = Polygon::Reuse(placed, from.vertex_count);
  const Pose read{Normalized(pose.position), pose.c, pose.s};
  block.bounds = internal::PlaceVertices(read, shape.vertices(), block.vertices());
  if (!IsAccepted(block.bounds.min) || !IsAccepted(block.bounds.max)) {
    placed.reset();
    return false;
  }
  block.id = from.id;
  block.category = from.category;
  block.fill_rule = from.fill_rule;
  block.solidity = from.solidity;
  block.is_one_closed_ring = from.is_one_closed_ring;
  if (from.details == nullptr) {
    block.details = nullptr;
  } else if (block.details == nullptr) {
    block.details = std::make_unique<Polygon::Details>(*from.details);
  } else {
    *block.details = *from.details;
  }
  return true;
}

}  // namespace carom
