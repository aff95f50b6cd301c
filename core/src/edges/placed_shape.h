// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A shape at its pose, in the form that the algorithms for pairs of shapes (sweep, distance,
// contact) use.
//
// `PlacedShape` is the view that these algorithms share: a polygon (of the scene or of a moving
// shape) or a capsule. `MovingShape` owns the data that the view of a moving shape needs, and
// reuses its memory from pose to pose: the placed vertices, and the index and the hull that some
// algorithms need.
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
// counts as one ring with one edge. A `PlacedShape` borrows the polygon. Immutable, hence
// thread-safe.
class PlacedShape {
 public:
  // Makes the view of a polygon. The radius is above 0 only if the polygon represents the axis of a
  // capsule (`MovingShape::RingView`).
  explicit PlacedShape(const IndexedPolygon& polygon, double radius = 0)
      : polygon_(&polygon), radius_(radius) {}
  explicit PlacedShape(const Capsule& capsule)
      : axis_(capsule.axis), radius_(capsule.radius), axis_bounds_(BoundsOf(capsule.axis)) {}

  // Returns null for a capsule.
  const IndexedPolygon* polygon() const { return polygon_; }
  double radius() const { return radius_; }
  // Returns the bounding box of the core, without the radius around it.
  const Box& core_bounds() const { return polygon_ ? polygon_->polygon().bounds() : axis_bounds_; }
  // Returns a box that contains the whole shape with its radius, rounded outward.
  Box bounds() const { return Grown(core_bounds(), radius_); }

  // Returns true for a capsule with an axis of length 0. (Its edge 0 is a point.)
  bool IsPoint() const { return polygon_ == nullptr && axis_.a == axis_.b; }

  size_t edge_count() const { return polygon_ ? polygon_->polygon().edge_count() : 1; }
  Segment edge(size_t index) const { return polygon_ ? polygon_->polygon().edge(index) : axis_; }
  size_t ring_count() const { return polygon_ ? polygon_->polygon().ring_count() : 1; }
  Vec2 ring_start(size_t ring) const {
    return polygon_ ? polygon_->polygon().ring(ring).front() : axis_.a;
  }

  // Does what `IndexedPolygon::VisitEdges` does, for the edges of the core: calls visit(index,
  // edge) for each edge with a bounding box that passes `meets`, until `visit` returns false or the
  // meter stops the work.
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

// A core is a shape without its radius: a polygon, or the axis of a capsule. Returns the index of
// the first ring of the core of `inner` that has its first vertex in the core of `outer`; nullopt
// if there is none. The edges of the two cores must not meet, so that each ring is inside or
// outside as a whole. Nothing is inside of the axis of a capsule. Once `meter` has stopped the
// work, the result is meaningless.
std::optional<size_t> FirstRingInside(const PlacedShape& outer, const PlacedShape& inner,
                                      WorkMeter& meter);

// A shape that moves: takes one pose after another. To place a shape is to transform its vertices
// by the pose. The placed vertices, the index of the edges and the convex hull are valid until the
// next pose; all but the vertices are computed at their first use. Once the memory of the
// `MovingShape` is large enough, a pose allocates only the memory that an index or a large hull
// takes. Not thread-safe.
class MovingShape {
 public:
  MovingShape() = default;
  // Takes a shape that is placed already. If the shape is a polygon, shares its vertices.
  explicit MovingShape(const Shape& placed);
  MovingShape(const MovingShape&) = delete;
  MovingShape& operator=(const MovingShape&) = delete;

  // Takes the next pose, which must have a normalised position, and places the shape. Returns false
  // if a placed vertex is not accepted (above 2^53 in magnitude); then only functions that take the
  // next pose may be called. The polygon of `shape` must exist until the next pose. `is_convex` is
  // the result of `IsConvexShape(shape)`, for callers that have already computed it. O(n).
  bool Place(const Shape& shape, const Pose& pose, std::optional<bool> is_convex = std::nullopt);

  // Takes the next pose like `Place`, but places a polygon only at the first call of a function
  // other than `bounds` and `FirstVertex` that needs the placed polygon. The functions that need
  // the placed polygon may be called only if `IsAccepted` returns true. O(1).
  void MoveTo(const Polygon& shape, const Pose& pose);
  // Does what `MoveTo` of a polygon does, with an `Outline` of that polygon, in which the caller
  // caches the index for all poses. The outline must exist until the next pose.
  void MoveTo(Outline& outline, const Pose& pose);
  void MoveTo(const Shape& shape, const Pose& pose);
  // Returns true if all vertices at the pose are accepted (at most 2^53 in magnitude). Places a
  // polygon if `bounds` leaves the accepted range.
  bool IsAccepted();

  // Returns a box that contains the shape at its pose, rounded outward; the smallest box if the
  // shape is a polygon that has been placed.
  Box bounds() const {
    return capsule_ ? Grown(BoundsOf(capsule_->axis), capsule_->radius) : bounds_;
  }
  size_t vertex_count() const { return capsule_ ? 2 : shape_->vertex_count(); }

  // Returns the placed capsule; null if the shape is a polygon.
  const Capsule* capsule() const { return capsule_ ? &*capsule_ : nullptr; }

  // The functions from here to `polygon` may be called only if the shape is a polygon.
  // `FirstVertex` returns the first vertex of a ring, placed.
  size_t ring_count() const { return shape_->ring_count(); }
  size_t edge_count() const { return shape_->edge_count(); }
  Vec2 FirstVertex(size_t ring) const { return Placed(pose_, shape_->ring(ring).front()); }
  bool is_placed() const { return indexed_.has_value(); }
  // Returns the edge index of the polygon, which must have more than `kMaxEdgesWithoutIndex` edges.
  // The index is in the coordinate system that `frame` returns: that of the polygon before placing,
  // or the world if the polygon is placed already.
  const EdgeIndex& MakeEdgeIndex();
  LocalFrame frame() const {
    return indexed_ ? LocalFrame() : LocalFrame(pose_, ExtentOf(*shape_));
  }
  // Returns the edges with the indices [first, last), placed (transformed by the pose). [first,
  // last) must be a run: a range of edges that `VisitRuns` of the edge index passes to its visitor.
  const EdgeCluster& PlacedRun(size_t first, size_t last);
  // Returns the placed polygon, and places it if necessary. The polygon has no index unless the
  // caller, `MakeEdgeIndex` or `View` has made one.
  IndexedPolygon& polygon() {
    PlacePolygon();
    return *indexed_;
  }

  // Returns a view of the shape, a polygon or a capsule, that is valid until the next pose. The
  // edges of a polygon are indexed.
  PlacedShape View();
  // Returns a view, valid until the next pose, that always has a polygon as its core: the axis of a
  // capsule becomes a closed ring of two edges.
  PlacedShape RingView();
  // Returns the hull of the placed shape, the form that contacts use; null if the shape is not
  // convex before placing. O(n); or O(n log n) if the rounding errors of placing made a convex
  // polygon slightly concave.
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

  // A run of edges that begins with edge `first`, placed at the pose during which `pose_number_`
  // was equal to `pose`.
  struct Run {
    uint64_t pose = 0;
    size_t first = 0;
    EdgeCluster edges;
  };

  std::optional<Capsule> capsule_;  // the placed capsule; empty for a polygon
  const Polygon* shape_ = nullptr;  // the polygon before placing; null for a capsule
  Pose pose_;
  std::optional<bool> is_convex_;  // whether the shape is convex before placing, once it is known
  Box bounds_;
  // The placed polygon, or the axis of a capsule as a ring (`RingView`).
  std::optional<Polygon> vertices_;
  std::optional<IndexedPolygon> indexed_;
  std::optional<ConvexCore> hull_;
  Outline* outline_ = nullptr;
  std::optional<Outline> own_outline_;
  uint64_t pose_number_ = 1;
  std::vector<Run> runs_;
};

}  // namespace carom::internal
