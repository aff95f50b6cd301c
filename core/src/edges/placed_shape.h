// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A shape at its pose, in the form that the kernels for pairs of shapes use.
//
// `PlacedShape` is the view that the kernels share: a polygon (of the scene or of a mover) or a
// capsule. `MovingShape` owns what that view of a mover needs, and reuses its memory from pose to
// pose: the placed vertices, and the index and the hull that some kernels need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "edges/edge_cluster.h"
#include "edges/indexed_polygon.h"
#include "edges/outline.h"
#include "numeric/box_distance.h"
#include "shape/convex_core.h"

namespace carom::internal {

// All points within a radius of a core. The core is a polygon, or the axis of a capsule, which
// counts as one ring with one edge. Borrows the polygon. Immutable, hence thread-safe.
class PlacedShape {
 public:
  // The radius is above 0 only if the polygon represents an axis (`MovingShape::RingView`).
  explicit PlacedShape(const IndexedPolygon& polygon, double radius = 0)
      : polygon_(&polygon), radius_(radius) {}
  explicit PlacedShape(const Capsule& capsule)
      : axis_(capsule.axis), radius_(capsule.radius), axis_bounds_(BoundsOf(capsule.axis)) {}

  // Returns null for a capsule.
  const IndexedPolygon* polygon() const { return polygon_; }
  double radius() const { return radius_; }
  // Returns the box of the core, without the radius.
  const Box& core_bounds() const { return polygon_ ? polygon_->polygon().bounds() : axis_bounds_; }
  // Returns a box of the whole shape, rounded outward.
  Box bounds() const { return Grown(core_bounds(), radius_); }

  // Returns true for a capsule with an axis of length 0. (Its edge 0 is a point.)
  bool IsPoint() const { return polygon_ == nullptr && axis_.a == axis_.b; }

  size_t edge_count() const { return polygon_ ? polygon_->polygon().edge_count() : 1; }
  Segment edge(size_t index) const { return polygon_ ? polygon_->polygon().edge(index) : axis_; }
  size_t ring_count() const { return polygon_ ? polygon_->polygon().ring_count() : 1; }
  Vec2 ring_start(size_t ring) const {
    return polygon_ ? polygon_->polygon().ring(ring).front() : axis_.a;
  }

  // Does what `IndexedPolygon::VisitEdges` does, for the edges of the core.
  template <class Meets, class Visit>
  bool VisitEdges(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    if (polygon_) return polygon_->VisitEdges(meter, meets, visit);
    return meter.Spend(1) && (!meets(axis_bounds_) || visit(size_t{0}, axis_));
  }

 private:
  const IndexedPolygon* polygon_ = nullptr;
  Segment axis_;
  double radius_ = 0;
  Box axis_bounds_;
};

// Returns the first ring of the core of `inner` that has its first vertex in the core of `outer`.
// No edges of the cores may meet, so that each ring lies in one face; nothing is inside of an axis.
// Once `meter` has stopped, the result is meaningless.
std::optional<size_t> FirstRingInside(const PlacedShape& outer, const PlacedShape& inner,
                                      WorkMeter& meter);

// A mover at one pose after another. Everything but the placed vertices is computed at its first
// use, and kept until the next pose. Once its memory is large enough, a pose allocates only what an
// index or a large hull takes. Not thread-safe.
class MovingShape {
 public:
  MovingShape() = default;
  // A shape that is placed already. Shares the vertices of a polygon.
  explicit MovingShape(const Shape& placed);
  MovingShape(const MovingShape&) = delete;
  MovingShape& operator=(const MovingShape&) = delete;

  // Takes the next pose, which has a normalised position, and places the shape. Returns false if a
  // placed vertex is not accepted; no other function may then be called. The polygon of `shape`
  // must exist until the next pose. `is_convex` is `IsConvexShape(shape)`, for callers that have
  // computed it. O(n).
  bool Place(const Shape& shape, const Pose& pose, std::optional<bool> is_convex = std::nullopt);

  // Takes the next pose like `Place`, but places a polygon only at the first call that needs more
  // than `bounds` and `FirstVertex`. Other functions may be called only if `IsAccepted` returns
  // true. O(1).
  void MoveTo(const Polygon& shape, const Pose& pose);
  // Does what `MoveTo` of a polygon does, with the caller's cached outline of that polygon. The
  // outline must exist until the next pose.
  void MoveTo(Outline& outline, const Pose& pose);
  void MoveTo(const Shape& shape, const Pose& pose);
  // Returns true if all vertices are accepted at the pose. Places a polygon if `bounds` leaves the
  // accepted range.
  bool IsAccepted();

  // Returns a box that contains the shape, rounded outward; the smallest box if a polygon is
  // placed.
  Box bounds() const {
    return capsule_ ? Grown(BoundsOf(capsule_->axis), capsule_->radius) : bounds_;
  }
  size_t vertex_count() const { return capsule_ ? 2 : shape_->vertex_count(); }

  // Returns null for a polygon.
  const Capsule* capsule() const { return capsule_ ? &*capsule_ : nullptr; }

  // The functions from here to `polygon` are for polygons only. `FirstVertex` returns the first
  // vertex of a ring, placed.
  size_t ring_count() const { return shape_->ring_count(); }
  size_t edge_count() const { return shape_->edge_count(); }
  Vec2 FirstVertex(size_t ring) const { return Placed(pose_, shape_->ring(ring).front()); }
  bool is_placed() const { return indexed_.has_value(); }
  // Returns the index of a polygon with more than `kMaxEdgesWithoutIndex` edges. The index is in
  // the frame that `frame` returns: the polygon's own frame, or the world if the polygon is placed.
  const EdgeIndex& MakeEdgeIndex();
  LocalFrame frame() const {
    return indexed_ ? LocalFrame() : LocalFrame(pose_, ExtentOf(*shape_));
  }
  // Returns the edges of a run of the index, placed.
  const EdgeCluster& PlacedRun(size_t first, size_t last);
  // Returns the placed polygon. It has no index unless the caller, `MakeEdgeIndex` or `View` has
  // made one.
  IndexedPolygon& polygon() {
    PlacePolygon();
    return *indexed_;
  }

  // Both views are valid until the next pose, for any shape. The edges of a polygon are indexed.
  PlacedShape View();
  // Returns a view that always has a polygon as its core: an axis is a closed ring of two edges.
  PlacedShape RingView();
  // Returns the hull of the placed vertices, as contacts use it; null if the shape is not convex
  // before placing. Placing may bend a convex shape by its roundings. O(n), or O(n log n) if it
  // did.
  const ConvexCore* hull() { return hull_ ? &*hull_ : MakeHull(); }

 private:
  Outline& outline() {
    if (outline_ == nullptr) outline_ = &own_outline_.emplace(*shape_);
    return *outline_;
  }
  void Begin(const Polygon* shape, const Pose& pose);
  void PlaceAxis(const Capsule& capsule, const Pose& pose);
  bool PlacePolygon();
  const ConvexCore* MakeHull();

  // A run of edges, placed for the pose with the number `pose`.
  struct Run {
    uint64_t pose = 0;
    size_t first = 0;
    EdgeCluster edges;
  };

  std::optional<Capsule> capsule_;  // placed
  const Polygon* shape_ = nullptr;  // before placing; null for a capsule
  Pose pose_;
  std::optional<bool> is_convex_;  // before placing
  Box bounds_;
  std::optional<Polygon> vertices_;  // the placed vertices, or the ring of an axis
  std::optional<IndexedPolygon> indexed_;
  std::optional<ConvexCore> hull_;
  Outline* outline_ = nullptr;
  std::optional<Outline> own_outline_;
  uint64_t pose_number_ = 1;
  std::vector<Run> runs_;
};

}  // namespace carom::internal
