// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Visits the polygons of a scene that pass a category mask and a test of their boxes, and checks
// the numbers of an item of a batch. All batch functions use `VisitPolygons` and `ItemChecker`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/scene_index.h"

namespace carom {

// Checks the numbers of item `index` of a batch, and records an error in `errors` for each fault.
class ItemChecker {
 public:
  ItemChecker(size_t index, std::vector<ItemError>& errors)
      : index_(static_cast<uint32_t>(index)), errors_(errors) {}

  bool Coordinate(ItemColumn column, double value) {
    return IsAccepted(value) || Fail(column, ItemFault::kNotAccepted);
  }
  bool Radius(double value) {
    return Coordinate(ItemColumn::kRadius, value) &&
           (value >= 0 || Fail(ItemColumn::kRadius, ItemFault::kNegativeRadius));
  }
  // Records an error, `fault` in column `column` of the item, and returns false.
  bool Fail(ItemColumn column, ItemFault fault) {
    errors_.push_back({index_, column, fault});
    return false;
  }

 private:
  uint32_t index_;
  std::vector<ItemError>& errors_;
};

namespace internal {

// Calls visit(indexed polygon) for each polygon that has a category bit in `mask` and bounds for
// which `meets` returns true, in no particular order, until `visit` returns false or `meter` stops
// the work.
template <class Meets, class Visit>
void VisitPolygons(const Scene& scene, uint64_t mask, WorkMeter& meter, const Meets& meets,
                   const Visit& visit) {
  scene.index().Traverse(meter, meets, [&](const IndexedPolygon& indexed) {
    const Polygon& polygon = indexed.polygon();
    if ((polygon.category() & mask) == 0 || !meets(polygon.bounds())) return true;
    return visit(indexed);
  });
}

}  // namespace internal
}  // namespace carom
