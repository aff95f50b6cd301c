// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the index over its edges, shared by all scene versions that hold it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "index/edge_index.h"
#include "shape/convex_core.h"

namespace carom {

// A polygon of a scene is judged for convexity when it is indexed, once for all queries, and its
// index is made for many. One that serves a single query is neither: a mover, which is as convex as
// its shape before placing, or a box. One for few lookups has no index before `MakeIndex`.
enum class IndexUse : uint8_t { kScene, kOneQuery, kFewLookups };

// Thread-safe once its index is made. Copies share the index.
class IndexedPolygon {
 public:
  // Polygons of at most so many edges get no index: looking at all of them is as fast.
  static constexpr size_t kMaxScanned = 24;

  // O(n), or O(n log n) for a large polygon of a scene.
  explicit IndexedPolygon(Polygon polygon, IndexUse use = IndexUse::kScene)
      : polygon_(std::move(polygon)),
        convexity_(use == IndexUse::kScene ? internal::ConvexityOf(polygon_)
                                           : internal::Convexity::kNone) {
    if (use != IndexUse::kFewLookups) MakeIndex(use);
  }

  // Makes the index that is not there yet. Without it everything works, in O(n) a lookup.
  void MakeIndex(IndexUse use = IndexUse::kOneQuery) {
    if (large_ == nullptr && polygon_.edge_count() > kMaxScanned) large_ = MakeLarge(use);
  }

  const Polygon& polygon() const { return polygon_; }
  // As contacts take it; none for a mover.
  internal::Convexity convexity() const { return convexity_; }
  bool is_convex() const { return convexity_ != internal::Convexity::kNone; }
  // ThreadScratch for a convex polygon of more than `kMaxUnkept` vertices, null for others: the
  // core of a small one takes more memory than the polygon, and little time to find or none.
  const internal::ConvexCore* core() const {
    return large_ && large_->core ? &*large_->core : nullptr;
  }
  static constexpr size_t kMaxUnkept = 256;
  // Null without one.
  const internal::EdgeIndex* edge_index() const { return large_ ? &large_->edges : nullptr; }

  // Calls visit(first, last) for runs of at most eight edges, in order, while it returns true and
  // the meter allows: for each run one of whose edges may have a box that passes `meets`. Returns
  // whether the traversal ran to its end. `meets` is asked about boxes of several edges, rounded
  // outward; it is fastest as a `MeetsBox`. The edges are for the visitor to test and to count.
  template <class Meets, class Visit>
  bool VisitRuns(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    if (!meets(polygon_.bounds())) return true;
    if (large_) return large_->edges.VisitRuns(meter, meets, visit);
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

 private:
  struct Large {
    internal::EdgeIndex edges;
    std::optional<internal::ConvexCore> core;
  };

  std::shared_ptr<const Large> MakeLarge(IndexUse use) const {
    using internal::EdgeIndex;
    const auto strips =
        use == IndexUse::kScene ? EdgeIndex::Strips::kAll : EdgeIndex::Strips::kNone;
    std::optional<internal::ConvexCore> core;
    if (is_convex() && polygon_.vertex_count() > kMaxUnkept) {
      core = internal::ConvexCore(polygon_.ring(0), convexity_);
    }
    return std::make_shared<const Large>(Large{EdgeIndex(polygon_, strips), std::move(core)});
  }

  Polygon polygon_;
  internal::Convexity convexity_;
  std::shared_ptr<const Large> large_;  // null without an index
};

namespace internal {

// The winding number counts the signed crossings of the horizontal ray from `p` to the right, in
// the half-open sense of `PointScan`. Once `meter` has stopped, the result is meaningless.
PointInPolygon LocateInPolygon(const IndexedPolygon& polygon, Vec2 p, WorkMeter& meter);

}  // namespace internal
}  // namespace carom
