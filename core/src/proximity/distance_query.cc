// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/distance_query.h"

#include <bit>
#include <optional>

#include "index/scene_traversal.h"
#include "numeric/box_distance.h"
#include "proximity/edge_bounds.h"

namespace carom::internal {
namespace {

// Returns the edge of a set (bit i of `edges`: edge i) at the least distance from `point`, the
// first one if several tie. The point is on none of the edges.
Closest NearestOf(const Polygon& polygon, Vec2 point, uint64_t edges) {
  Closest nearest;
  for (; edges != 0; edges &= edges - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(edges));
    const Approach approach(point, polygon.edge(i));
    if (nearest.approach && Compare(approach, *nearest.approach) >= 0) continue;
    nearest.edge_a = i;
    nearest.approach = approach;
  }
  return nearest;
}

}  // namespace

// Visits polygons roughly by the distance of their boxes, so that under the mode NEAREST the limit
// of the search falls early. Under NEAREST the answer rows are counted on the meter once the
// polygons at the least distance are known; under WITHIN each row is counted when its polygon is
// found.
bool DistanceQuery::Run(const PlacedShape& mover, double max_distance) {
  touch_ = {mover.radius(), 0, 0};
  reach_ = {mover.radius(), 0, max_distance};
  reach2_ = SquareBounds(reach_);
  touch2_ = SquareBounds(touch_);
  limit2_ = reach2_.high;
  near_.clear();
  dropped_ties_ = 0;
  candidate_count_ = 0;
  const bool by_bounds = options_.mode == DistanceMode::kNearest && mover.IsPoint();
  scene_.index().TraverseNearest(meter_, mover.core_bounds(), limit2_,
                                 [&](const IndexedPolygon& fixed) {
                                   by_bounds ? VisitByBounds(mover, fixed) : Visit(mover, fixed);
                                   return !meter_.stopped();
                                 });
  VisitCandidates(mover);
  if (options_.mode == DistanceMode::kNearest) meter_.SpendRows(near_.size() + dropped_ties_);
  if (options_.mode == DistanceMode::kNearestK) {
    NearestHeap<MeasuredPolygon>(near_, options_.k, touch_.a, meter_).Sort();
    return !meter_.stopped();
  }
  if (meter_.stopped()) return false;
  if (near_.size() > 1) {
    std::sort(near_.begin(), near_.end(), [](const MeasuredPolygon& a, const MeasuredPolygon& b) {
      return a.fixed->polygon().id() < b.fixed->polygon().id();
    });
  }
  return true;
}

// Drops the kept polygons that are farther than the polygon of `closest`. Returns whether to keep
// that polygon: false if a kept polygon is nearer, or if there are already as many polygons at the
// least distance as the meter allows rows.
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
      dropped_ties_ = 0;
    }
  }
  // Once the polygons at the least distance exceed the rows that the meter allows, further polygons
  // at that distance are only counted. `Run` then stops the meter at its end, unless a nearer
  // polygon replaces all polygons at that distance.
  if (near_.size() <= meter_.rows_left()) return true;
  ++dropped_ties_;
  return false;
}

// Visits a polygon for a mover that is a point. Adds the polygon to the candidates unless bounds of
// the distances of its edges show that the polygon is beyond the search limit `limit2_`. The bounds
// nearly always leave a single polygon, with one or two edges, to measure exactly.
void DistanceQuery::VisitByBounds(const PlacedShape& mover, const IndexedPolygon& fixed) {
  const Polygon& polygon = fixed.polygon();
  const auto ring = polygon.vertices();
  const Vec2 point = mover.core_bounds().min;
  const Box& bounds = polygon.bounds();
  // A point inside the polygon touches it, however far the edges are.
  if (!polygon.is_one_closed_ring() || ring.size() > kMostBoundedEdges || bounds.Contains(point)) {
    return Visit(mover, fixed);
  }
  if ((polygon.category() & mask_) == 0 || LowerDistance2(bounds, mover.core_bounds()) > limit2_ ||
      !meter_.Spend(ring.size())) {
    return;
  }
  const EdgeBounds edges = BoundsOfEdges(ring, point);
  LowerLimit(edges.upper2);
  if (edges.lower2 > limit2_) return;
  if (candidate_count_ == kMostCandidates) VisitCandidates(mover);
  candidates_[candidate_count_++] = {&fixed, edges};
}

// Measures the candidates: the polygons that may be nearest to the mover, a point. Leaves a
// candidate that may touch the mover to `Visit`, the general search, since the answer for a
// touching polygon is the first edge that touches, not the nearest edge.
void DistanceQuery::VisitCandidates(const PlacedShape& mover) {
  for (size_t i = 0; i < candidate_count_ && !meter_.stopped(); ++i) {
    const auto& [fixed, edges] = candidates_[i];
    if (edges.lower2 > limit2_) continue;
    if (!(edges.lower2 > touch2_.high)) {
      Visit(mover, *fixed);
    } else {
      Keep(*fixed, NearestOf(fixed->polygon(), mover.core_bounds().min, edges.nearest));
    }
  }
  candidate_count_ = 0;
}

// Measures a polygon. Under the mode WITHIN the search stops at any pair of edges (one of the
// polygon, one of the mover) within the distance that the query asks for. Under NEAREST it
// continues to the nearest pair, unless the shapes touch.
void DistanceQuery::Visit(const PlacedShape& mover, const IndexedPolygon& fixed) {
  const Polygon& polygon = fixed.polygon();
  if ((polygon.category() & mask_) == 0 ||
      LowerDistance2(polygon.bounds(), mover.core_bounds()) > limit2_) {
    return;
  }
  if (options_.mode == DistanceMode::kNearest) {
    LowerLimit(UpperDistance2(polygon.bounds(), mover.core_bounds()));
  }
  const LengthSum& enough = options_.mode == DistanceMode::kWithin ? reach_ : touch_;
  const std::optional<Closest> closest =
      FindClosest(PlacedShape(fixed), mover, {enough, limit2_}, meter_);
  if (closest) Keep(fixed, *closest);
}

// Keeps a polygon under the mode NEAREST_K, if it is one of the k first so far.
void DistanceQuery::KeepRanked(const MeasuredPolygon& found) {
  NearestHeap<MeasuredPolygon> heap(near_, options_.k, touch_.a, meter_);
  if (!heap.Add(found) || !heap.is_full()) return;
  const MeasuredPolygon& last = near_.front();
  LowerLimit(last.is_touching ? 0 : last.closest.approach->distance2.high);
}

// Keeps a polygon if it is within the distance that the query asks for, and, under the mode
// NEAREST, if no kept polygon is nearer.
void DistanceQuery::Keep(const IndexedPolygon& fixed, const Closest& closest) {
  if (!IsCoreWithin(closest, reach_, reach2_)) return;
  const bool is_touching = IsCoreWithin(closest, touch_, touch2_);
  if (options_.mode == DistanceMode::kNearestK) return KeepRanked({&fixed, closest, is_touching});
  if (options_.mode == DistanceMode::kNearest && !MakeRoom(closest, is_touching)) return;
  near_.push_back({&fixed, closest, is_touching});
  if (options_.mode == DistanceMode::kNearest) {
    LowerLimit(is_touching ? 0 : closest.approach->distance2.high);
  } else {
    meter_.SpendRows(1);
  }
}

}  // namespace carom::internal
