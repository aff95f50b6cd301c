// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/distance_query.h"

#include <optional>

#include "index/scene_traversal.h"
#include "numeric/box_distance.h"

namespace carom::internal {

// Polygons come roughly by the distance of their boxes, so that the limit falls early under
// NEAREST. Rows are counted there once the ties are known; else as they come.
bool DistanceQuery::Run(const PlacedShape& mover, double max_distance) {
  touch_ = {mover.radius(), 0, 0};
  reach_ = {mover.radius(), 0, max_distance};
  limit2_ = SquareBounds(reach_).high;
  touch2_ = SquareBounds(touch_).high;
  near_.clear();
  unkept_ = 0;
  scene_.index().TraverseNearest(meter_, mover.core_bounds(), limit2_,
                                 [&](const IndexedPolygon& fixed) {
                                   Visit(mover, fixed);
                                   return !meter_.stopped();
                                 });
  if (options_.mode == DistanceMode::kNearest) meter_.SpendRows(near_.size() + unkept_);
  if (meter_.stopped()) return false;
  if (near_.size() > 1) {
    std::sort(near_.begin(), near_.end(), [](const MeasuredPolygon& a, const MeasuredPolygon& b) {
      return a.fixed->polygon().id() < b.fixed->polygon().id();
    });
  }
  return true;
}

// Drops what is farther than a candidate. Returns whether there is room for it: not if something is
// nearer.
inline bool DistanceQuery::MakeRoom(const Closest& closest, bool is_touching) {
  if (!near_.empty()) {
    const MeasuredPolygon& best = near_[0];
    int order = 0;
    if (is_touching || best.is_touching) {
      order = static_cast<int>(best.is_touching) - static_cast<int>(is_touching);
    } else {
      order = Compare(*closest.approach, *best.closest.approach);
    }
    if (order > 0) return false;
    if (order < 0) {
      near_.clear();
      unkept_ = 0;
    }
  }
  // More ties than there may be rows end the work, unless something nearer comes.
  if (near_.size() <= meter_.rows_left()) return true;
  ++unkept_;
  return false;
}

// Under WITHIN any pair of edges in reach will do; else the search goes on to the nearest, unless
// the shapes touch.
void DistanceQuery::Visit(const PlacedShape& mover, const IndexedPolygon& fixed) {
  const Polygon& polygon = fixed.polygon();
  if ((polygon.category() & options_.mask) == 0 ||
      LowerDistance2(polygon.bounds(), mover.core_bounds()) > limit2_) {
    return;
  }
  if (options_.mode == DistanceMode::kNearest) {
    LowerLimit(UpperDistance2(polygon.bounds(), mover.core_bounds()));
  }
  const LengthSum& enough = options_.mode == DistanceMode::kWithin ? reach_ : touch_;
  const std::optional<Closest> closest =
      FindClosest(PlacedShape(fixed), mover, {enough, limit2_}, meter_);
  if (!closest || !IsCoreWithin(*closest, reach_)) return;
  const bool is_touching = IsCoreWithin(*closest, touch_);
  if (options_.mode == DistanceMode::kNearest && !MakeRoom(*closest, is_touching)) return;
  near_.push_back({&fixed, *closest, is_touching});
  if (options_.mode == DistanceMode::kNearest) {
    LowerLimit(is_touching ? 0 : closest->approach->distance2.high);
  } else {
    meter_.SpendRows(1);
  }
}

}  // namespace carom::internal
