// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the index over its edges, shared by all scene versions that contain the polygon.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/edge_index.h"
#include "shape/convex_core.h"
#include "shape/lane_box.h"

namespace carom {

// The use that decides what an `IndexedPolygon` computes. kScene: the convexity, once for all
// queries, and an index with strips, because many queries use it. kOneQuery, for a box or a mover
// (which is as convex as its shape before placing): an index without strips. kFewLookups: no index
// before `MakeIndex`.
enum class IndexUse : uint8_t { kScene, kOneQuery, kFewLookups };

// Thread-safe once its index is made. Copies share the index. Its size is 16 bytes, because a scene
// has one for each polygon.
class IndexedPolygon {
 public:
  // A polygon of at most this many edges gets no index: testing all of its edges is as fast.
  static constexpr size_t kMaxEdgesWithoutIndex = 24;

  // Takes O(n), or O(n log n) for a large polygon of a scene.
  explicit IndexedPolygon(Polygon polygon, IndexUse use = IndexUse::kScene)
      : polygon_(std::move(polygon)) {
    if (use == IndexUse::kScene) {
      tagged_index_ = static_cast<uintptr_t>(internal::ConvexityOf(polygon_));
      // Stores the convexity beside the vertices, for callers that only have the `Polygon`. All
      // scenes that contain the polygon store the same value.
      polygon_.block_->convexity.store(static_cast<uint8_t>(tagged_index_),
                                       std::memory_order_relaxed);
    }
    if (use != IndexUse::kFewLookups) MakeIndex(use);
  }
  IndexedPolygon(const IndexedPolygon& other)
      : polygon_(other.polygon_), tagged_index_(other.tagged_index_) {
    if (shared_index() != nullptr) shared_index()->owners.fetch_add(1, std::memory_order_relaxed);
  }
  IndexedPolygon(const IndexedPolygon& other, internal::AsUnowned tag)
      : polygon_(other.polygon_, tag), tagged_index_(other.tagged_index_) {}
  IndexedPolygon(IndexedPolygon&& other) noexcept
      : polygon_(std::move(other.polygon_)), tagged_index_(std::exchange(other.tagged_index_, 0)) {}
  IndexedPolygon& operator=(IndexedPolygon other) noexcept {
    std::swap(polygon_, other.polygon_);
    std::swap(tagged_index_, other.tagged_index_);
    return *this;
  }
  ~IndexedPolygon() {
    const SharedIndex* const shared = shared_index();
    if (shared != nullptr && shared->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete shared;
  }

  // Makes the index unless it exists or the polygon has too few edges. Without an index every
  // function works, in O(n) a lookup.
  void MakeIndex(IndexUse use = IndexUse::kOneQuery) {
    if (shared_index() != nullptr || polygon_.edge_count() <= kMaxEdgesWithoutIndex) return;
    tagged_index_ |= reinterpret_cast<uintptr_t>(MakeSharedIndex(use));
  }

  const Polygon& polygon() const { return polygon_; }
  // Returns the convexity as contacts use it; NONE unless the polygon was made for a scene.
  internal::Convexity convexity() const {
    return static_cast<internal::Convexity>(tagged_index_ & kConvexityBits);
  }
  bool is_convex() const { return convexity() != internal::Convexity::kNone; }
  // Returns the convexity, as contacts use it, of a polygon that a scene contains.
  static internal::Convexity ConvexityInScene(const Polygon& polygon) {
    return static_cast<internal::Convexity>(
        polygon.block_->convexity.load(std::memory_order_relaxed));
  }
  // Returns the hull of a convex scene polygon of more than `kMaxVerticesWithoutCore` vertices,
  // null for other polygons: the core of a small polygon takes more memory than the polygon, and
  // little time to compute.
  const internal::ConvexCore* core() const {
    return shared_index() != nullptr && shared_index()->core ? &*shared_index()->core : nullptr;
  }
  static constexpr size_t kMaxVerticesWithoutCore = 256;
  // Returns null if there is no index.
  const internal::EdgeIndex* edge_index() const {
    return shared_index() != nullptr ? &shared_index()->edges : nullptr;
  }

  // Calls visit(first, last) for runs of at most eight edges, in order: for each run that may have
  // an edge with a box that passes `meets`. Stops if `visit` returns false or the meter stops;
  // returns true if it did not stop. `meets` is called with boxes of several edges, rounded
  // outward; it is fastest as a `MeetsBox`. The visitor tests the edges and counts them.
  template <class Meets, class Visit>
  bool VisitRuns(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    if (!meets(polygon_.bounds())) return true;
    if (shared_index() != nullptr) return shared_index()->edges.VisitRuns(meter, meets, visit);
    const size_t edges = polygon_.edge_count();
    for (size_t first = 0; first < edges; first += internal::kLanes) {
      if (!visit(first, std::min(first + internal::kLanes, edges))) return false;
    }
    return true;
  }

  // Calls visit(edge index, edge) for the edges with an own box that passes `meets`, in order.
  // Stops if `visit` returns false or the meter stops; returns true if it did not stop.
  template <class Meets, class Visit>
  bool VisitEdges(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return VisitRuns(meter, meets, [&](size_t first, size_t last) {
      if (!meter.Spend(last - first)) return false;
      for (size_t i = first; i < last; ++i) {
        const Segment edge = polygon_.edge(i);
        if (meets(BoundsOf(edge)) && !visit(i, edge)) return false;
      }
      return true;
    });
  }

  // Does what the other `VisitEdges` does, for a `MeetsBox`: compares boxes in lanes.
  template <class Visit>
  bool VisitEdges(WorkMeter& meter, const internal::MeetsBox& meets, const Visit& visit) const {
    const internal::LaneBox reach(meets.reach);
    return VisitRuns(meter, meets, [&](size_t first, size_t last) {
      if (!meter.Spend(last - first)) return false;
      for (size_t i = first; i < last; ++i) {
        const Segment edge = polygon_.edge(i);
        if (internal::LaneBox(edge).Meets(reach) && !visit(i, edge)) return false;
      }
      return true;
    });
  }

 private:
  // The index of a large polygon, and its hull if it has one. It counts its owners (the copies of
  // the polygon) itself, which costs the many small polygons of a scene nothing.
  struct alignas(8) SharedIndex {
    SharedIndex(internal::EdgeIndex its_edges, std::optional<internal::ConvexCore> its_core)
        : edges(std::move(its_edges)), core(std::move(its_core)) {}

    internal::EdgeIndex edges;
    std::optional<internal::ConvexCore> core;
    mutable std::atomic<uint32_t> owners = 1;
  };
  static constexpr uintptr_t kConvexityBits = 3;

  // Returns null without an index.
  const SharedIndex* shared_index() const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer
    return reinterpret_cast<const SharedIndex*>(tagged_index_ & ~kConvexityBits);
  }

  const SharedIndex* MakeSharedIndex(IndexUse use) const {
    using internal::EdgeIndex;
    const auto strips =
        use == IndexUse::kScene ? EdgeIndex::Strips::kAll : EdgeIndex::Strips::kNone;
    std::optional<internal::ConvexCore> core;
    if (is_convex() && polygon_.vertex_count() > kMaxVerticesWithoutCore) {
      core = internal::ConvexCore(polygon_.ring(0), convexity());
    }
    return new SharedIndex(EdgeIndex(polygon_, strips), std::move(core));
  }

  Polygon polygon_;
  uintptr_t tagged_index_ = 0;  // the address of a `SharedIndex`, and the convexity in its low bits
};

namespace internal {

// Returns the location of `p` and its winding number: the signed crossings of the horizontal ray
// from `p` to the right, where edges count as in `PointScan`. Once `meter` has stopped, the result
// is meaningless.
PointInPolygon LocateInPolygon(const IndexedPolygon& polygon, Vec2 p, WorkMeter& meter);

}  // namespace internal
}  // namespace carom
