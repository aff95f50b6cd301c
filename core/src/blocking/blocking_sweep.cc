// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "blocking/blocking_overlap.h"
#include "edges/indexed_polygon.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
// Returns the distance from the largest magnitude of a coordinate of the box to the next greater
// double.
double UlpOf(const Box& box) {
  const double largest = std::max({std::abs(box.min.x), std::abs(box.max.x), std::abs(box.min.y),
                                   std::abs(box.max.y), kSmallestMagnitude});
  return NextAbove(largest) - largest;
}

// Counts the vertices as work before it places them. Checks the shape as placed, because rounding
// may flatten a small shape far from the origin.
std::optional<ItemFault> BlockingPose::Place(const Shape& shape, const Pose& pose,
                                             WorkMeter& meter) {
  pose_ = pose;
  meter.Spend(shape.vertex_count());
  if (!placed_.Place(shape, pose)) return ItemFault::kPlacedOutOfRange;
  view_ = placed_.View();
  return mover_.Take(*view_, meter);
}

// `pair_.Start` computes separating axes (directions along which a gap to an obstacle may be wide
// enough for the whole motion), with which later calls skip obstacles that are separated from the
// path of the shape.
void BlockingSweep::Start(const BlockingPose& start, Vec2 d, InsidePolicy policy,
                          StartOverlap start_overlap) {
  const PlacedShape& shape = start.mover().shape();
  policy_ = policy;
  start_overlap_ = start_overlap;
  overlaps_ = false;
  const Box path = MovedBox(shape.bounds(), d, 0, 1);
  ulp_ = UlpOf(path);
  margin_ = 32 * ulp_ + 8 * kSmallestMagnitude;
  reach_ = Grown(path, margin_);
  pair_.Start(start.mover(), {d, shape.radius()}, margin_);
  unclear_.clear();
  passed_over_.clear();
}

// Returns the pair that tests an obstacle: `pair_`, or for a round body `round_`, whose motion
// includes the radius of the body.
BlockingPair& BlockingSweep::PairWith(const Obstacle& fixed) {
  if (!fixed.is_round()) return pair_;
  round_.Start(pair_.mover(), MotionTo(fixed), margin_);
  return round_;
}

// Returns whether the obstacle is clear of the path: `axes` prove for each edge near the path that
// the shape does not touch it, and the shape does not start inside the obstacle.
bool BlockingSweep::IsClear(const Obstacle& fixed, const SweepAxes& axes) {
  const Box reach = Grown(reach_, fixed.radius());
  const auto is_near = [&](const Box& box) { return reach.Intersects(box); };
  const auto visit = [&](size_t, const Segment& edge) { return axes.IsClear(edge); };
  if (!fixed.core->VisitEdges(meter_, is_near, visit)) return false;
  const Vec2 start = pair_.mover().shape().ring_start(0);
  return LocateInPolygon(*fixed.core, start, meter_).location == Location::kOutside;
}

// Returns true if the shape, on its path by `d`, stays within the margin of 32 ulp of this path.
// The end of the path by `d` differs by at most 8 ulp, and less than 4 ulp for the roundings in
// this function, from a point of this path. The vertices placed at the end are rounded by at most 2
// ulp. Coordinates below `kSmallestMagnitude` are read as 0, for which the margin has a term of its
// own.
bool BlockingSweep::Covers(Vec2 d, double fraction) const {
  const Vec2 path = motion().d;
  return std::abs(d.x - fraction * path.x) <= 8 * ulp_ &&
         std::abs(d.y - fraction * path.y) <= 8 * ulp_;
}

// If an axis separates the shape from an obstacle at the start, the shape does not overlap that
// obstacle at the start. Obstacles without such an axis are tested edge by edge. An obstacle that
// overlaps at the start in more than touch (the interior of one meets the other) is a hit at the
// start under the policy BLOCKING; under BLOCKING_LEAVE it can block only after the shape has left
// it.
std::optional<BlockingHit> BlockingSweep::HitOf(const Obstacle& fixed, double limit) {
  BlockingPair& pair = PairWith(fixed);
  const IndexedPolygon& core = *fixed.core;
  const std::optional<TouchBounds> bounds = pair.axes().Bound(core);
  if (bounds) meter_.Spend(core.polygon().vertex_count());
  if (bounds ? bounds->is_clear : IsClear(fixed, pair.axes())) return std::nullopt;
  unclear_.push_back(fixed);
  if (bounds && bounds->low > limit) return std::nullopt;
  std::optional<SweepTime> after = SweepTime::Zero();
  const bool may_overlap = !bounds && start_overlap_ == StartOverlap::kUnchecked;
  if (may_overlap && OverlapsInMoreThanTouch(pair_.mover(), core, meter_, fixed.radius())) {
    overlaps_ = true;
    if (policy_ == InsidePolicy::kBlocking) return BlockingHit{fixed, {}, true};
    after = pair.EndOfOverlap(core, meter_);
    if (!after) passed_over_.push_back(fixed);
  }
  if (!after || meter_.stopped()) return std::nullopt;
  const std::optional<SweepEvent> entry = pair.Entry(core, limit, *after, meter_);
  return entry ? std::optional(BlockingHit{fixed, *entry, false}) : std::nullopt;
}

// Compares exact times. For a hit of a round shape or on a round body, compares the time rounded up
// to a double instead, as the total order of hits (carom/sweep.h) defines.
int BlockingSweep::CompareTimes(const BlockingHit& a, const BlockingHit& b) const {
  if (IsRound(a) && IsRound(b)) {
    return (a.time().high() > b.time().high()) - (a.time().high() < b.time().high());
  }
  const auto key = [this](const BlockingHit& hit) {
    return IsRound(hit) ? SweepTime::OfValue(hit.time().high()) : hit.time();
  };
  return SweepTime::Compare(motion(), key(a), key(b));
}

std::optional<BlockingHit> BlockingSweep::First() {
  std::optional<BlockingHit> first;
  const auto visit = [&](const Obstacle& fixed) {
    const double limit = first ? std::fmin(1, first->time().high()) : 1;
    const std::optional<BlockingHit> hit = HitOf(fixed, limit);
    if (!hit) return !meter_.stopped();
    const int order = first ? CompareTimes(*hit, *first) : -1;
    if (order < 0 || (order == 0 && hit->source() < first->source())) first = hit;
    return !meter_.stopped();
  };
  obstacles_.VisitNear(reach(), meter_, std::ref(visit));
  return first;
}

// Stops at the first obstacle that blocks the sweep.
bool BlockingSweep::IsFree() {
  bool is_free = true;
  const auto visit = [&](const Obstacle& fixed) {
    is_free = !HitOf(fixed, 1) && !meter_.stopped();
    return is_free;
  };
  obstacles_.VisitNear(reach(), meter_, std::ref(visit));
  return is_free;
}

bool BlockingSweep::IsFree(std::span<const Obstacle> obstacles) {
  return std::all_of(obstacles.begin(), obstacles.end(), [this](const Obstacle& fixed) {
    return !HitOf(fixed, 1) && !meter_.stopped();
  });
}

// A linear search suffices: a shape overlaps few obstacles at its start.
bool BlockingSweep::PassesOver(const Obstacle& fixed) const {
  return std::find(passed_over_.begin(), passed_over_.end(), fixed) != passed_over_.end();
}

// Sets, for a hit that overlaps at the start, a point that shape and obstacle share, and for a
// polygon the edge with the least index among those that contain such a point.
void BlockingSweep::MeasureStart(const Obstacle& fixed, SweepHit& measured) {
  const PlacedShape& mover = pair_.mover().shape();
  if (!fixed.is_round()) {
    touch_.Start(mover, motion());
    const SweepPair::Place start = touch_.AtStart(*fixed.core, meter_);
    measured.point = start.point;
    measured.has_edge = start.edge.has_value();
    if (start.edge) measured.edge = fixed.core->polygon().edge_ref(*start.edge);
  } else if (mover.polygon() == nullptr) {
    measured.point = SharedPointOf(fixed.body->capsule(), {mover.edge(0), mover.radius()});
  } else {
    const PlacedShape body(fixed.body->capsule());
    touch_.Start(body, {{}, fixed.radius()});
    measured.point = touch_.AtStart(*mover.polygon(), meter_).point;
  }
}

// Returns the point at which the shape touches the obstacle. If a vertex of a polygon touches, the
// point is exactly that vertex. Otherwise the point is the touching vertex of the shape displaced
// by `fraction` of the path; for a capsule it is the touching end of the axis, displaced so and
// then moved by the radius against the normal. If the touching vertex is an end of the axis of a
// round body, the point is the end of the body's axis moved by the body's radius along the normal.
Vec2 BlockingSweep::PointOf(const BlockingHit& hit, double fraction) const {
  const EdgeMeeting& meeting = hit.time().meeting();
  const Motion to = MotionTo(hit.fixed);
  const auto along = [&](double length) {
    if (length == 0) return Vec2{0, 0};
    const Vec2 n = RoundNormal(to, meeting, IntervalEnd::kBegin);
    return Vec2{length * n.x, length * n.y};
  };
  const bool is_on_body = to.radius > 0 ? !meeting.is_on_fixed_edge() : meeting.is_on_moving_edge();
  if (hit.fixed.is_round() && is_on_body) {
    return PointOnPath(meeting.fixed.a, {}, 0, along(-to.fixed_radius));
  }
  if (!hit.fixed.is_round() && !meeting.is_on_fixed_edge()) return meeting.fixed.a;
  return PointOnPath(meeting.moving.a, to.d, fraction, along(to.radius));
}

// Returns the answer row of a hit. The directions that the contacts at the time of the hit block
// form arcs; the normal is perpendicular to the nearer end of the blocked arc that contains d, the
// displacement. The normal is -d / |d| if all directions are blocked, so that `EndsAbout` returns
// nothing, or if the nearer end of the blocked arc is parallel to the motion.
SweepHit BlockingSweep::Measured(const BlockingHit& hit) {
  SweepHit measured;
  measured.polygon_id = hit.source().id;
  measured.is_body = hit.source().is_body;
  measured.starts_inside = hit.starts_inside;
  contacts_.clear();
  arcs_.Start(motion(), hit.time());
  ray_.reset();
  if (hit.starts_inside) {
    MeasureStart(hit.fixed, measured);
    return measured;
  }
  const Vec2 d = motion().d;
  measured.fraction = hit.time().Rounded(motion());
  measured.has_edge = !hit.fixed.is_round();
  if (measured.has_edge) measured.edge = hit.fixed.core->polygon().edge_ref(hit.event.first_edge);
  measured.point = PointOf(hit, measured.fraction);
  // Only obstacles in `unclear_` can touch the shape at the hit. The obstacles are sorted because,
  // among blocked arcs with parallel ends, the arc that is added first defines the end.
  SortBySource(unclear_);
  for (const Obstacle& near : unclear_) {
    FindContacts(PairWith(near), *near.core, hit.time(), meter_, contacts_);
  }
  for (const BlockingContact& contact : contacts_) arcs_.Add(contact, pair_.mover());
  if (const auto ends = arcs_.EndsAbout(d)) ray_ = arcs_.Nearer(*ends, d);
  measured.normal = ray_ ? arcs_.NormalAgainst(*ray_, d) : NormalAgainst({}, d);
  return measured;
}

}  // namespace carom::internal
