// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "edges/placed_shape.h"

#include <span>

#include "shape/place_vertices.h"

namespace carom::internal {

// A core is a shape without its radius. If no edge of the core of `inner` meets an edge of the core
// of `outer`, each ring of `inner` lies in one region between the edges of `outer`, so the location
// of one vertex decides for its whole ring. If the boxes of the two cores do not meet, no ring of
// `inner` is inside the core of `outer`.
std::optional<size_t> FirstRingInside(const PlacedShape& outer, const PlacedShape& inner,
                                      WorkMeter& meter) {
  if (outer.polygon() == nullptr || !outer.core_bounds().Intersects(inner.core_bounds())) {
    return std::nullopt;
  }
  for (size_t ring = 0; ring < inner.ring_count() && meter.Spend(1); ++ring) {
    const Vec2 start = inner.ring_start(ring);
    if (LocateInPolygon(*outer.polygon(), start, meter).location != Location::kOutside) return ring;
  }
  return std::nullopt;
}

MovingShape::MovingShape(const Shape& placed) {
  if (placed.capsule()) {
    capsule_ = *placed.capsule();
    return;
  }
  shape_ = placed.polygon();
  bounds_ = shape_->bounds();
  indexed_.emplace(*shape_, IndexUse::kFewLookups);
}

// Makes `shape` at `pose` the shape that moves, before its vertices are placed. Resets `indexed_`
// and `hull_`, which refer to the placed vertices, before the vertices are overwritten.
inline void MovingShape::Begin(const Polygon* shape, const Pose& pose) {
  hull_.reset();
  indexed_.reset();
  capsule_.reset();
  is_convex_.reset();
  outline_ = nullptr;
  shape_ = shape;
  pose_ = pose;
  ++pose_number_;
}

inline void MovingShape::PlaceAxis(const Capsule& capsule, const Pose& pose) {
  capsule_ = Capsule{{Placed(pose, capsule.axis.a), Placed(pose, capsule.axis.b)}, capsule.radius};
}

bool MovingShape::Place(const Shape& shape, const Pose& pose, std::optional<bool> is_convex) {
  Begin(shape.polygon(), pose);
  is_convex_ = is_convex;
  if (shape_ != nullptr) return PlacePolygon();
  PlaceAxis(*shape.capsule(), pose);
  return IsAccepted();
}

void MovingShape::MoveTo(const Polygon& shape, const Pose& pose) {
  Begin(&shape, pose);
  bounds_ = PlacedBounds(pose, shape.bounds());
}

void MovingShape::MoveTo(Outline& outline, const Pose& pose) {
  Begin(&outline.polygon(), pose);
  outline_ = &outline;
  bounds_ = outline.PlacedBounds(pose);
}

void MovingShape::MoveTo(const Shape& shape, const Pose& pose) {
  if (shape.polygon()) return MoveTo(*shape.polygon(), pose);
  Begin(nullptr, pose);
  PlaceAxis(*shape.capsule(), pose);
}

// `bounds_` contains every placed vertex (every vertex, transformed by the pose). So if `bounds_`
// is in the accepted range (at most 2^53 in magnitude), all vertices are in this range; only
// otherwise the polygon is placed to check each vertex.
bool MovingShape::IsAccepted() {
  if (capsule_) {
    return carom::IsAccepted(capsule_->axis.a) && carom::IsAccepted(capsule_->axis.b);
  }
  return (carom::IsAccepted(bounds_.min) && carom::IsAccepted(bounds_.max)) || PlacePolygon();
}

// Places the polygon (transforms its vertices by the pose) unless it is placed already, and sets
// `bounds_` to the smallest box of the placed vertices. Returns false if a placed vertex is not
// accepted (above 2^53 in magnitude).
bool MovingShape::PlacePolygon() {
  if (indexed_) return true;
  if (!PlaceInto(*shape_, pose_, vertices_)) return false;
  bounds_ = vertices_->bounds();
  indexed_.emplace(*vertices_, IndexUse::kFewLookups);
  return true;
}

// Returns the edges with indices in [first, last), placed (transformed by the pose), from the cache
// `runs_`. The cache has one slot for each eight consecutive edge indices; a slot holds one run,
// the edges [first, last) of one call, for one pose. If runs of several small rings begin in the
// range of one slot, the slot keeps the run that was placed last.
const EdgeCluster& MovingShape::PlacedRun(size_t first, size_t last) {
  if (runs_.size() <= first / kLanes) runs_.resize(shape_->edge_count() / kLanes + 1);
  Run& run = runs_[first / kLanes];
  if (run.pose == pose_number_ && run.first == first) return run.edges;
  run.pose = pose_number_;
  run.first = first;
  run.edges.Clear();
  if (indexed_) {
    for (size_t i = first; i < last; ++i) run.edges.Add(indexed_->polygon().edge(i));
    return run.edges;
  }
  if (shape_->is_one_closed_ring()) {
    const std::span<const Vec2> vertices = shape_->vertices().subspan(first);
    const size_t count = last - first;
    const bool closes = count == vertices.size();
    Vec2 placed[kLanes + 1];
    PlaceVertices(pose_, vertices.first(closes ? count : count + 1), placed);
    if (closes) placed[count] = Placed(pose_, shape_->vertices().front());
    for (size_t i = 0; i < count; ++i) run.edges.Add({placed[i], placed[i + 1]});
    return run.edges;
  }
  Vec2 from = shape_->edge(first).a;
  Vec2 placed = Placed(pose_, from);
  for (size_t i = first; i < last; ++i) {
    const Segment edge = shape_->edge(i);
    const Vec2 start = edge.a == from ? placed : Placed(pose_, edge.a);
    from = edge.b;
    placed = Placed(pose_, edge.b);
    run.edges.Add({start, placed});
  }
  return run.edges;
}

const EdgeIndex& MovingShape::MakeEdgeIndex() {
  if (!indexed_) return outline().edges();
  indexed_->MakeIndex();
  return *indexed_->edge_index();
}

PlacedShape MovingShape::View() {
  if (capsule_) return PlacedShape(*capsule_);
  polygon().MakeIndex();
  return PlacedShape(*indexed_);
}

// Makes the axis of a capsule a closed ring of its two ends, or of one vertex if the axis is a
// point: `Polygon::Create`, too, drops a last vertex that equals the first one.
PlacedShape MovingShape::RingView() {
  if (!capsule_) return View();
  if (!indexed_) {
    const Segment& axis = capsule_->axis;
    RingInto(std::span<const Vec2>(&axis.a, axis.a == axis.b ? 1 : 2), vertices_);
    indexed_.emplace(*vertices_, IndexUse::kFewLookups);
  }
  return PlacedShape(*indexed_, capsule_->radius);
}

// Computes the convex hull of the placed shape (transformed by the pose). A polygon that is convex
// before placing has one ring. The rounding errors of placing may make the ring slightly concave,
// so the convexity of the placed ring is computed again: a ring that is still strictly convex is
// its own hull.
const ConvexCore* MovingShape::MakeHull() {
  if (!is_convex_) is_convex_ = capsule_ || ConvexityOf(*shape_) != Convexity::kNone;
  if (!*is_convex_) return nullptr;
  if (capsule_) {
    hull_.emplace(capsule_->axis, capsule_->radius);
  } else {
    const std::span<const Vec2> ring = polygon().polygon().ring(0);
    hull_.emplace(ring, ConvexityOf(ring));
  }
  return &*hull_;
}

}  // namespace carom::internal
