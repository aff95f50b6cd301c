// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon with the hierarchy over its edges, shared by all scene versions that hold it.
#pragma once

#include <cstddef>
#include <utility>

#include "box_hierarchy.h"
#include "carom/geometry.h"
#include "carom/locate.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"

namespace carom {

// Immutable after construction, hence thread-safe.
class IndexedPolygon {
 public:
  explicit IndexedPolygon(Polygon polygon)
      : polygon_(std::move(polygon)),
        edges_(polygon_.edge_count(), [this](size_t i) { return BoundsOf(polygon_.edge(i)); }) {}

  IndexedPolygon(const IndexedPolygon&) = delete;
  IndexedPolygon& operator=(const IndexedPolygon&) = delete;

  const Polygon& polygon() const { return polygon_; }

  // Calls visit(edge index, edge) for the edges whose own box passes `meets`, in order, while it
  // returns true and the meter allows. Returns whether the traversal ran to its end.
  template <class Meets, class Visit>
  bool VisitEdges(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return edges_.Traverse(meets, [&](size_t first, size_t last) {
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

}  // namespace internal
}  // namespace carom
