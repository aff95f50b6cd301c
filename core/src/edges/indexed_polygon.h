// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the index over its edges, shared by all scene versions that hold it.
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

// A polygon of a scene is judged for convexity when it is indexed, once for all queries, and its
// index is made for many. One that serves a single query is neither: a mover, which is as convex as
// its shape before placing, or a box. One for few lookups has no index before `MakeIndex`.
enum class IndexUse : uint8_t { kScene, kOneQuery, kFewLookups };

// Thread-safe once its index is made. Copies share the index. 16 bytes: scenes have one for each
// polygon.
class IndexedPolygon {
 public:
  // Polygons of at most so many edges get no index: looking at all of them is as fast.
  static constexpr size_t kMaxScanned = 24;

  // O(n), or O(n log n) for a large polygon of a scene.
  explicit IndexedPolygon(Polygon polygon, IndexUse use = IndexUse::kScene)
      : polygon_(std::move(polygon)) {
    if (use == IndexUse::kScene) {
      more_ = static_cast<uintptr_t>(internal::ConvexityOf(polygon_));
      // Beside the vertices, for whoever comes to the polygon alone. All scenes write the same.
      polygon_.block_->convexity.store(static_cast<uint8_t>(more_), std::memory_order_relaxed);
    }
    if (use != IndexUse::kFewLookups) MakeIndex(use);
  }
  IndexedPolygon(const IndexedPolygon& other) : polygon_(other.polygon_), more_(other.more_) {
    if (large() != nullptr) large()->owners.fetch_add(1, std::memory_order_relaxed);
  }
  IndexedPolygon(const IndexedPolygon& other, internal::AsUnowned tag)
      : polygon_(other.polygon_, tag), more_(other.more_) {}
  IndexedPolygon(IndexedPolygon&& other) noexcept
      : polygon_(std::move(other.polygon_)), more_(std::exchange(other.more_, 0)) {}
  IndexedPolygon& operator=(IndexedPolygon other) noexcept {
    std::swap(polygon_, other.polygon_);
    std::swap(more_, other.more_);
    return *this;
  }
  ~IndexedPolygon() {
    const Large* const mine = large();
    if (mine != nullptr && mine->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete mine;
  }

  // Makes the index that is not there yet. Without it everything works, in O(n) a lookup.
  void MakeIndex(IndexUse use = IndexUse::kOneQuery) {
    if (large() != nullptr || polygon_.edge_count() <= kMaxScanned) return;
    more_ |= reinterpret_cast<uintptr_t>(MakeLarge(use));
  }

  const Polygon& polygon() const { return polygon_; }
  // As contacts take it; none for a mover.
  internal::Convexity convexity() const {
    return static_cast<internal::Convexity>(more_ & kConvexityBits);
  }
  bool is_convex() const { return convexity() != internal::Convexity::kNone; }
  // The same of a polygon of a scene.
  static internal::Convexity ConvexityInScene(const Polygon& polygon) {
    return static_cast<internal::Convexity>(
        polygon.block_->convexity.load(std::memory_order_relaxed));
  }
  // Kept for a convex polygon of more than `kMaxUnkept` vertices, null for others: the
  // core of a small one takes more memory than the polygon, and little time to find or none.
  const internal::ConvexCore* core() const {
    return large() != nullptr && large()->core ? &*large()->core : nullptr;
  }
  static constexpr size_t kMaxUnkept = 256;
  // Null without one.
  const internal::EdgeIndex* edge_index() const {
    return large() != nullptr ? &large()->edges : nullptr;
  }

  // Calls visit(first, last) for runs of at most eight edges, in order, while it returns true and
  // the meter allows: for each run one of whose edges may have a box that passes `meets`. Returns
  // whether the traversal ran to its end. `meets` is asked about boxes of several edges, rounded
  // outward; it is fastest as a `MeetsBox`. The edges are for the visitor to test and to count.
  template <class Meets, class Visit>
  bool VisitRuns(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    if (!meets(polygon_.bounds())) return true;
    if (large() != nullptr) return large()->edges.VisitRuns(meter, meets, visit);
    const size_t edges = polygon_.edge_count();
    for (size_t first = 0; first < edges; first += internal::kLanes) {
      if (!visit(first, std::min(first + internal::kLanes, edges))) return false;
    }
    return true;
  }

  // Calls visit(edge index, edge) for the edges whose own box passes `meets`, likewise.
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

  // The same for a box, in lanes.
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
  // As many owners as copies, counted here: a scene has many polygons, and few that are large.
  struct alignas(8) Large {
    Large(internal::EdgeIndex its_edges, std::optional<internal::ConvexCore> its_core)
        : edges(std::move(its_edges)), core(std::move(its_core)) {}

    internal::EdgeIndex edges;
    std::optional<internal::ConvexCore> core;
    mutable std::atomic<uint32_t> owners = 1;
  };
  static constexpr uintptr_t kConvexityBits = 3;

  // Null without an index. NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer
  const Large* large() const { return reinterpret_cast<const Large*>(more_ & ~kConvexityBits); }

  const Large* MakeLarge(IndexUse use) const {
    using internal::EdgeIndex;
    const auto strips =
        use == IndexUse::kScene ? EdgeIndex::Strips::kAll : EdgeIndex::Strips::kNone;
    std::optional<internal::ConvexCore> core;
    if (is_convex() && polygon_.vertex_count() > kMaxUnkept) {
      core = internal::ConvexCore(polygon_.ring(0), convexity());
    }
    return new Large(EdgeIndex(polygon_, strips), std::move(core));
  }

  Polygon polygon_;
  uintptr_t more_ = 0;  // the address of the index, and the convexity in its lowest bits
};

namespace internal {

// The winding number counts the signed crossings of the horizontal ray from `p` to the right, in
// the half-open sense of `PointScan`. Once `meter` has stopped, the result is meaningless.
PointInPolygon LocateInPolygon(const IndexedPolygon& polygon, Vec2 p, WorkMeter& meter);

}  // namespace internal
}  // namespace carom
