// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/metered_sort.h"
#include "carom/predicates.h"
#include "index/placed_items.h"
#include "index/placed_shape.h"
#include "index/scene_traversal.h"
#include "sweep/sweep_measures.h"
#include "sweep/sweep_passage.h"

namespace carom {
namespace {

using internal::IntervalEnd;
using internal::Motion;
using internal::PlacedShape;
using internal::SweepEvent;
using internal::SweepPair;
using internal::SweepTime;

// A hit before its measures are computed.
struct Candidate {
  const IndexedPolygon* fixed;
  SweepEvent event;
  bool starts_inside;
  bool at_exit;  // the passage's end is the hit

  const SweepTime& time() const { return event.touch.time; }
};

// Sweeps one shape at a time.
class Sweeper {
 public:
  Sweeper(const Scene& scene, const SweepOptions& options, SweepAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Sweep(size_t index, const PlacedShape& mover, const Motion& motion);

 private:
  bool is_closest() const { return options_.mode == CastMode::kClosest; }
  bool is_any() const { return options_.mode == CastMode::kAny; }

  void CollectCandidates();
  std::optional<Candidate> HitOf(const IndexedPolygon& fixed);
  std::optional<Candidate> HitFromInside(const IndexedPolygon& fixed);
  void Keep(const Candidate& candidate);
  int CompareTimes(const Candidate& a, const Candidate& b) const;
  bool ComesBefore(const Candidate& a, const Candidate& b) const;
  SweepHit Measured(const Candidate& candidate);
  void MeasureTouch(const Candidate& candidate, SweepHit& hit) const;

  const Scene& scene_;
  const SweepOptions& options_;
  SweepAnswers& out_;
  WorkMeter& meter_;
  const PlacedShape* mover_ = nullptr;
  Box bounds_;  // of the mover at the start
  Motion motion_;
  double limit_ = 1;          // no later hit matters
  internal::SweptBox reach_;  // holds the shape until `limit_`
  SweepPair pair_;
  std::vector<Candidate> candidates_;
};

bool Sweeper::Sweep(size_t index, const PlacedShape& mover, const Motion& motion) {
  mover_ = &mover;
  motion_ = motion;
  limit_ = 1;
  bounds_ = mover.bounds();
  reach_ = internal::SweptBox(bounds_, motion.d, limit_);
  pair_.Start(mover, motion);
  candidates_.clear();
  CollectCandidates();
  if (meter_.stopped()) return false;
  if (is_any()) {
    out_.counts[index] = candidates_.empty() ? 0 : 1;
    return true;
  }
  internal::SortHeap(candidates_, meter_,
                     [this](const Candidate& a, const Candidate& b) { return ComesBefore(a, b); });
  if (meter_.stopped()) return false;
  if (!is_closest() && candidates_.size() > options_.max_hits) {
    candidates_.pop_back();
    out_.truncated.push_back(static_cast<uint32_t>(index));
  }
  if (!meter_.SpendRows(candidates_.size())) return false;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!meter_.Spend(4)) return false;
    out_.hits.push_back(Measured(candidates_[i]));
    out_.hits.back().ties = i > 0 && CompareTimes(candidates_[i - 1], candidates_[i]) == 0;
  }
  out_.counts[index] = static_cast<uint32_t>(candidates_.size());
  return !meter_.stopped();
}

void Sweeper::CollectCandidates() {
  internal::VisitPolygons(
      scene_, options_.mask, meter_, [this](const Box& box) { return reach_.MayMeet(box); },
      [this](const IndexedPolygon& fixed) {
        const std::optional<Candidate> hit = HitOf(fixed);
        if (meter_.stopped()) return false;
        if (hit) Keep(*hit);
        return !(hit && is_any());
      });
}

std::optional<Candidate> Sweeper::HitOf(const IndexedPolygon& fixed) {
  const std::optional<SweepEvent> touch = pair_.FirstTouch(fixed, limit_, meter_);
  const bool touches_at_start = touch && touch->touch.time.is_zero();
  if (touches_at_start || pair_.HoldsRingAtStart(fixed, meter_)) return HitFromInside(fixed);
  if (!touch) return std::nullopt;
  return Candidate{&fixed, *touch, false, false};
}

std::optional<Candidate> Sweeper::HitFromInside(const IndexedPolygon& fixed) {
  const bool moves = !(motion_.d == Vec2{});
  switch (options_.inside_policy) {
    case InsidePolicy::kReportStart:
      break;
    case InsidePolicy::kIgnore: {
      if (!moves) return std::nullopt;
      const std::optional<SweepEvent> re_entry = pair_.FirstPassage(fixed, meter_).re_entry;
      if (!re_entry) return std::nullopt;
      return Candidate{&fixed, *re_entry, false, false};
    }
    case InsidePolicy::kExit:
      if (!moves) break;
      return Candidate{&fixed, pair_.FirstPassage(fixed, meter_).end, true, true};
  }
  return Candidate{&fixed, {}, true, false};
}

// Under ALL the candidates are a heap with the last in the total order on top, and one more than is
// asked for: that one tells that there are more.
void Sweeper::Keep(const Candidate& candidate) {
  const auto before = [this](const Candidate& a, const Candidate& b) {
    meter_.Spend(1);
    return ComesBefore(a, b);
  };
  if (is_closest()) {
    if (candidates_.empty()) {
      candidates_.push_back(candidate);
    } else if (ComesBefore(candidate, candidates_[0])) {
      candidates_[0] = candidate;
    }
    limit_ = std::fmin(1, candidates_[0].time().high());
    reach_ = internal::SweptBox(bounds_, motion_.d, limit_);
    return;
  }
  candidates_.push_back(candidate);
  std::push_heap(candidates_.begin(), candidates_.end(), before);
  if (candidates_.size() <= size_t{options_.max_hits} + 1) return;
  std::pop_heap(candidates_.begin(), candidates_.end(), before);
  candidates_.pop_back();
}

// The total order: exact for radius 0, of the times rounded up else.
int Sweeper::CompareTimes(const Candidate& a, const Candidate& b) const {
  if (motion_.radius > 0) {
    return (a.time().high() > b.time().high()) - (a.time().high() < b.time().high());
  }
  return SweepTime::Compare(motion_, a.time(), b.time());
}

bool Sweeper::ComesBefore(const Candidate& a, const Candidate& b) const {
  const int order = CompareTimes(a, b);
  return order != 0 ? order < 0 : a.fixed->polygon().id() < b.fixed->polygon().id();
}

SweepHit Sweeper::Measured(const Candidate& candidate) {
  const Polygon& polygon = candidate.fixed->polygon();
  SweepHit hit;
  hit.polygon_id = polygon.id();
  hit.fraction = candidate.time().Rounded(motion_);
  hit.starts_inside = candidate.starts_inside;
  if (candidate.starts_inside && !candidate.at_exit) {
    const SweepPair::Place start = pair_.AtStart(*candidate.fixed, meter_);
    hit.point = start.point;
    hit.has_edge = start.edge.has_value();
    if (start.edge) hit.edge = polygon.edge_ref(*start.edge);
  } else if (candidate.time().is_one()) {
    hit.point = pair_.AtEnd(*candidate.fixed, meter_).point;
  } else {
    hit.has_edge = true;
    hit.edge = polygon.edge_ref(candidate.event.first_edge);
    MeasureTouch(candidate, hit);
  }
  return hit;
}

void Sweeper::MeasureTouch(const Candidate& candidate, SweepHit& hit) const {
  const internal::SweepTouch& touch = candidate.event.touch;
  const internal::EdgeMeeting& meeting = touch.time.meeting();
  const Vec2 d = motion_.d;
  if (motion_.radius > 0) {
    const auto end = candidate.at_exit ? IntervalEnd::kEnd : IntervalEnd::kBegin;
    hit.normal = internal::RoundNormal(motion_, meeting, end);
  } else {
    const Segment edge = candidate.fixed->polygon().edge(touch.fixed_edge);
    const Segment moving = mover_->edge(touch.moving_edge);
    hit.normal = internal::NormalAgainst(internal::SeparatingEdge(meeting, edge, moving, d), d);
  }
  hit.point = meeting.fixed.a;
  if (meeting.is_on_fixed_edge()) {
    const Vec2 step{motion_.radius * hit.normal.x, motion_.radius * hit.normal.y};
    hit.point = internal::PointOnPath(meeting.moving.a, d, hit.fraction, step);
  }
  if (candidate.at_exit) hit.normal = {};
}

// The displacement of item i, or nothing and an error recorded.
std::optional<Vec2> DisplacementOf(const SweepColumns& columns, size_t i, ItemChecker& check) {
  if (!check.Coordinate(ItemColumn::kToX, columns.to_x[i]) ||
      !check.Coordinate(ItemColumn::kToY, columns.to_y[i])) {
    return std::nullopt;
  }
  const Vec2 from = Normalized(Vec2{columns.movers.x[i], columns.movers.y[i]});
  const Vec2 to = Normalized(Vec2{columns.to_x[i], columns.to_y[i]});
  const Vec2 d = Normalized(Vec2{to.x - from.x, to.y - from.y});
  if (!check.Coordinate(ItemColumn::kToX, d.x) || !check.Coordinate(ItemColumn::kToY, d.y)) {
    return std::nullopt;
  }
  return d;
}

}  // namespace

void SweepAnswers::Clear() {
  counts.clear();
  hits.clear();
  truncated.clear();
  errors.clear();
}

bool SweepShapes(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
                 SweepAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  Sweeper sweeper(scene, options, out, meter);
  internal::MovingShape mover;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const bool is_placed = internal::PlaceItem(columns.movers, i, check, meter, mover);
    if (meter.stopped()) return false;
    if (!is_placed) continue;
    const std::optional<Vec2> d = DisplacementOf(columns, i, check);
    if (!d) continue;
    const PlacedShape view = mover.View();
    if (!meter.Spend(view.edge_count()) || !sweeper.Sweep(i, view, {*d, view.radius()})) {
      return false;
    }
  }
  return true;
}

}  // namespace carom
