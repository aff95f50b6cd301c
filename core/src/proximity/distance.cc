// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/distance.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/thread_scratch.h"
#include "index/closest.h"
#include "index/indexed_polygon.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "shape/approach.h"

namespace carom {
namespace {

using internal::Closest;
using internal::Core;
using internal::LengthSum;

Vec2 Opposite(Vec2 v) { return {-v.x, -v.y}; }

// A shared point of two shapes whose cores are apart: core b's nearest point where that is within
// radius a, else the point of a's surface nearest to it.
Vec2 SharedPoint(const Closest& closest, Vec2 core_a, Vec2 core_b, Vec2 towards_b,
                 double radius_a) {
  if (Compare(*closest.approach, LengthSum{radius_a, 0, 0}) <= 0) return core_b;
  return radius_a == 0 ? core_a : internal::Along(core_a, towards_b, radius_a);
}

Separation SeparationOfApart(const Core& a, const Core& b, const Closest& closest) {
  const internal::Approach& approach = *closest.approach;
  const Vec2 foot = internal::NearestPoint(approach);
  const Vec2 core_a = closest.vertex_is_of_a ? approach.vertex : foot;
  const Vec2 core_b = closest.vertex_is_of_a ? foot : approach.vertex;
  if (a.radius() == 0 && b.radius() == 0) {
    return {internal::Clearance(approach, 0, 0), core_a, core_b};
  }
  const Vec2 to_vertex = internal::UnitDirection(approach);
  const Vec2 towards_b = closest.vertex_is_of_a ? Opposite(to_vertex) : to_vertex;
  if (Compare(approach, LengthSum{a.radius(), b.radius(), 0}) <= 0) {
    const Vec2 shared = SharedPoint(closest, core_a, core_b, towards_b, a.radius());
    return {0, shared, shared};
  }
  return {internal::Clearance(approach, a.radius(), b.radius()),
          internal::Along(core_a, towards_b, a.radius()),
          internal::Along(core_b, Opposite(towards_b), b.radius())};
}

Separation SeparationOf(const Core& a, const Core& b, const Closest& closest) {
  Vec2 shared;
  switch (closest.kind) {
    case Closest::Kind::kApart:
      return SeparationOfApart(a, b, closest);
    case Closest::Kind::kCrossing:
      shared = internal::CommonPoint(b.edge(closest.edge_b), a.edge(closest.edge_a));
      break;
    case Closest::Kind::kBInA:
      shared = b.ring_start(closest.ring);
      break;
    case Closest::Kind::kAInB:
      shared = a.ring_start(closest.ring);
      break;
  }
  return {0, shared, shared};
}

DistanceRow RowOf(const Core& fixed, const Core& mover, const Closest& closest) {
  const Separation separation = SeparationOf(fixed, mover, closest);
  DistanceRow row;
  row.distance = separation.distance;
  row.point = separation.point_a;
  row.mover_point = separation.point_b;
  row.has_edge = closest.kind != Closest::Kind::kBInA;
  if (closest.kind == Closest::Kind::kAInB) {
    row.edge = {static_cast<uint32_t>(closest.ring), 0};
  } else if (row.has_edge) {
    row.edge = fixed.polygon()->polygon().edge_ref(closest.edge_a);
  }
  return row;
}

// A polygon of the scene and what decides its distance.
struct Candidate {
  const IndexedPolygon* polygon;
  Closest closest;
  bool is_touching;  // the shapes share a point: the distance is 0
};

// What batches of distances work with, kept while it is small.
struct Scratch {
  static constexpr size_t kMaxCachedItems = 16384;

  bool IsWorthCaching() const {
    return candidates.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  internal::Placer placer;
  std::vector<Candidate> candidates;
  size_t largest = 0;  // vertices of a mover
};

// Measures from one mover at a time.
class DistanceQuery {
 public:
  DistanceQuery(const Scene& scene, const DistanceOptions& options,
                std::vector<Candidate>& candidates, DistanceAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter), candidates_(candidates) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Answer(size_t index, const Core& mover, double max_distance);

 private:
  void Visit(const Core& mover, const IndexedPolygon& indexed);
  void KeepNearest(const Candidate& candidate);
  // A polygon is within this squared distance. All that touch count, even so.
  void LowerLimit(double distance2) { limit2_ = std::min(limit2_, std::max(distance2, touch2_)); }

  const Scene& scene_;
  const DistanceOptions& options_;
  DistanceAnswers& out_;
  WorkMeter& meter_;
  LengthSum touch_;  // cores this near touch
  LengthSum reach_;  // cores this near count
  double limit2_ = 0;
  double touch2_ = 0;
  std::vector<Candidate>& candidates_;
  size_t unkept_ = 0;  // ties beyond the rows that there may be
};

bool DistanceQuery::Answer(size_t index, const Core& mover, double max_distance) {
  touch_ = {mover.radius(), 0, 0};
  reach_ = {mover.radius(), 0, max_distance};
  limit2_ = internal::SquareBounds(reach_).high;
  touch2_ = internal::SquareBounds(touch_).high;
  candidates_.clear();
  unkept_ = 0;
  scene_.index().TraverseNearest(meter_, mover.bounds(), limit2_,
                                 [&](const IndexedPolygon& indexed) {
                                   Visit(mover, indexed);
                                   return !meter_.stopped();
                                 });
  if (options_.mode == DistanceMode::kNearest) meter_.SpendRows(candidates_.size() + unkept_);
  if (meter_.stopped()) return false;
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.polygon->polygon().id() < b.polygon->polygon().id();
  });
  out_.counts[index] = static_cast<uint32_t>(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    if (!meter_.Spend(8)) return false;
    out_.polygon_ids.push_back(candidate.polygon->polygon().id());
    if (options_.mode == DistanceMode::kWithin) continue;
    out_.rows.push_back(RowOf(Core(*candidate.polygon), mover, candidate.closest));
  }
  return true;
}

void DistanceQuery::Visit(const Core& mover, const IndexedPolygon& indexed) {
  const Polygon& polygon = indexed.polygon();
  if ((polygon.category() & options_.mask) == 0 ||
      internal::LowerDistance2(polygon.bounds(), mover.bounds()) > limit2_) {
    return;
  }
  if (options_.mode == DistanceMode::kNearest) {
    LowerLimit(internal::UpperDistance2(polygon.bounds(), mover.bounds()));
  }
  const LengthSum& enough = options_.mode == DistanceMode::kWithin ? reach_ : touch_;
  std::optional<Closest> closest =
      internal::FindClosest(Core(indexed), mover, {enough, limit2_}, meter_);
  if (!closest || !IsCoreWithin(*closest, reach_)) return;
  const bool is_touching = IsCoreWithin(*closest, touch_);
  const Candidate candidate{&indexed, *closest, is_touching};
  if (options_.mode == DistanceMode::kNearest) {
    KeepNearest(candidate);
  } else {
    candidates_.push_back(candidate);
    meter_.SpendRows(1);
  }
}

// Keeps what ties at the least distance, and passes over what is farther.
void DistanceQuery::KeepNearest(const Candidate& candidate) {
  if (!candidates_.empty()) {
    const Candidate& best = candidates_[0];
    int order = 0;
    if (candidate.is_touching || best.is_touching) {
      order = static_cast<int>(best.is_touching) - static_cast<int>(candidate.is_touching);
    } else {
      order = Compare(*candidate.closest.approach, *best.closest.approach);
    }
    if (order > 0) return;
    if (order < 0) {
      candidates_.clear();
      unkept_ = 0;
    }
  }
  // More ties than there may be rows end the work, unless something nearer comes.
  if (candidates_.size() > meter_.rows_left()) {
    ++unkept_;
    return;
  }
  candidates_.push_back(candidate);
  const double least2 = candidate.is_touching ? 0 : candidate.closest.approach->distance2.high;
  LowerLimit(least2);
}

}  // namespace

void DistanceAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  rows.clear();
  errors.clear();
}

Separation Distance(const Shape& a, const Shape& b) {
  const internal::OwnedCore core_a(a);
  const internal::OwnedCore core_b(b);
  WorkMeter meter;
  const LengthSum enough{core_a.core().radius(), core_b.core().radius(), 0};
  const std::optional<Closest> closest =
      internal::FindClosest(core_a.core(), core_b.core(), {enough, HUGE_VAL}, meter);
  return closest ? SeparationOf(core_a.core(), core_b.core(), *closest) : Separation{};
}

bool IsWithin(const Shape& a, const Shape& b, double distance) {
  if (!(distance >= 0)) return false;
  const internal::OwnedCore core_a(a);
  const internal::OwnedCore core_b(b);
  WorkMeter meter;
  const LengthSum enough{core_a.core().radius(), core_b.core().radius(), distance};
  const std::optional<Closest> closest = internal::FindClosest(
      core_a.core(), core_b.core(), {enough, internal::SquareBounds(enough).high}, meter);
  return closest && IsCoreWithin(*closest, enough);
}

bool MeasureDistances(const Scene& scene, const DistanceColumns& columns,
                      const DistanceOptions& options, DistanceAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  internal::ThreadScratch<Scratch> scratch;
  DistanceQuery query(scene, options, scratch->candidates, out, meter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const Shape* const placed =
        internal::PlacedItem(columns.movers, i, check, meter, scratch->placer);
    if (meter.stopped()) return false;
    if (placed == nullptr) continue;
    const double max_distance = columns.max_distance.empty() ? HUGE_VAL : columns.max_distance[i];
    if (!(max_distance >= 0)) {
      check.Fail(ItemColumn::kMaxDistance, ItemFault::kNegativeLength);
      continue;
    }
    scratch->largest = std::max(scratch->largest, placed->vertex_count());
    if (!meter.Spend(placed->vertex_count())) return false;
    const internal::OwnedCore mover(*placed);
    if (!query.Answer(i, mover.core(), max_distance)) return false;
  }
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

}  // namespace carom
