// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/hit_collector.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "sweep/fast_sweep.h"
#include "sweep/sweep_batch.h"
#include "sweep/sweep_items.h"
#include "sweep/sweep_measures.h"
#include "sweep/sweep_passage.h"

namespace carom {
namespace {

using internal::Body;
using internal::FastSweepVerdict;
using internal::IntervalEnd;
using internal::Motion;
using internal::PlacedShape;
using internal::QueryFilter;
using internal::SweepCounts;
using internal::SweepEvent;
using internal::SweepPair;
using internal::SweepRun;
using internal::SweepTime;
using internal::SweepWay;

// A hit of the current sweep on a polygon or a body, of which the point, the normal and the rounded
// fraction are not computed yet.
struct Candidate {
  Body* body;  // null for a polygon of the scene
  const IndexedPolygon* fixed;
  SweepEvent event;
  bool starts_inside;
  // the hit is the end of the overlap at the start, which the inside policy EXIT reports
  bool at_exit;

  const SweepTime& time() const { return event.touch.time; }
  internal::HitSource source() const {
    if (body != nullptr) return {true, body->index()};
    return {false, fixed->polygon().id()};
  }
  bool meets_round_body() const { return body != nullptr && body->is_round(); }
};

// The sweep of a shape against a round body. One of the two (shape or body) moves as the capsule
// `grown`; the other one stays in place as `fixed`, without a radius.
struct RoundMeeting {
  SweepPair pair;
  Motion motion;
  // the capsule that moves: the body with its own radius, or the shape with the sum of the radii of
  // shape and body, rounded up
  Capsule grown;
  std::optional<PlacedShape> moving;
  const IndexedPolygon* fixed = nullptr;
  // the moving shape has no radius, so the body moves by -d instead
  bool body_moves = false;

  void Start(Body& body, internal::MovingShape& mover, Vec2 d);
  Vec2 PointOf(const Candidate& hit, const Capsule& body, Vec2 d, Vec2 normal) const;
};

// If the moving shape has no radius, it stays in place and the body moves backwards by -d.
// Otherwise the body's axis stays in place, and the shape, grown by the body's radius, moves by d.
void RoundMeeting::Start(Body& body, internal::MovingShape& mover, Vec2 d) {
  const Capsule fixed_body = body.capsule();
  body_moves = mover.capsule() == nullptr || mover.capsule()->radius == 0;
  if (body_moves) {
    fixed = mover.RingView().polygon();
    grown = fixed_body;
    motion = {{-d.x + 0.0, -d.y + 0.0}, fixed_body.radius};
  } else {
    fixed = &body.core();
    grown = *mover.capsule();
    motion = {d, grown.radius, fixed_body.radius};
    grown.radius = std::nextafter(motion.rounded_radius(), HUGE_VAL);
  }
  moving.emplace(grown);
  pair.Start(*moving, motion);
}

// Returns the point at which the shapes touch: a vertex of the shape, or the end of a capsule's
// axis moved by the radius of that capsule towards the other shape. `normal` points from the body
// to the moving shape.
Vec2 RoundMeeting::PointOf(const Candidate& hit, const Capsule& body, Vec2 d, Vec2 normal) const {
  const internal::EdgeMeeting& meeting = hit.time().meeting();
  const double t = hit.time().high();
  const auto along = [&](double length) { return Vec2{length * normal.x, length * normal.y}; };
  if (body_moves) {
    if (!meeting.is_on_fixed_edge()) return internal::PointOnPath(meeting.fixed.a, d, t);
    return internal::PointOnPath(meeting.moving.a, {}, 0, along(-body.radius));
  }
  if (!meeting.is_on_fixed_edge()) {
    return internal::PointOnPath(meeting.fixed.a, {}, 0, along(-body.radius));
  }
  return internal::PointOnPath(meeting.moving.a, d, t, along(motion.radius));
}

// Answers the items (sweeps) of a batch by the exact search, one item at a time: a shape that moves
// by d on a straight path. The time of a hit is a fraction of the path. Hits are collected as
// candidates, and then measured: their point, normal and rounded fraction are computed.
class Sweeper {
 public:
  Sweeper(const World& world, const SweepOptions& options, SweepAnswers& out, WorkMeter& meter)
      : world_(world), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Sweep(size_t index, internal::MovingShape& mover, Vec2 d, const QueryFilter& query_filter);
  // Adds, as the only hit of item `index`, the overlap of the shape with `fixed` at the start. The
  // caller must have found that they overlap, and that the item has no other hit to report.
  bool AddOverlap(size_t index, internal::MovingShape& mover, Vec2 d, const IndexedPolygon& fixed);

 private:
  bool Start(internal::MovingShape& mover, Vec2 d);
  bool Write(size_t index);
  // Returns the comparison of hits by time.
  auto ByTime() const {
    return [this](const Candidate& a, const Candidate& b) { return CompareTimes(a, b); };
  }

  void CollectCandidates(const QueryFilter& query_filter);
  std::optional<Candidate> HitOf(const IndexedPolygon& fixed, Body* body);
  std::optional<Candidate> HitOfRound(Body& body);
  std::optional<Candidate> HitFromInside(Candidate start, SweepPair& pair);
  bool Keep(const std::optional<Candidate>& candidate);
  bool IsRound(const Candidate& hit) const { return motion_.is_round() || hit.meets_round_body(); }
  int CompareTimes(const Candidate& a, const Candidate& b) const;
  SweepHit Measured(const Candidate& candidate);
  void MeasureTouch(const Candidate& candidate, SweepHit& hit) const;
  void MeasureRound(const Candidate& candidate, SweepHit& hit);

  const World world_;
  const SweepOptions& options_;
  SweepAnswers& out_;
  WorkMeter& meter_;
  internal::MovingShape* shape_ = nullptr;
  std::optional<PlacedShape> mover_;
  Box bounds_;  // bounding box of the shape at the start
  Motion motion_;
  // the search skips hits that are certainly after this time (a fraction of the path)
  double limit_ = 1;
  // the region that the shape passes over until `limit_`
  internal::SweptBox reach_;
  internal::SweepAxes axes_;
  SweepPair pair_;
  RoundMeeting round_;
  internal::HitCollector<Candidate> hits_;
};

// Starts the sweep of one shape. Returns false once the meter stops.
bool Sweeper::Start(internal::MovingShape& mover, Vec2 d) {
  shape_ = &mover;
  mover_.emplace(mover.View());
  if (!meter_.Spend(mover_->edge_count())) return false;
  motion_ = {d, mover_->radius()};
  limit_ = 1;
  bounds_ = mover_->bounds();
  pair_.Start(*mover_, motion_);
  hits_.Start(options_.mode, options_.max_hits);
  return true;
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

bool Sweeper::Sweep(size_t index, internal::MovingShape& mover, Vec2 d,
                    const QueryFilter& query_filter) {
  if (!Start(mover, d)) return false;
  reach_ = internal::SweptBox(bounds_, motion_.d, limit_);
  axes_.Start(*mover_, motion_);
  CollectCandidates(query_filter);
  return !meter_.stopped() && Write(index);
}

bool Sweeper::AddOverlap(size_t index, internal::MovingShape& mover, Vec2 d,
                         const IndexedPolygon& fixed) {
  if (!Start(mover, d)) return false;
  hits_.Add({nullptr, &fixed, {}, true, false}, ByTime(), meter_);
  return Write(index);
}

// Collects the hits on the polygons and bodies that pass the filter. Under the mode ANY, the first
// hit ends the search.
void Sweeper::CollectCandidates(const QueryFilter& query_filter) {
  const auto meets = [this](const Box& box) { return reach_.MayMeet(box); };
  if (query_filter.scene) {
    internal::VisitPolygons(
        world_.scene, query_filter.mask, meter_, meets,
        [this](const IndexedPolygon& fixed) { return Keep(HitOf(fixed, nullptr)); });
  }
  if (hits_.is_done()) return;
  internal::VisitBodies(world_, query_filter, meter_, meets, [this](Body& body) {
    return Keep(body.is_round() ? HitOfRound(body) : HitOf(body.core(), &body));
  });
}

// Returns the hit on a polygon, or on a body without a radius. Shapes share a point at the start if
// their edges do, or if one contains a ring of the other. A shape that shares no point with a
// polygon at the start, but meets it later, first touches an edge of it.
std::optional<Candidate> Sweeper::HitOf(const IndexedPolygon& fixed, Body* body) {
  if (const std::optional<internal::TouchBounds> bounds = axes_.Bound(fixed)) {
    meter_.Spend(fixed.polygon().vertex_count());
    if (bounds->low > limit_) return std::nullopt;
    const std::optional<SweepEvent> touch = pair_.FirstTouch(fixed, limit_, *bounds, meter_);
    return touch ? std::optional(Candidate{body, &fixed, *touch, false, false}) : std::nullopt;
  }
  const std::optional<SweepEvent> touch = pair_.FirstTouch(fixed, limit_, meter_);
  const bool touches_at_start = touch && touch->touch.time.is_zero();
  if (touches_at_start || pair_.HoldsRingAtStart(fixed, meter_)) {
    return HitFromInside({body, &fixed, {}, true, false}, pair_);
  }
  if (!touch) return std::nullopt;
  return Candidate{body, &fixed, *touch, false, false};
}

// Returns the hit on a round body (a body with a radius). `axes_` is not used, because these
// separating axes were computed for the shape without the body's radius.
std::optional<Candidate> Sweeper::HitOfRound(Body& body) {
  round_.Start(body, *shape_, motion_.d);
  const IndexedPolygon& fixed = *round_.fixed;
  const std::optional<SweepEvent> touch = round_.pair.FirstTouch(fixed, limit_, meter_);
  const bool touches_at_start = touch && touch->touch.time.is_zero();
  if (touches_at_start || round_.pair.HoldsRingAtStart(fixed, meter_)) {
    return HitFromInside({&body, &fixed, {}, true, false}, round_.pair);
  }
  if (!touch) return std::nullopt;
  return Candidate{&body, &fixed, *touch, false, false};
}

// Returns the hit on a polygon or body that the shape overlaps at the start, as
// `options_.inside_policy` demands: REPORT_START reports the start, EXIT the end of the passage
// (the interval of times with an overlap) that contains the start, IGNORE the first touch after
// that passage. A sweep of length zero has only the time 0, at which its passage begins and ends.
std::optional<Candidate> Sweeper::HitFromInside(Candidate start, SweepPair& pair) {
  const bool moves = !(motion_.d == Vec2{});
  const auto [passage, at_exit] = internal::ApplyInsidePolicy(options_.inside_policy, true);
  if (passage > 0) {
    if (!moves) return std::nullopt;
    const std::optional<SweepEvent> re_entry = pair.FirstPassage(*start.fixed, meter_).re_entry;
    if (!re_entry) return std::nullopt;
    return Candidate{start.body, start.fixed, *re_entry, false, false};
  }
  if (at_exit && moves) {
    start.event = pair.FirstPassage(*start.fixed, meter_).end;
    start.at_exit = true;
  }
  return start;
}

// Adds a candidate. While the collector `hits_` is full (it then keeps only the earliest hits),
// shortens the path that is searched to the time of the last hit in the collector, as later hits
// are not needed. Returns whether more hits are wanted.
bool Sweeper::Keep(const std::optional<Candidate>& candidate) {
  if (meter_.stopped()) return false;
  if (candidate && hits_.Add(*candidate, ByTime(), meter_) && hits_.is_full()) {
    limit_ = std::fmin(1, hits_.last().time().high());
    reach_ = internal::SweptBox(bounds_, motion_.d, limit_);
  }
  return !hits_.is_done();
}

// Returns the order of two hits in time: -1, 0 or 1. Compares exact times. For a hit of a round
// shape, or on a round body, takes the exact time rounded up to a double instead.
int Sweeper::CompareTimes(const Candidate& a, const Candidate& b) const {
  const auto key = [this](const Candidate& hit) {
    return IsRound(hit) ? SweepTime::OfValue(hit.time().high()) : hit.time();
  };
  if (IsRound(a) && IsRound(b)) {
    return (a.time().high() > b.time().high()) - (a.time().high() < b.time().high());
  }
  return SweepTime::Compare(motion_, key(a), key(b));
}

// Returns the answer row of a candidate. The hit is one of three: an overlap at the start, an
// overlap at the end of the path (inside policy EXIT), or a touch of two edges between.
SweepHit Sweeper::Measured(const Candidate& candidate) {
  SweepHit hit;
  const internal::HitSource source = candidate.source();
  hit.polygon_id = source.id;
  hit.is_body = source.is_body;
  hit.starts_inside = candidate.starts_inside;
  if (candidate.meets_round_body()) {
    MeasureRound(candidate, hit);
    return hit;
  }
  const Polygon& polygon = candidate.fixed->polygon();
  hit.fraction = candidate.time().Rounded(motion_);
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

// Sets the point and the normal of a touch of two edges. If a vertex of the polygon touches, the
// point is exactly that vertex. Otherwise the point is the touching vertex of the shape, displaced
// by `hit.fraction` of the path; for a capsule it is the touching end of the axis, displaced so and
// then moved by the radius against the normal.
void Sweeper::MeasureTouch(const Candidate& candidate, SweepHit& hit) const {
  const internal::SweepTouch& touch = candidate.event.touch;
  const internal::EdgeMeeting& meeting = touch.time.meeting();
  const Vec2 d = motion_.d;
  if (motion_.is_round()) {
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

// Sets point, fraction and normal of a hit on a round body. If the shapes overlap at the start or
// at the end of the path, the point is any point that both contain, and the normal is 0.
void Sweeper::MeasureRound(const Candidate& candidate, SweepHit& hit) {
  Body& body = *candidate.body;
  round_.Start(body, *shape_, motion_.d);
  hit.fraction = candidate.time().high();
  const bool at_start = candidate.starts_inside && !candidate.at_exit;
  if (at_start || candidate.time().is_one()) {
    const Vec2 shift = at_start ? Vec2{} : motion_.d;
    if (round_.body_moves) {
      const auto place = at_start ? round_.pair.AtStart(*round_.fixed, meter_)
                                  : round_.pair.AtEnd(*round_.fixed, meter_);
      hit.point = internal::PointOnPath(place.point, shift, 1);
    } else {
      Capsule mover = *shape_->capsule();
      mover.axis = {internal::PointOnPath(mover.axis.a, shift, 1),
                    internal::PointOnPath(mover.axis.b, shift, 1)};
      hit.point = internal::SharedPointOf(body.capsule(), mover);
    }
    return;
  }
  const auto end = candidate.at_exit ? IntervalEnd::kEnd : IntervalEnd::kBegin;
  Vec2 normal = internal::RoundNormal(round_.motion, candidate.time().meeting(), end);
  if (round_.body_moves) normal = {-normal.x + 0.0, -normal.y + 0.0};
  hit.point = round_.PointOf(candidate, body.capsule(), motion_.d, normal);
  if (!candidate.at_exit) hit.normal = normal;
}

// Answers the items (sweeps) of a batch, one at a time: on the fast path, or by the exact search if
// the filters of the fast path cannot decide the item.
class SweepBatch {
 public:
  SweepBatch(const SweepRun& run, SweepAnswers& out, WorkMeter& meter)
      : columns_(run.columns),
        options_(run.options),
        way_(internal::IsUniform(run.columns.movers.scope) ? run.way : SweepWay::kGeneral),
        out_(out),
        meter_(meter),
        sweeper_(run.world, run.options, out, meter),
        fast_(run.world.scene, run.columns, run.options, meter) {}

  // Answers item i. Returns false once the meter stops.
  bool Answer(size_t i) {
    if (!meter_.Spend(1)) return false;
    switch (way_ == SweepWay::kFastPath ? fast_.Answer(i) : FastSweepVerdict::kUndecided) {
      case FastSweepVerdict::kNone:
        return true;
      case FastSweepVerdict::kTouch:
        return AddTouch(i);
      case FastSweepVerdict::kOverlap:
        ++counts_.overlaps;
        return Place(i, [&](Vec2 d) { return sweeper_.AddOverlap(i, mover_, d, fast_.fixed(i)); });
      case FastSweepVerdict::kUndecided:
        break;
    }
    return AnswerExactly(i);
  }

  const SweepCounts& counts() const { return counts_; }

 private:
  bool AnswerExactly(size_t i) {
    ++counts_.fallbacks;
    const auto query_filter = QueryFilter::Of(columns_.movers.scope, i, options_.mask);
    return Place(i, [&](Vec2 d) { return sweeper_.Sweep(i, mover_, d, query_filter); });
  }

  bool AddTouch(size_t i) {
    SweepHit hit;
    if (options_.mode != CastMode::kAny) {
      if (!fast_.Measure(i, hit)) return AnswerExactly(i);
      out_.hits.push_back(hit);
      if (!meter_.Spend(4) || !meter_.SpendRows(1)) return false;
    }
    ++counts_.touches;
    out_.counts[i] = 1;
    return true;
  }

  // Places the shape of item i and calls use(displacement), or records an error. Returns false if
  // `use` does, or once the meter stops.
  template <class Use>
  bool Place(size_t i, const Use& use) {
    ItemChecker check(i, out_.errors);
    const bool is_placed = PlaceItem(columns_.movers, i, check, meter_, mover_);
    if (meter_.stopped()) return false;
    if (!is_placed) return true;
    const std::optional<Vec2> d = internal::DisplacementOf(columns_, i, check);
    return !d || use(*d);
  }

  const SweepColumns& columns_;
  const SweepOptions& options_;
  const SweepWay way_;
  SweepAnswers& out_;
  WorkMeter& meter_;
  Sweeper sweeper_;
  internal::MovingShape mover_;
  internal::FastSweeps fast_;
  SweepCounts counts_;
};

}  // namespace

void SweepAnswers::Clear() {
  counts.clear();
  hits.clear();
  truncated.clear();
  errors.clear();
  safe.clear();
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

}  // namespace carom
