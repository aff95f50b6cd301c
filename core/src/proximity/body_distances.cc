// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/body_distances.h"

#include <algorithm>
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

// The distance from the mover (the shape of the query) by which the polygons and bodies found are
// compared: 0 for a shape that touches the mover, `rounded_up` for a round body, a disc or a
// capsule (`is_rounded`), else the exact distance of `approach`.
struct Key {
  bool is_touching;
  bool is_rounded;
  double rounded_up;
  const std::optional<Approach>* approach;
};

// Returns the sign of a - b: a is the exact distance between the mover (the shape of the query) and
// the shape of the key `exact`, which is not round; b is `rounded_up` of a round body (a disc or a
// capsule) with the key `rounded`.
int CompareToRounded(const Key& exact, const Key& rounded, const PlacedShape& mover) {
  return Compare(**exact.approach, LengthSum{mover.radius(), 0, rounded.rounded_up});
}

int CompareKeys(const Key& a, const Key& b, const PlacedShape& mover) {
  if (a.is_touching || b.is_touching) {
    return static_cast<int>(b.is_touching) - static_cast<int>(a.is_touching);
  }
  if (a.is_rounded && b.is_rounded) {
    return (a.rounded_up > b.rounded_up) - (a.rounded_up < b.rounded_up);
  }
  if (a.is_rounded) return -CompareToRounded(b, a, mover);
  return b.is_rounded ? CompareToRounded(a, b, mover) : Compare(**a.approach, **b.approach);
}

// Return the keys of measured shapes. The exact distance of `approach` is measured from the mover's
// core (the query's shape without its radius), so it is too large by the mover's radius, which does
// not matter between two such keys; `rounded_up` has the radius subtracted.
Key KeyOf(const MeasuredBody& body) {
  return {body.is_touching, body.body->is_round(), body.rounded_up, &body.closest.approach};
}
Key KeyOf(const MeasuredPolygon& polygon) {
  return {polygon.is_touching, false, 0, &polygon.closest.approach};
}

}  // namespace

// Measures the bodies (placed shapes beside the scene) with boxes that are not farther from the
// mover than `best_`: `max_distance` or, under the mode NEAREST, the least distance found so far if
// that is less.
bool BodyDistances::Run(const PlacedShape& mover, double max_distance,
                        const QueryFilter& query_filter) {
  near_.clear();
  best_ = max_distance;
  if (mode_ == DistanceMode::kNearest && !polygons_.empty()) {
    const MeasuredPolygon& nearest = polygons_.front();
    best_ = nearest.is_touching ? 0 : UpperDistance(*nearest.closest.approach, 0, mover.radius());
  }
  const Box from = mover.bounds();
  const auto may_be_near = [&](const Box& box) {
    return std::sqrt(LowerDistance2(box, from)) * (1 - 4 * kUnit) <= best_;
  };
  VisitBodies(world_, query_filter, meter_, may_be_near, [&](Body& body) {
    Visit(mover, max_distance, body);
    return !meter_.stopped();
  });
  if (mode_ == DistanceMode::kNearest) meter_.SpendRows(near_.size());
  if (meter_.stopped()) return false;
  std::sort(near_.begin(), near_.end(), [](const MeasuredBody& a, const MeasuredBody& b) {
    return a.body->index() < b.body->index();
  });
  return true;
}

// Measures the distance of a body (a placed shape beside the scene) from the mover. Under the mode
// WITHIN the search stops at any pair of edges within `max_distance`, since the answer states only
// that the body is within the distance.
void BodyDistances::Visit(const PlacedShape& mover, double max_distance, Body& body) {
  const LengthSum touch{body.radius(), mover.radius(), 0};
  const LengthSum reach{body.radius(), mover.radius(), max_distance};
  const LengthSum limit{body.radius(), mover.radius(), best_};
  const bool is_enough = mode_ == DistanceMode::kWithin;
  const std::optional<Closest> closest = FindClosest(
      body.view(), mover, {is_enough ? reach : touch, SquareBounds(limit).high}, meter_);
  if (!closest || !IsCoreWithin(*closest, reach, SquareBounds(reach))) return;
  MeasuredBody found{&body, *closest, IsCoreWithin(*closest, touch, SquareBounds(touch)), 0};
  if (mode_ != DistanceMode::kNearest) {
    near_.push_back(found);
    meter_.SpendRows(1);
    return;
  }
  if (!found.is_touching && body.is_round()) {
    found.rounded_up = DistanceRoundedUp(*closest->approach, body.radius(), mover.radius());
  }
  KeepNearest(mover, found);
}

// Keeps a body, under the mode NEAREST, if no body or polygon found so far is nearer to the mover,
// and drops the bodies and polygons that are farther. So all kept bodies and polygons are equally
// far from the mover.
void BodyDistances::KeepNearest(const PlacedShape& mover, const MeasuredBody& found) {
  int order = -1;
  if (!near_.empty()) {
    order = CompareKeys(KeyOf(found), KeyOf(near_.front()), mover);
  } else if (!polygons_.empty()) {
    order = CompareKeys(KeyOf(found), KeyOf(polygons_.front()), mover);
  }
  if (order > 0) return;
  if (order < 0) {
    near_.clear();
    polygons_.clear();
  }
  near_.push_back(found);
  const double radius = found.body->radius();
  best_ = found.is_touching
              ? 0
              : std::min(best_, UpperDistance(*found.closest.approach, radius, mover.radius()));
}

}  // namespace carom::internal
