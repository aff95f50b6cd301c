// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/distance.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "approach.h"
#include "closest.h"
#include "indexed_polygon.h"
#include "placed_items.h"
#include "scene_traversal.h"

namespace carom {
namespace {

using internal::Closest;
using internal::Core;
using internal::LengthSum;

// Scenes of fewer polygons are searched without a first bound.
constexpr size_t kFewPolygons = 32;

Vec2 Opposite(Vec2 v) { return {-v.x, -v.y}; }

// A shared point of two shapes whose cores are apart: core b's nearest point where that is within
// radius a, else the point of a's surface nearest to it.
Vec2 SharedPoint(const Closest& closest, Vec2 core_a, Vec2 core_b, Vec2 towards_b,
                 double radius_a) {
  if (closest.approach->distance2.high <= radius_a * radius_a) return core_b;
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

// Whether the distance of the cores is at most `sum`.
bool IsCoreWithin(const Closest& closest, const LengthSum& sum) {
  return closest.kind != Closest::Kind::kApart || Compare(*closest.approach, sum) <= 0;
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

// At least the squared distance from `mover` to the nearest polygon that `mask` considers; +inf
// where none is within `limit2`, or where finding out costs more than it saves. Looks for any
// polygon in growing reach, so that the cost hardly depends on what is far away.
double NearestBound2(const Scene& scene, uint64_t mask, const Box& mover, double limit2,
                     WorkMeter& meter) {
  if (scene.polygon_count() < kFewPolygons) return HUGE_VAL;
  const Box& all = scene.bounds();
  const double most2 = internal::UpperDistance2(all, mover);
  double step = std::max(all.max.x - all.min.x, all.max.y - all.min.y) /
                std::sqrt(static_cast<double>(scene.polygon_count()));
  double reach = std::sqrt(internal::LowerDistance2(all, mover));
  double bound2 = HUGE_VAL;
  for (double reach2 = 0; step > 0 && reach2 < most2 && reach2 < limit2; step *= 4) {
    reach += step;
    reach2 = reach * reach;
    internal::VisitPolygons(
        scene, mask, meter,
        [&](const Box& box) {
          return internal::LowerDistance2(box, mover) <= std::min(bound2, reach2);
        },
        [&](const IndexedPolygon& indexed) {
          bound2 = std::min(bound2, internal::UpperDistance2(indexed.polygon().bounds(), mover));
          return !meter.stopped();
        });
    if (bound2 < HUGE_VAL || meter.stopped()) break;
  }
  return bound2;
}

// A polygon of the scene and what decides its distance.
struct Candidate {
  const IndexedPolygon* polygon;
  Closest closest;
  bool is_touching;  // the shapes share a point: the distance is 0
};

// Measures from one mover at a time.
class DistanceQuery {
 public:
  DistanceQuery(const Scene& scene, const DistanceOptions& options, DistanceAnswers& out,
                WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Answer(size_t index, const Core& mover, double max_distance);

 private:
  void Visit(const Core& mover, const IndexedPolygon& indexed);
  void KeepNearest(const Candidate& candidate);

  const Scene& scene_;
  const DistanceOptions& options_;
  DistanceAnswers& out_;
  WorkMeter& meter_;
  LengthSum touch_;  // cores this near touch
  LengthSum reach_;  // cores this near count
  double limit2_ = 0;
  std::vector<Candidate> candidates_;
  size_t unkept_ = 0;  // ties beyond the rows that there may be
};

bool DistanceQuery::Answer(size_t index, const Core& mover, double max_distance) {
  touch_ = {mover.radius(), 0, 0};
  reach_ = {mover.radius(), 0, max_distance};
  limit2_ = internal::SquareBounds(reach_).high;
  candidates_.clear();
  unkept_ = 0;
  if (options_.mode == DistanceMode::kNearest) {
    const double bound2 = NearestBound2(scene_, options_.mask, mover.bounds(), limit2_, meter_);
    limit2_ = std::min(limit2_, std::max(bound2, internal::SquareBounds(touch_).high));
  }
  internal::VisitPolygons(
      scene_, options_.mask, meter_,
      [&](const Box& box) { return internal::LowerDistance2(box, mover.bounds()) <= limit2_; },
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
  limit2_ = std::min(limit2_, std::max(least2, internal::SquareBounds(touch_).high));
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
  DistanceQuery query(scene, options, out, meter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<Shape> placed = internal::PlacedItem(columns.movers, i, check, meter);
    if (meter.stopped()) return false;
    if (!placed) continue;
    const double max_distance = columns.max_distance.empty() ? HUGE_VAL : columns.max_distance[i];
    if (!(max_distance >= 0)) {
      check.Fail(ItemColumn::kMaxDistance, ItemFault::kNegativeLength);
      continue;
    }
    if (!meter.Spend(placed->vertex_count())) return false;
    const internal::OwnedCore mover(*placed);
    if (!query.Answer(i, mover.core(), max_distance)) return false;
  }
  return true;
}

}  // namespace carom
