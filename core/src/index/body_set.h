// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds the bodies of a group of queries (moving shapes that the queries may hit besides the
// polygons of the scene), and the filter by which one query of a batch selects bodies.
//
// A round body has a radius above 0 and an axis as its core: a moving shape meets the body where
// the moving shape, grown by that radius, meets the axis. The core of any other body is a polygon
// like the polygons of a scene. Functions for polygons take the axis of a round body as a ring of
// one or two vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "index/body_windows.h"
#include "index/box_raster.h"
#include "index/box_tree.h"
#include "shape/meets_box.h"

namespace carom::internal {

// A body at its pose: a moving shape that queries may hit besides the polygons of the scene. A
// round body is a disc or a capsule: all points within a radius of its axis, a segment or a point.
// Not thread-safe: `core()` and `shape()` may build an index of the edges or a convex hull lazily.
class Body {
 public:
  uint32_t index() const { return index_; }
  uint64_t category() const { return category_; }
  uint32_t owner() const { return owner_; }
  // Returns the bounds of the whole shape, rounded outward.
  const Box& bounds() const { return bounds_; }

  // Returns the radius: above 0 for a round body (a disc or a capsule), 0 for a polygon.
  double radius() const { return radius_; }
  bool is_round() const { return radius_ > 0; }
  // Returns the axis and the radius of a round body.
  Capsule capsule() const { return *shape_.capsule(); }
  // Returns the polygon of the body, or the axis of a round body as a closed ring. The id of the
  // returned polygon is meaningless.
  const IndexedPolygon& core() { return *view().polygon(); }
  // Returns the polygon of the body, or the axis of a round body as a closed ring, together with
  // the radius.
  PlacedShape view() { return shape_.RingView(); }
  MovingShape& shape() { return shape_; }

 private:
  friend class BodySet;

  MovingShape shape_;
  uint64_t category_ = 1;
  uint32_t owner_ = 0;
  uint32_t index_ = 0;
  double radius_ = 0;
  Box bounds_;
  double as_of_ = std::numeric_limits<double>::quiet_NaN();  // the moment at which it is placed
};

// Selects the polygons and bodies that one item (one query) of a batch considers: those with a
// category bit in `mask`, without the bodies of the owner `ignore_owner` (0: no owner is ignored).
// Bodies of a history are taken as of the moment `as_of`.
struct QueryFilter {
  // Returns the filter of an item that considers the scene alone, and of the scene only polygons
  // with a category bit in `mask`.
  static QueryFilter Scene(uint64_t mask) { return {true, false, mask, 0}; }
  // Returns the filter of item i of a batch. `mask` is the mask in the options of the batch.
  static QueryFilter Of(const Scope& scope, size_t i, uint64_t mask) {
    return {scope.against != Against::kBodies, scope.against != Against::kScene,
            scope.mask.empty() ? mask : scope.mask[i],
            scope.ignore_owner.empty() ? 0 : scope.ignore_owner[i],
            scope.as_of.empty() ? kNewestTick : scope.as_of[i]};
  }

  bool Has(const Body& body) const {
    return (body.category() & mask) != 0 && (ignore_owner == 0 || body.owner() != ignore_owner);
  }

  bool scene = true;
  bool bodies = false;
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;
  double as_of = kNewestTick;
};

// Returns whether all items of a batch consider the scene alone, with one mask of polygon
// categories for all items: the mask in the options of the batch.
inline bool IsUniform(const Scope& scope) {
  return scope.against == Against::kScene && scope.mask.empty();
}

// The bodies of one group of queries: moving shapes that the queries may hit besides the polygons
// of the scene, with a tree over the boxes of the bodies. `Place` and `Follow` replace all bodies
// and reuse their memory.
class BodySet {
 public:
  // Replaces the bodies by the bodies that `columns` describe. Returns the errors that
  // `Bodies::Create` documents. The set and the returned status are meaningless if `meter` has
  // stopped the work.
  absl::Status Place(const BodyColumns& columns, WorkMeter& meter);
  // Replaces the bodies by those of `history`, which must outlive their use. Each query considers
  // them at the moment of its filter: `Traverse` and `BodyAt` place them when they are needed.
  void Follow(const BodyHistory& history, BodyRotation rotation, WorkMeter& meter);
  // Forgets the history, before the thread keeps the set for another group.
  void Forget() { windows_.Clear(); }

  // Returns the number of bodies; 0 for a history without ticks.
  size_t size() const { return count_; }
  // Returns whether the set is so small that a thread should keep its memory and reuse it for the
  // bodies of the next group of queries.
  bool IsWorthKeeping() const { return bodies_.size() <= 256 && vertices_ <= 4096; }
  Body& body(size_t index) { return *bodies_[index]; }
  // Returns a body as of the moment of the filter, which must be kept, whether or not it passes.
  Body& BodyAt(size_t index, const QueryFilter& query_filter, WorkMeter& meter);
  // Returns whether a body may meet `reach` at the moment of the filter.
  bool MayMeet(const MeetsBox& reach, const QueryFilter& query_filter, WorkMeter& meter);
  // Returns a bitmap that marks where the bounds of the bodies are at the moments of `scope`.
  const BoxRaster& RasterOf(const Scope& scope, WorkMeter& meter) {
    return windows_.has_history() ? windows_.RasterOf(scope.as_of, meter) : raster_;
  }

  // Calls visit(body) for each body that passes `query_filter` and has a box that passes `meets`,
  // in no particular order, until `visit` returns false or `meter` stops the work. Returns false if
  // `visit` or `meter` ended the traversal.
  template <class Meets, class Visit>
  bool Traverse(const QueryFilter& query_filter, WorkMeter& meter, const Meets& meets,
                const Visit& visit) {
    if (windows_.has_history()) return TraverseMoment(query_filter, meter, meets, visit);
    return tree_.Traverse(meter, meets, [&](size_t item) {
      Body& body = *bodies_[order_[item]];
      return !query_filter.Has(body) || !meets(body.bounds()) || visit(body);
    });
  }

 private:
  // Does what `Traverse` does, for the bodies of a history at the moment of the filter. A moment
  // that is not kept has no bodies.
  template <class Meets, class Visit>
  bool TraverseMoment(const QueryFilter& query_filter, WorkMeter& meter, const Meets& meets,
                      const Visit& visit) {
    const BodyMoment moment = windows_.MomentAt(query_filter.as_of);
    if (!moment.is_kept()) return true;
    return windows_.Traverse(moment, meter, meets, [&](size_t index) {
      Body& body = *bodies_[index];
      if (!query_filter.Has(body) || !moment.a->is_alive(index)) return true;
      if (body.as_of_ != query_filter.as_of) {
        if (!meets(windows_.BoundsAt(moment, index))) return true;
        PlaceAt(moment, query_filter.as_of, body, meter);
      }
      return !meets(body.bounds()) || visit(body);
    });
  }

  void PlaceAt(const BodyMoment& moment, double as_of, Body& body, WorkMeter& meter);
  void Arrange();

  std::vector<std::unique_ptr<Body>> bodies_;  // the first `count_` bodies are in use
  size_t count_ = 0;
  // The number of vertices of all bodies that all successful calls of `Place` have placed, an upper
  // estimate of the memory that `bodies_` holds.
  size_t vertices_ = 0;
  // The boxes of the bodies of a history; without one, `tree_` and `raster_` have those of `Place`.
  BodyWindows windows_;
  std::vector<uint32_t> order_;  // order_[i] is the index of the body that is item i of `tree_`
  BoxTree tree_;
  BoxRaster raster_;
};

// Calls visit(body) for each body of `world` that passes `query_filter` and has a box that passes
// `meets`, until `visit` returns false or `meter` stops the work. Returns false if `visit` or
// `meter` ended the traversal; returns true at once if the filter selects no bodies or the world
// has none.
template <class Meets, class Visit>
bool VisitBodies(const World& world, const QueryFilter& query_filter, WorkMeter& meter,
                 const Meets& meets, const Visit& visit) {
  if (!query_filter.bodies || world.bodies == nullptr) return true;
  return world.bodies->set().Traverse(query_filter, meter, meets, visit);
}

}  // namespace carom::internal
