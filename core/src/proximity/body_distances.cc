// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/body_distances.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "numeric/box_distance.h"
#include "shape/approach.h"

namespace carom::internal {
namespace {

// Returns an upper bound of the exact distance of two shapes that are apart: the distance of their
// cores (the shapes without their radii), given by `approach`, minus both radii.
double UpperDistance(const Approach& approach, double radius_a, double radius_b) {
  return std::nextafter(Clearance(approach, radius_a, radius_b), HUGE_VAL);
}

// Returns the least double that is at least the exact distance of two shapes that are apart: the
// distance of their cores (the shapes without their radii), given by `approach`, minus both radii.
double DistanceRoundedUp(const Approach& approach, double radius_a, double radius_b) {
  const double nearest = Clearance(approach, radius_a, radius_b);
  const bool is_below = Compare(approach, LengthSum{radius_a, radius_b, nearest}) > 0;
  return is_below ? std::nextafter(nearest, HUGE_VAL) : nearest;
}

double RadiusOf(const MeasuredBody& body) { return body.body->radius(); }

}  // namespace

// Lowers `best_` to an upper bound of the distance of `found`, which has `radius`.
template <class Measured>
void BodyDistances::LowerBest(const Measured& found, double radius, const PlacedShape& mover) {
  best_ = found.is_touching
              ? 0
              : std::min(best_, UpperDistance(*found.closest.approach, radius, mover.radius()));
}

// Measures the bodies (placed shapes beside the scene) with boxes that are not farther from the
// mover than `best_`: `max_distance` or, if that is less, the least distance found so far under the
// mode NEAREST, and the greatest of the k least under NEAREST_K.
bool BodyDistances::Run(const PlacedShape& mover, double max_distance,
                        const QueryFilter& query_filter) {
  near_.clear();
  best_ = max_distance;
  const bool ranks = options_.mode == DistanceMode::kNearestK;
  NearestHeap<MeasuredBody> heap(near_, options_.k, mover.radius(), meter_);
  if (ranks ? polygons_.size() >= options_.k : IsNearest() && !polygons_.empty()) {
    LowerBest(polygons_.back(), 0, mover);
  }
  const Box from = mover.bounds();
  const auto may_be_near = [&](const Box& box) {
    return std::sqrt(LowerDistance2(box, from)) * (1 - 4 * kUnit) <= best_;
  };
  VisitBodies(world_, query_filter, meter_, may_be_near, [&](Body& body) {
    const std::optional<MeasuredBody> found = Measure(mover, max_distance, body);
    if (!found) return !meter_.stopped();
    if (ranks) {
      if (heap.Add(*found) && heap.is_full())
        LowerBest(near_.front(), RadiusOf(near_.front()), mover);
    } else {
      Keep(mover, *found);
    }
    return !meter_.stopped();
  });
  if (IsNearest()) meter_.SpendRows(near_.size());
  if (ranks) heap.Sort();
  if (ranks || meter_.stopped()) return !meter_.stopped();
  std::sort(near_.begin(), near_.end(), [](const MeasuredBody& a, const MeasuredBody& b) {
    return a.body->index() < b.body->index();
  });
  return true;
}

// Measures the distance of a body (a placed shape beside the scene) from the mover. Returns nothing
// if the body is too far away. Under the mode WITHIN the search stops at any pair of edges within
// `max_distance`, since the answer states only that the body is within the distance.
std::optional<MeasuredBody> BodyDistances::Measure(const PlacedShape& mover, double max_distance,
                                                   Body& body) {
  const LengthSum touch{body.radius(), mover.radius(), 0};
  const LengthSum reach{body.radius(), mover.radius(), max_distance};
  const LengthSum limit{body.radius(), mover.radius(), best_};
  const bool is_enough = options_.mode == DistanceMode::kWithin;
  const std::optional<Closest> closest = FindClosest(
      body.view(), mover, {is_enough ? reach : touch, SquareBounds(limit).high}, meter_);
  if (!closest || !IsCoreWithin(*closest, reach, SquareBounds(reach))) return std::nullopt;
  MeasuredBody found{&body, *closest, IsCoreWithin(*closest, touch, SquareBounds(touch)), 0};
  const bool ranks = IsNearest() || options_.mode == DistanceMode::kNearestK;
  if (ranks && !found.is_touching && body.is_round()) {
    found.rounded_up = DistanceRoundedUp(*closest->approach, body.radius(), mover.radius());
  }
  return found;
}

// Keeps a body under the modes ALL and WITHIN, and leaves it to `KeepNearest` under NEAREST.
void BodyDistances::Keep(const PlacedShape& mover, const MeasuredBody& found) {
  if (IsNearest()) return KeepNearest(mover, found);
  near_.push_back(found);
  meter_.SpendRows(1);
}

// Keeps a body, under the mode NEAREST, if no body or polygon found so far is nearer to the mover,
// and drops the bodies and polygons that are farther. So all kept bodies and polygons are equally
// far from the mover.
void BodyDistances::KeepNearest(const PlacedShape& mover, const MeasuredBody& found) {
  int order = -1;
  if (!near_.empty()) {
    order = CompareKeys(KeyOf(found), KeyOf(near_.front()), mover.radius());
  } else if (!polygons_.empty()) {
    order = CompareKeys(KeyOf(found), KeyOf(polygons_.front()), mover.radius());
  }
  if (order > 0) return;
  if (order < 0) {
    near_.clear();
    polygons_.clear();
  }
  near_.push_back(found);
  LowerBest(found, RadiusOf(found), mover);
}

}  // namespace carom::internal
