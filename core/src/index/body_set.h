// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The bodies of a group, placed, and what one item of a batch considers of them.
//
// A body with a radius above 0 is a core, its axis, and that radius: whatever moves meets it where
// its own shape grown by the radius meets the axis. One without is a polygon like those of a scene,
// an axis a ring of one or two vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "index/box_raster.h"
#include "index/box_tree.h"

namespace carom::internal {

// Not thread-safe: an index or a hull is made when it is asked for first.
class Body {
 public:
  uint32_t index() const { return index_; }
  uint64_t category() const { return category_; }
  uint32_t owner() const { return owner_; }
  // Of the whole shape, rounded outward.
  const Box& bounds() const { return bounds_; }

  // Above 0 for a round body only.
  double radius() const { return radius_; }
  bool is_round() const { return radius_ > 0; }
  // The axis of a body without vertices.
  Capsule capsule() const { return *shape_.capsule(); }
  // The polygon, or the axis as a ring. Its id is not the body's.
  const IndexedPolygon& core() { return *view().polygon(); }
  // The core with the radius.
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
};

// What one item of a batch considers.
struct Considered {
  // Of an item by the mask alone.
  static Considered Scene(uint64_t mask) { return {true, false, mask, 0}; }
  // Of item i of a batch with the mask `mask` in its options.
  static Considered Of(const Scope& scope, size_t i, uint64_t mask) {
    return {scope.against != Against::kBodies, scope.against != Against::kScene,
            scope.mask.empty() ? mask : scope.mask[i],
            scope.ignore_owner.empty() ? 0 : scope.ignore_owner[i]};
  }

  bool Has(const Body& body) const {
    return (body.category() & mask) != 0 && (ignore_owner == 0 || body.owner() != ignore_owner);
  }

  bool scene = true;
  bool bodies = false;
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;
};

// Whether the items of a batch consider the scene alone, by one mask.
inline bool IsPlain(const Scope& scope) {
  return scope.against == Against::kScene && scope.mask.empty();
}

class BodySet {
 public:
  // Replaces the bodies. Errors as `Bodies::Create`. Meaningless once `meter` has stopped.
  absl::Status Place(const BodyColumns& columns, WorkMeter& meter);

  size_t size() const { return count_; }
  // Whether a thread may keep the memory for the bodies of its next group.
  bool IsWorthKeeping() const { return bodies_.size() <= 256 && vertices_ <= 4096; }
  Body& body(size_t index) { return *bodies_[index]; }
  // Over the bodies as `arranged` has them.
  const BoxTree& tree() const { return tree_; }
  Body& arranged(size_t item) { return *bodies_[order_[item]]; }
  // Of their bounds.
  const BoxRaster& raster() const { return raster_; }

  // Calls visit(body) for the bodies that `considered` has and whose box passes `meets`, in no
  // particular order, while it returns true and the meter allows.
  template <class Meets, class Visit>
  bool Traverse(const Considered& considered, WorkMeter& meter, const Meets& meets,
                const Visit& visit) {
    return tree_.Traverse(meter, meets, [&](size_t item) {
      Body& body = arranged(item);
      return !considered.Has(body) || !meets(body.bounds()) || visit(body);
    });
  }

 private:
  void Arrange();

  std::vector<std::unique_ptr<Body>> bodies_;  // of which the first `count_` are in use
  size_t count_ = 0;
  size_t vertices_ = 0;  // of all that were placed since it is kept
  std::vector<uint32_t> order_;
  BoxTree tree_;
  BoxRaster raster_;
};

// The same for the bodies of a world, if an item considers any.
template <class Meets, class Visit>
bool VisitBodies(const World& world, const Considered& considered, WorkMeter& meter,
                 const Meets& meets, const Visit& visit) {
  if (!considered.bodies || world.bodies == nullptr) return true;
  return world.bodies->set().Traverse(considered, meter, meets, visit);
}

}  // namespace carom::internal
