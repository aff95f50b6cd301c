// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the tree over its edges (`EdgeIndex`), shared by all scene versions that contain
// the polygon.
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

// What an `IndexedPolygon` is for, which decides what it computes. kScene, for a polygon of a
// scene, which many queries use: its convexity, and an index with strips (`EdgeIndex::Strips`),
// which takes longer to build and makes queries faster. kOneQuery, for a query box or a moving
// shape: an index without strips, and no convexity, because callers use the convexity that a moving
// shape has before it is placed. kFewLookups: no index before `MakeIndex`.
enum class IndexUse : uint8_t { kScene, kOneQuery, kFewLookups };

// A polygon with an optional index over its edges, a tree of bounding boxes with consecutive edges
// in each leaf. Thread-safe once the index is made. Copies share the index. The size of an
// `IndexedPolygon` is 16 bytes, because a scene has one `IndexedPolygon` for each polygon.
class IndexedPolygon {
 public:
  // A polygon of at most this many edges gets no index: testing all of its edges one by one is as
  // fast.
  static constexpr size_t kMaxEdgesWithoutIndex = 24;

  // Computes what `use` needs: for kScene the convexity and, if the polygon is large, the index;
  // for kOneQuery only the index of a large polygon; for kFewLookups nothing. O(n), or O(n log n)
  // for a large polygon of a scene.
  explicit IndexedPolygon(Polygon polygon, IndexUse use = IndexUse::kScene)
      : polygon_(std::move(polygon)) {
    if (use == IndexUse::kScene) {
      tagged_index_ = static_cast<uintptr_t>(internal::ConvexityOf(polygon_));
      // Stores the convexity in the memory block that all copies of the polygon share, for callers
      // that only have the `Polygon`. Several scenes may store it at once: all of them store the
      // same value.
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

  // Makes the index unless it exists or the polygon has at most `kMaxEdgesWithoutIndex` edges.
  // Without an index every function of the class works, but a lookup takes O(n).
  void MakeIndex(IndexUse use = IndexUse::kOneQuery) {
    if (shared_index() != nullptr || polygon_.edge_count() <= kMaxEdgesWithoutIndex) return;
    tagged_index_ |= reinterpret_cast<uintptr_t>(MakeSharedIndex(use));
  }

  const Polygon& polygon() const { return polygon_; }
  // Returns the convexity (whether contacts may treat the polygon as convex); kNone unless the
  // object was made with IndexUse::kScene.
  internal::Convexity convexity() const {
    return static_cast<internal::Convexity>(tagged_index_ & kConvexityBits);
  }
  bool is_convex() const { return convexity() != internal::Convexity::kNone; }
  // Returns the convexity (whether contacts may treat the polygon as convex) of a polygon that a
  // scene contains.
  static internal::Convexity ConvexityInScene(const Polygon& polygon) {
    return static_cast<internal::Convexity>(
        polygon.block_->convexity.load(std::memory_order_relaxed));
  }
  // Returns the strictly convex hull of a convex polygon of a scene with more than
  // `kMaxVerticesWithoutCore` vertices, else null: the `ConvexCore` of a smaller polygon would take
  // more memory than the polygon, and takes little time to compute when it is needed.
  const internal::ConvexCore* core() const {
    return shared_index() != nullptr && shared_index()->core ? &*shared_index()->core : nullptr;
  }
  static constexpr size_t kMaxVerticesWithoutCore = 256;
  // Returns null if there is no index.
  const internal::EdgeIndex* edge_index() const {
    return shared_index() != nullptr ? &shared_index()->edges : nullptr;
  }

  // Calls visit(first, last) for runs of at most eight consecutive edges, in ascending order: for
  // each run that may have an edge with a box that passes `meets`. Returns false if `visit`
  // returned false or the meter stopped the work, which ends the traversal; else true. `meets` is
  // called with boxes of several edges, rounded outward; the traversal is fastest if `meets` is a
  // `MeetsBox`. `visit` tests the edges of a run and counts them.
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

  // Calls visit(edge index, edge) for each edge with a bounding box that passes `meets`, in order.
  // Stops if `visit` returns false or the meter stops the work; returns true if it did not stop.
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

  // Does for a `MeetsBox` what the `VisitEdges` for any type `Meets` does, but faster: compares
  // both coordinates of the boxes at once in SIMD lanes.
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
  // The index of a large polygon, and its hull if `core` needs one. A `SharedIndex` counts its
  // owners (the copies of the `IndexedPolygon`) itself: so the many small polygons of a scene,
  // which have no index, need no memory for a count.
  struct alignas(8) SharedIndex {
    SharedIndex(internal::EdgeIndex its_edges, std::optional<internal::ConvexCore> its_core)
        : edges(std::move(its_edges)), core(std::move(its_core)) {}

    internal::EdgeIndex edges;
    std::optional<internal::ConvexCore> core;
    mutable std::atomic<uint32_t> owners = 1;
  };
  static constexpr uintptr_t kConvexityBits = 3;

  // Returns null if the polygon has no index.
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
  // The address of the `SharedIndex`, or 0 without an index, with the convexity in its two low
  // bits.
  uintptr_t tagged_index_ = 0;
};

namespace internal {

// Returns the location of `p` and the polygon's winding number around it: the number of signed
// crossings of the horizontal ray from `p` to the right, where the lower end of an edge belongs to
// the edge and its upper end does not. Once `meter` has stopped the work, the result is
// meaningless.
PointInPolygon LocateInPolygon(const IndexedPolygon& polygon, Vec2 p, WorkMeter& meter);

}  // namespace internal
}  // namespace carom
