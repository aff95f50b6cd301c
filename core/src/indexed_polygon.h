// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the hierarchy over its edges, shared by all scene versions that hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "box_hierarchy.h"
#include "carom/geometry.h"
#include "carom/locate.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "convex_core.h"

namespace carom {

// A polygon of a scene is judged for convexity when it is indexed, once for all queries. One that
// serves a single query is not: a mover, which is as convex as its shape before placing, or a box.
enum class IndexUse : uint8_t { kScene, kOneQuery };

// Immutable after construction, hence thread-safe.
class IndexedPolygon {
 public:
  // O(n), or O(n log n) for a large convex polygon of a scene.
  explicit IndexedPolygon(Polygon polygon, IndexUse use = IndexUse::kScene)
      : polygon_(std::move(polygon)),
        edges_(polygon_.edge_count(), [this](size_t i) { return BoundsOf(polygon_.edge(i)); }),
        is_convex_(use == IndexUse::kScene && internal::IsConvexPolygon(polygon_)) {
    if (is_convex_ && polygon_.vertex_count() > kMaxUnkept) {
      core_ = std::make_unique<const internal::ConvexCore>(internal::CoreOfRing(polygon_.ring(0)));
    }
  }

  IndexedPolygon(const IndexedPolygon&) = delete;
  IndexedPolygon& operator=(const IndexedPolygon&) = delete;

  const Polygon& polygon() const { return polygon_; }
  // Whether contacts take it as convex; false for a mover.
  bool is_convex() const { return is_convex_; }
  // Kept for a convex polygon of more than `kMaxUnkept` vertices, null for others: the core of a
  // small one takes more memory than the polygon, and little time to find.
  const internal::ConvexCore* core() const { return core_.get(); }
  static constexpr size_t kMaxUnkept = 256;

  // Calls visit(edge index, edge) for the edges whose own box passes `meets`, in order, while it
  // returns true and the meter allows. Returns whether the traversal ran to its end.
  template <class Meets, class Visit>
  bool VisitEdges(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return edges_.Traverse(meter, meets, [&](size_t first, size_t last) {
      if (!meter.Spend(last - first)) return false;
      for (size_t i = first; i < last; ++i) {
        const Segment edge = polygon_.edge(i);
        if (meets(BoundsOf(edge)) && !visit(i, edge)) return false;
      }
      return true;
    });
  }

 private:
  Polygon polygon_;
  BoxHierarchy edges_;
  bool is_convex_;
  std::unique_ptr<const internal::ConvexCore> core_;
};

namespace internal {

// Where `p` is in the polygon, and its winding number (0 where it is on an edge: there is none).
struct PointInPolygon {
  Location location = Location::kOutside;
  int64_t winding = 0;
};

// Counts the signed crossings of the horizontal ray from `p` to the right. An edge counts where it
// passes p.y in the half-open sense (its lower end belongs to it, its upper one does not), so a
// vertex is never counted twice. Once `meter` has stopped, the result is meaningless.
PointInPolygon LocateInPolygon(const IndexedPolygon& polygon, Vec2 p, WorkMeter& meter);

// Whether `outer` holds the first vertex of some ring of `inner`. Where no edges meet, each ring
// lies in one face, so then it tells whether they share a point. Likewise meaningless once stopped.
bool HoldsRing(const IndexedPolygon& outer, const Polygon& inner, WorkMeter& meter);

}  // namespace internal
}  // namespace carom
