// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/posed_shape.h"

#include <algorithm>
#include <cmath>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"
#include "proximity/closest.h"
#include "shape/place_vertices.h"

namespace carom::internal {
namespace {

double Magnitude(Vec2 p) { return std::max(std::abs(p.x), std::abs(p.y)); }

}  // namespace

// A rotation with cosine c and sine s may stretch lengths as far as |c^2 + s^2 - 1| <= 1e-6 allows,
// and placing a point (rotating it and moving it to the position of the pose) errs by at most
// `PlacingError` in each coordinate, so twice `PlacingError` bounds the distance from the exact
// point. The bounding radius, of a disc that contains the placed shape, assumes the most stretch
// and adds the error; the inscribed radius, of a disc that the placed shape contains, assumes the
// least stretch and subtracts the error.
PosedShape::PosedShape(const TrackedShape& shape, const Pose& pose, PoseScratch& scratch,
                       WorkMeter& meter, const double* angle)
    : shape_(shape),
      pose_(pose),
      angle_(angle),
      scratch_(scratch),
      meter_(meter),
      kind_(shape.options.within > 0 ? Kind::kWithin
            : shape.shape.polygon()  ? Kind::kPolygon
                                     : Kind::kCapsule),
      error_(2 * PlacingError(Magnitude(pose.position), shape.extent)),
      bounding_radius_((shape.extent * kMaxStretch + shape.options.within + error_) * kUp),
      inscribed_radius_(shape.inscribed_radius < 0 ? -1
                                                   : shape.inscribed_radius * kMinStretch * kDown -
                                                         error_ + shape.options.within) {
  ++scratch_.pose;
}

void PosedShape::ComputeRotation() {
  const CosSin rotation = SinCos(*angle_);
  pose_.c = rotation.c;
  pose_.s = rotation.s;
  angle_ = nullptr;
}

// Places the vertices to check them only if the circle with the bounding radius, which contains all
// of them, may leave the accepted range of coordinates.
bool PosedShape::IsAccepted() {
  return Magnitude(position()) + bounding_radius_ < kMaxCoordinate || Whole() != nullptr;
}

MovingShape* PosedShape::Whole() {
  if (!has_whole_ && meter_.Spend(shape_.shape.vertex_count())) {
    has_whole_ = scratch_.whole.Place(shape_.shape, pose());
  }
  return has_whole_ ? &scratch_.whole : nullptr;
}

bool PosedShape::ContainsPoint(Vec2 p) {
  MovingShape* const whole = Whole();
  return whole != nullptr &&
         LocateInPolygon(whole->polygon(), p, meter_).location != Location::kOutside;
}

Capsule PosedShape::PlacedCapsule() {
  const Capsule& capsule = *shape_.shape.capsule();
  return {{Placed(pose(), capsule.axis.a), Placed(pose(), capsule.axis.b)}, capsule.radius};
}

bool PosedShape::Meets(const Segment& edge) {
  if (kind_ == Kind::kWithin) return IsWithin(PlacedShape(Capsule{edge, 0}));
  const NearEdge near{0, edge};
  return FindWitness({&near, 1}) || (kind_ == Kind::kPolygon && ContainsPoint(edge.a));
}

// Places the vertices of a polygon. Repeats the last one of an odd number of vertices to complete a
// pair, which does not change the result of a test of all vertices.
const Vec2* PosedShape::PlacedFew() {
  if (scratch_.few_pose != scratch_.pose) {
    scratch_.few_pose = scratch_.pose;
    const std::span<const Vec2> vertices = shape_.shape.polygon()->vertices();
    PlaceVertices(pose(), vertices, scratch_.few);
    if (vertices.size() % 2 == 1) scratch_.few[vertices.size()] = scratch_.few[vertices.size() - 1];
  }
  return scratch_.few;
}

// Tests two vertices v at a time against the line through the edge's ends a and b, by rounded cross
// products: v is certainly on one side if |(a - v) x (b - v)| exceeds the bound of its rounding
// error. A lane of a comparison is all ones where it holds, so `&=` over all pairs leaves -1 in a
// lane if all vertices of the lane are on one side; both lanes must be on one and the same side. A
// vertex too near to the line for this bound clears both masks; the function then returns false,
// which decides nothing.
bool PosedShape::IsOnOneSide(const Segment& edge) {
  if (kind_ != Kind::kPolygon || !IsFew()) return false;
  const Vec2* const vertices = PlacedFew();
  const size_t count = shape_.shape.vertex_count();
  const Double2 ax{edge.a.x, edge.a.x}, ay{edge.a.y, edge.a.y};
  const Double2 bx{edge.b.x, edge.b.x}, by{edge.b.y, edge.b.y};
  Long2 left{-1, -1};
  Long2 right{-1, -1};
  for (size_t i = 0; i < count; i += 2) {
    const Double2 x{vertices[i].x, vertices[i + 1].x};
    const Double2 y{vertices[i].y, vertices[i + 1].y};
    const RoundedCrossLanes cross((ax - x) * (by - y), (ay - y) * (bx - x));
    left &= cross.is_positive();
    right &= cross.is_negative();
  }
  return (left[0] & left[1]) != 0 || (right[0] & right[1]) != 0;
}

std::optional<Witness> PosedShape::FindWitness(std::span<const NearEdge> edges) {
  if (kind_ == Kind::kCapsule) {
    if (!meter_.Spend(edges.size())) return std::nullopt;
    const Capsule capsule = PlacedCapsule();
    for (const NearEdge& near : edges) {
      if (CompareDistance(near.edge, capsule) <= 0) return Witness{near.index, 0};
    }
    return std::nullopt;
  }
  const size_t root = shape_.nodes.size() - 1;
  // The edges of the shape are in a tree of bounding circles, with runs of up to eight edges as
  // leaves. If the root is a run, its circle contains the whole shape and reaches `edges`, which
  // are within the bounding radius. So the circle need not be tested.
  if (root == 0) return FindInRun(root, edges);
  Box box;
  for (const NearEdge& near : edges) box.Extend(BoundsOf(near.edge));
  return FindWitness(root, edges, box);
}

// Returns an edge of the shape in node `node`, and one of `edges`, that share a point; nullopt if
// there are none. Descends the tree of bounding circles of the shape's edges. The circle of a node
// is placed at the pose: its centre as a vertex is placed, its radius times `kMaxStretch` (the most
// by which a rotation may stretch lengths), plus a bound of the errors of placing. If the placed
// circle does not reach the box of all `edges`, no edge of the shape in the node meets one of
// `edges`.
std::optional<Witness> PosedShape::FindWitness(size_t node, std::span<const NearEdge> edges,
                                               const Box& box) {
  const OutlineNode& outline = shape_.nodes[node];
  if (!meter_.Spend(1)) return std::nullopt;
  const Vec2 center = Placed(pose(), outline.center);
  const double radius = outline.radius * kMaxStretch + error_;
  if (LowerDistance2({center, center}, box) > radius * radius) return std::nullopt;
  if (!outline.is_run) {
    for (uint32_t i = 0; i < outline.count; ++i) {
      if (auto found = FindWitness(outline.first + i, edges, box)) return found;
    }
    return std::nullopt;
  }
  return FindInRun(node, edges);
}

std::optional<Witness> PosedShape::FindInRun(size_t node, std::span<const NearEdge> edges) {
  const EdgeCluster& run = PlacedRun(node);
  if (!meter_.Spend(edges.size())) return std::nullopt;
  for (const NearEdge& near : edges) {
    if (const std::optional<size_t> lane = run.FirstMeeting(near.edge, meter_)) {
      return Witness{near.index, shape_.nodes[node].first + static_cast<uint32_t>(*lane)};
    }
  }
  return std::nullopt;
}

// Places each vertex by itself, not relative to another vertex, so that a vertex that two edges in
// different runs (leaves of the tree of circles, up to eight edges each) share has the same bits in
// both runs.
const EdgeCluster& PosedShape::PlacedRun(size_t node) {
  if (scratch_.runs.size() <= node) scratch_.runs.resize(node + 1);
  PoseScratch::PlacedRun& run = scratch_.runs[node];
  if (run.pose == scratch_.pose) return run.edges;
  run.pose = scratch_.pose;
  run.edges.Clear();
  const OutlineNode& outline = shape_.nodes[node];
  const Polygon& polygon = *shape_.shape.polygon();
  const bool is_few = IsFew() && polygon.is_one_closed_ring();
  const Vec2* const few = is_few ? PlacedFew() : nullptr;
  for (uint32_t i = outline.first; i < outline.first + outline.count; ++i) {
    Segment placed;
    if (is_few) {
      placed = {few[i], few[i + 1 == polygon.vertex_count() ? 0 : i + 1]};
    } else {
      const Segment edge = polygon.edge(i);
      placed = {Placed(pose(), edge.a), Placed(pose(), edge.b)};
    }
    run.edges.Add(placed);
  }
  return run.edges;
}

bool PosedShape::IsWitness(const Segment& fixed, const Witness& witness) {
  if (kind_ == Kind::kCapsule) return CompareDistance(fixed, PlacedCapsule()) <= 0;
  const Segment edge = shape_.shape.polygon()->edge(witness.moving);
  return Intersects(fixed, Segment{Placed(pose(), edge.a), Placed(pose(), edge.b)});
}

// Returns whether the shape contains a ring of the polygon, given that no edge of the polygon meets
// an edge of the shape; `edges` are the polygon's edges near the shape. All points of the shape are
// within the bounding radius of the position, and so is a ring of the polygon inside the shape. So
// a ring with its first vertex beyond this radius is excluded at once, and so is a polygon of one
// ring with a bounding box that reaches beyond this radius. As the ring meets no edge of the shape,
// any point of the ring decides for the whole ring. The shape surrounds a ring that it contains, so
// no edge of the ring has all of the shape on one side of its line, and `edges` has all edges of
// the ring. `edges` is grouped by ring.
bool PosedShape::ContainsRing(const Polygon& polygon, std::span<const NearEdge> edges) {
  if (kind_ != Kind::kPolygon || edges.empty()) return false;
  const Vec2 p = position();
  const Box in_reach{{p.x - bounding_radius_, p.y - bounding_radius_},
                     {p.x + bounding_radius_, p.y + bounding_radius_}};
  if (polygon.is_one_closed_ring()) {
    const Box& box = polygon.bounds();
    return in_reach.Contains(box.min) && in_reach.Contains(box.max) &&
           ContainsPoint(edges.front().edge.a);
  }
  uint32_t last_ring = ~uint32_t{0};
  for (const NearEdge& near : edges) {
    const uint32_t ring = polygon.edge_ref(near.index).ring;
    if (ring == last_ring) continue;
    last_ring = ring;
    if (in_reach.Contains(polygon.ring(ring).front()) && ContainsPoint(near.edge.a)) return true;
  }
  return false;
}

// As no edge of the polygon meets the shape, each ring of the shape is inside or outside of the
// polygon as a whole, and the first vertex of the ring decides.
bool PosedShape::IsContainedIn(const IndexedPolygon& polygon) {
  const auto contains = [&](Vec2 start) {
    return LocateInPolygon(polygon, Placed(pose(), start), meter_).location != Location::kOutside;
  };
  if (const Capsule* capsule = shape_.shape.capsule()) return contains(capsule->axis.a);
  const Polygon& moving = *shape_.shape.polygon();
  for (size_t ring = 0; ring < moving.ring_count(); ++ring) {
    if (contains(moving.ring(ring).front())) return true;
  }
  return false;
}

bool PosedShape::IsOneRing() const {
  return !shape_.shape.polygon() || shape_.shape.polygon()->ring_count() == 1;
}

bool PosedShape::IsWithin(const IndexedPolygon& polygon) { return IsWithin(PlacedShape(polygon)); }

bool PosedShape::IsWithin(const PlacedShape& fixed) {
  MovingShape* const whole = Whole();
  return whole != nullptr &&
         internal::IsWithin(fixed, whole->View(), shape_.options.within, meter_);
}

}  // namespace carom::internal
