// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are two shapes nearest to each other?
//
// A shape is its core, a polygon or the axis of a capsule, and all points within a radius of it.
// `FindClosest` finds the pair of edges of two cores that decides the distance of the shapes, or
// that one core lies inside the other.
#pragma once

#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "index/indexed_polygon.h"
#include "numeric/box_distance.h"
#include "shape/approach.h"

namespace carom::internal {

// A view of a shape; what it is made of outlives it.
class Core {
 public:
  explicit Core(const IndexedPolygon& polygon) : polygon_(&polygon) {}
  explicit Core(const Capsule& capsule)
      : axis_(capsule.axis), radius_(capsule.radius), axis_bounds_(BoundsOf(capsule.axis)) {}

  // Null for a capsule.
  const IndexedPolygon* polygon() const { return polygon_; }
  double radius() const { return radius_; }
  // Of the core, without the radius.
  const Box& bounds() const { return polygon_ ? polygon_->polygon().bounds() : axis_bounds_; }

  // Whether the core is a single point, that of edge 0.
  bool IsPoint() const { return polygon_ == nullptr && axis_.a == axis_.b; }

  // The axis counts as one ring with one edge.
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

// A shape with the index that its core needs.
class OwnedCore {
 public:
  explicit OwnedCore(const Shape& shape) {
    if (shape.polygon()) {
      core_.emplace(index_.emplace(*shape.polygon(), IndexUse::kOneQuery));
    } else {
      core_.emplace(*shape.capsule());
    }
  }
  OwnedCore(const OwnedCore&) = delete;
  OwnedCore& operator=(const OwnedCore&) = delete;

  const Core& core() const { return *core_; }

 private:
  std::optional<IndexedPolygon> index_;
  std::optional<Core> core_;
};

// What decides the distance of two shapes a and b.
struct Closest {
  enum class Kind {
    kCrossing,  // edges of the cores share a point
    kApart,     // edges of the cores are nearest as `approach` tells
    kBInA,      // ring `ring` of core b lies strictly inside core a
    kAInB,      // ring `ring` of core a lies strictly inside core b
  };

  Kind kind = Kind::kApart;
  size_t edge_a = 0;  // for kCrossing and kApart
  size_t edge_b = 0;
  size_t ring = 0;  // for kBInA and kAInB, the first one
  bool vertex_is_of_a = false;
  std::optional<Approach> approach = std::nullopt;
};

// What to look for. A distance of cores is that of their edges or, inside each other, 0.
struct ClosestQuery {
  LengthSum enough;          // any pair of edges this near will do
  double limit2 = HUGE_VAL;  // pairs above this squared distance do not count; >= enough^2
};

// By (edge of a, edge of b), the first pair within `enough`; where there is none, the first ring
// inside; where there is none, the first pair at the least distance. Within a pair, the first
// nearest of: the ends of b's edge, then those of a's. Nothing where all is beyond the limit (a
// pair slightly beyond it may be found), or once the meter has stopped.
std::optional<Closest> FindClosest(const Core& a, const Core& b, const ClosestQuery& query,
                                   WorkMeter& meter);

// Whether the cores are at most `sum` apart.
inline bool IsCoreWithin(const Closest& closest, const LengthSum& sum) {
  return closest.kind != Closest::Kind::kApart || Compare(*closest.approach, sum) <= 0;
}

}  // namespace carom::internal
