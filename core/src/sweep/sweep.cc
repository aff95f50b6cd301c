// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/hit_collector.h"
#include "carom/predicates.h"
#include "index/placed_items.h"
#include "index/placed_shape.h"
#include "index/scene_traversal.h"
#include "sweep/plain_sweep.h"
#include "sweep/sweep_batch.h"
#include "sweep/sweep_items.h"
#include "sweep/sweep_measures.h"
#include "sweep/sweep_passage.h"

namespace carom {
namespace {

using internal::IntervalEnd;
using internal::Motion;
using internal::PlacedShape;
using internal::PlainSweepVerdict;
using internal::SweepCounts;
using internal::SweepEvent;
using internal::SweepPair;
using internal::SweepRun;
using internal::SweepTime;
using internal::SweepWay;

// A hit before its measures are computed.
struct Candidate {
  const IndexedPolygon* fixed;
  SweepEvent event;
  bool starts_inside;
  bool at_exit;  // the passage's end is the hit

  const SweepTime& time() const { return event.touch.time; }
  uint64_t polygon_id() const { return fixed->polygon().id(); }
};

// Sweeps one shape at a time.
class Sweeper {
 public:
  Sweeper(const Scene& scene, const SweepOptions& options, SweepAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Sweep(size_t index, const PlacedShape& mover, const Motion& motion);
  // The same, known to overlap a polygon at the start, which is the answer.
  bool AddOverlap(size_t index, const PlacedShape& mover, const Motion& motion,
                  const IndexedPolygon& fixed);

 private:
  void Start(const PlacedShape& mover, const Motion& motion);
  bool Write(size_t index);
  // Orders hits by time.
  auto ByTime() const {
    return [this](const Candidate& a, const Candidate& b) { return CompareTimes(a, b); };
  }

  void CollectCandidates();
  std::optional<Candidate> HitOf(const IndexedPolygon& fixed);
  std::optional<Candidate> HitFromInside(const IndexedPolygon& fixed);
  void Keep(const Candidate& candidate);
  int CompareTimes(const Candidate& a, const Candidate& b) const;
  SweepHit Measured(const Candidate& candidate) const;
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
  internal::SweepAxes axes_;
  SweepPair pair_;
  internal::HitCollector<Candidate> hits_;
};

void Sweeper::Start(const PlacedShape& mover, const Motion& motion) {
  mover_ = &mover;
  motion_ = motion;
  limit_ = 1;
  bounds_ = mover.bounds();
  pair_.Start(mover, motion);
  hits_.Start(options_.mode, options_.max_hits);
}

bool Sweeper::Write(size_t index) {
  const auto measure = [this](size_t rank) {
    meter_.Spend(4);
    SweepHit hit = Measured(hits_.hits()[rank]);
    hit.ties = rank > 0 && CompareTimes(hits_.hits()[rank - 1], hits_.hits()[rank]) == 0;
    return hit;
  };
  return hits_.Write(index, out_, ByTime(), measure, meter_);
}

bool Sweeper::Sweep(size_t index, const PlacedShape& mover, const Motion& motion) {
  Start(mover, motion);
  reach_ = internal::SweptBox(bounds_, motion.d, limit_);
  axes_.Start(mover, motion);
  CollectCandidates();
  return !meter_.stopped() && Write(index);
}

bool Sweeper::AddOverlap(size_t index, const PlacedShape& mover, const Motion& motion,
                         const IndexedPolygon& fixed) {
  Start(mover, motion);
  hits_.Add({&fixed, {}, true, false}, ByTime(), meter_);
  return Write(index);
}

// ANY is over with the first hit.
void Sweeper::CollectCandidates() {
  internal::VisitPolygons(
      scene_, options_.mask, meter_, [this](const Box& box) { return reach_.MayMeet(box); },
      [this](const IndexedPolygon& fixed) {
        const std::optional<Candidate> hit = HitOf(fixed);
        if (meter_.stopped()) return false;
        if (hit) Keep(*hit);
        return !hits_.is_done();
      });
}

// Shapes share a point at the start if edges do, or if one holds a ring of the other. A polygon
// that is met later only is met at an edge.
std::optional<Candidate> Sweeper::HitOf(const IndexedPolygon& fixed) {
  if (const std::optional<internal::TouchBounds> bounds = axes_.Bound(fixed)) {
    meter_.Spend(fixed.polygon().vertex_count());
    if (bounds->low > limit_) return std::nullopt;
    const std::optional<SweepEvent> touch = pair_.FirstTouch(fixed, limit_, *bounds, meter_);
    return touch ? std::optional(Candidate{&fixed, *touch, false, false}) : std::nullopt;
  }
  const std::optional<SweepEvent> touch = pair_.FirstTouch(fixed, limit_, meter_);
  const bool touches_at_start = touch && touch->touch.time.is_zero();
  if (touches_at_start || pair_.HoldsRingAtStart(fixed, meter_)) return HitFromInside(fixed);
  if (!touch) return std::nullopt;
  return Candidate{&fixed, *touch, false, false};
}

// A sweep of length zero has the one parameter 0: its passage begins and ends there.
std::optional<Candidate> Sweeper::HitFromInside(const IndexedPolygon& fixed) {
  const bool moves = !(motion_.d == Vec2{});
  const auto [passage, at_exit] = internal::ApplyInsidePolicy(options_.inside_policy, true);
  if (passage > 0) {
    if (!moves) return std::nullopt;
    const std::optional<SweepEvent> re_entry = pair_.FirstPassage(fixed, meter_).re_entry;
    if (!re_entry) return std::nullopt;
    return Candidate{&fixed, *re_entry, false, false};
  }
  if (at_exit && moves) return Candidate{&fixed, pair_.FirstPassage(fixed, meter_).end, true, true};
  return Candidate{&fixed, {}, true, false};
}

// While the collector is full, what comes after its last hit does not matter.
void Sweeper::Keep(const Candidate& candidate) {
  if (!hits_.Add(candidate, ByTime(), meter_) || !hits_.is_full()) return;
  limit_ = std::fmin(1, hits_.last().time().high());
  reach_ = internal::SweptBox(bounds_, motion_.d, limit_);
}

// The total order: exact for radius 0, of the times rounded up else.
int Sweeper::CompareTimes(const Candidate& a, const Candidate& b) const {
  if (motion_.radius > 0) {
    return (a.time().high() > b.time().high()) - (a.time().high() < b.time().high());
  }
  return SweepTime::Compare(motion_, a.time(), b.time());
}

// Three kinds of places: where the shapes overlap at the start, where they do at the end of the
// path (EXIT), and a touch of two edges between.
SweepHit Sweeper::Measured(const Candidate& candidate) const {
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

// A vertex of the polygon that is met is the point, exactly. Else a vertex of the shape, or the
// point of its disc towards the edge, is followed to the fraction.
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

// Sweeps one item after the other: quickly, or exactly where that is left.
class SweepBatch {
 public:
  SweepBatch(const SweepRun& run, SweepAnswers& out, WorkMeter& meter)
      : columns_(run.columns),
        options_(run.options),
        way_(run.way),
        out_(out),
        meter_(meter),
        sweeper_(run.scene, run.options, out, meter),
        plain_(run.scene, run.columns, run.options, meter) {}

  // Returns false once the meter stops.
  bool Answer(size_t i) {
    if (!meter_.Spend(1)) return false;
    switch (way_ == SweepWay::kShort ? plain_.Answer(i) : PlainSweepVerdict::kLeft) {
      case PlainSweepVerdict::kNone:
        return true;
      case PlainSweepVerdict::kTouch:
        return AddTouch(i);
      case PlainSweepVerdict::kOverlap:
        ++counts_.overlaps;
        return Place(i, [&](const PlacedShape& view, const Motion& motion) {
          return sweeper_.AddOverlap(i, view, motion, plain_.fixed(i));
        });
      case PlainSweepVerdict::kLeft:
        break;
    }
    return AnswerExactly(i);
  }

  const SweepCounts& counts() const { return counts_; }

 private:
  bool AnswerExactly(size_t i) {
    ++counts_.left;
    return Place(i, [&](const PlacedShape& view, const Motion& motion) {
      return sweeper_.Sweep(i, view, motion);
    });
  }

  bool AddTouch(size_t i) {
    SweepHit hit;
    if (options_.mode != CastMode::kAny) {
      if (!plain_.Measure(i, hit)) return AnswerExactly(i);
      out_.hits.push_back(hit);
      if (!meter_.Spend(4) || !meter_.SpendRows(1)) return false;
    }
    ++counts_.touches;
    out_.counts[i] = 1;
    return true;
  }

  // Calls use(shape, motion) of an item, or leaves an error. Returns false once `use` does or the
  // meter stops.
  template <class Use>
  bool Place(size_t i, const Use& use) {
    ItemChecker check(i, out_.errors);
    const bool is_placed = PlaceItem(columns_.movers, i, check, meter_, mover_);
    if (meter_.stopped()) return false;
    if (!is_placed) return true;
    const std::optional<Vec2> d = internal::DisplacementOf(columns_, i, check);
    if (!d) return true;
    const PlacedShape view = mover_.View();
    return meter_.Spend(view.edge_count()) && use(view, Motion{*d, view.radius()});
  }

  const SweepColumns& columns_;
  const SweepOptions& options_;
  const SweepWay way_;
  SweepAnswers& out_;
  WorkMeter& meter_;
  Sweeper sweeper_;
  internal::MovingShape mover_;
  internal::PlainSweeps plain_;
  SweepCounts counts_;
};

}  // namespace

void SweepAnswers::Clear() {
  counts.clear();
  hits.clear();
  truncated.clear();
  errors.clear();
}

bool internal::RunSweeps(const SweepRun& run, SweepAnswers& out, WorkMeter& meter,
                         SweepCounts* counts) {
  out.Clear();
  out.counts.assign(run.columns.size(), 0);
  SweepBatch batch(run, out, meter);
  for (size_t i = 0; i < run.columns.size(); ++i) {
    if (!batch.Answer(i)) return false;
  }
  if (counts != nullptr) *counts = batch.counts();
  return true;
}

bool SweepShapes(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
                 SweepAnswers& out, WorkMeter& meter) {
  return internal::RunSweeps({scene, columns, options}, out, meter);
}

}  // namespace carom
