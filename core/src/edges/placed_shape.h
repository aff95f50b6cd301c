// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A shape where it stands, as the kernels for pairs of shapes take it.
//
// `PlacedShape` is the view that they share: a polygon, of the scene or of a mover, or a capsule.
// `MovingShape` owns what a mover needs for that, from pose to pose in the same memory: the placed
// vertices, and the index and the hull that some kernels ask for.
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

// All points within a radius of a core: a polygon, or the axis of a capsule, which counts as one
// ring with one edge. Borrows the polygon. Immutable, hence thread-safe.
class PlacedShape {
 public:
  // The radius is above 0 only where the polygon stands for an axis (`MovingShape::RingView`).
  explicit PlacedShape(const IndexedPolygon& polygon, double radius = 0)
      : polygon_(&polygon), radius_(radius) {}
  explicit PlacedShape(const Capsule& capsule)
      : axis_(capsule.axis), radius_(capsule.radius), axis_bounds_(BoundsOf(capsule.axis)) {}

  // Null for a capsule.
  const IndexedPolygon* polygon() const { return polygon_; }
  double radius() const { return radius_; }
  // Of the core, without the radius.
  const Box& core_bounds() const { return polygon_ ? polygon_->polygon().bounds() : axis_bounds_; }
  // Of the whole shape, rounded outward.
  Box bounds() const { return Grown(core_bounds(), radius_); }

  // Whether the core is a single point, that of edge 0.
  bool IsPoint() const { return polygon_ == nullptr && axis_.a == axis_.b; }

  size_t edge_count() const { return polygon_ ? polygon_->polygon().edge_count() : 1; }
  Segment edge(size_t index) const { return polygon_ ? polygon_->polygon().edge(index) : axis_; }
  size_t ring_count() const { return polygon_ ? polygon_->polygon().ring_count() : 1; }
  Vec2 ring_start(size_t ring) const {
    return polygon_ ? polygon_->polygon().ring(ring).front() : axis_.a;
  }

  // As IndexedPolygon::VisitEdges.
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

// The first ring of the core of `inner` whose first vertex the core of `outer` holds, for cores no
// edges of which meet: each ring then lies in one face, and an axis holds nothing. Meaningless once
// `meter` has stopped.
std::optional<size_t> FirstRingInside(const PlacedShape& outer, const PlacedShape& inner,
                                      WorkMeter& meter);

// A mover at one pose after another. Everything but the placed vertices is made when it is asked
// for first, and kept until the next pose. Once the memory is large enough, a pose allocates only
// what an index or a large hull takes. Not thread-safe.
class MovingShape {
 public:
  MovingShape() = default;
  // A shape that is placed already. Shares a polygon's vertices.
  explicit MovingShape(const Shape& placed);
  MovingShape(const MovingShape&) = delete;
  MovingShape& operator=(const MovingShape&) = delete;

  // Takes another pose, whose position is normalised. Returns false, and nothing else may be asked,
  // if a placed vertex is not accepted. A polygon outlives that. `is_convex` is `IsConvexShape` of
  // the shape, for callers that know it. O(n).
  bool Place(const Shape& shape, const Pose& pose, std::optional<bool> is_convex = std::nullopt);

  // The same, but a polygon is placed when a question needs more than `bounds` and `FirstVertex`,
  // and `IsAccepted` says whether anything else may be asked. O(1).
  void MoveTo(const Polygon& shape, const Pose& pose);
  // The same for a polygon whose outline is kept from pose to pose, and outlives this one.
  void MoveTo(Outline& outline, const Pose& pose);
  void MoveTo(const Shape& shape, const Pose& pose);
  // Whether all vertices are accepted where they come to be placed.
  bool IsAccepted();

  // Holds the shape, rounded outward; the smallest such box of a placed polygon.
  Box bounds() const {
    return capsule_ ? Grown(BoundsOf(capsule_->axis), capsule_->radius) : bounds_;
  }
  size_t vertex_count() const { return capsule_ ? 2 : shape_->vertex_count(); }

  // Null for a polygon.
  const Capsule* capsule() const { return capsule_ ? &*capsule_ : nullptr; }

  // The rest is for polygons. The number of rings, and the first vertex of one, placed.
  size_t ring_count() const { return shape_->ring_count(); }
  size_t edge_count() const { return shape_->edge_count(); }
  Vec2 FirstVertex(size_t ring) const { return Placed(pose_, shape_->ring(ring).front()); }
  bool is_placed() const { return indexed_.has_value(); }
  // The edges of more than `kMaxScanned`, in the frame of `frame`: as described, or placed if all
  // of them are.
  const EdgeIndex& MakeEdgeIndex();
  FrameOf frame() const { return indexed_ ? FrameOf() : FrameOf(pose_, ExtentOf(*shape_)); }
  // Those of a run of the index, placed.
  const EdgeCluster& PlacedRun(size_t first, size_t last);
  // Placed; without an index, unless someone made it.
  IndexedPolygon& polygon() {
    PlacePolygon();
    return *indexed_;
  }

  // The views are of any shape, and valid until the next pose. Edges of a polygon are indexed.
  PlacedShape View();
  // The same with a polygon for a core in any case: an axis as a closed ring, of two edges.
  PlacedShape RingView();
  // As contacts take it: null if the shape is not convex as described. Placing may bend it by
  // roundings, so this is the hull of the placed vertices. O(n), or O(n log n) where it was bent.
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

  // A run of edges, placed for the pose of this number.
  struct Run {
    uint64_t pose = 0;
    size_t first = 0;
    EdgeCluster edges;
  };

  std::optional<Capsule> capsule_;  // placed
  const Polygon* shape_ = nullptr;  // as described; for a capsule null
  Pose pose_;
  std::optional<bool> is_convex_;  // as described
  Box bounds_;
  std::optional<Polygon> vertices_;  // placed, or the ring of an axis
  std::optional<IndexedPolygon> indexed_;
  std::optional<ConvexCore> hull_;
  Outline* outline_ = nullptr;
  std::optional<Outline> own_outline_;
  uint64_t pose_number_ = 1;
  std::vector<Run> runs_;
};

}  // namespace carom::internal
