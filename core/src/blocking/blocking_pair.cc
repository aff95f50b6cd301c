// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_pair.h"

#include <algorithm>
#include <cmath>

#include "base/metered_sort.h"
#include "blocking/blocking_overlap.h"
#include "carom/predicates.h"
#include "numeric/exact.h"
#include "sweep/sweep_intervals.h"

namespace carom::internal {

void BlockingPair::Start(const BlockingMover& mover, const Motion& motion, double margin) {
  mover_ = &mover;
  motion_ = motion;
  bounds_ = mover.shape().bounds();
  axes_.Start(mover.shape(), motion, margin);
  is_ring_prepared_ = false;
}

// Computes, on demand, the properties of the ring that depend on its displacement. These properties
// are equal for all polygons, and a sweep whose polygons are all clear of the path needs none of
// them.
void BlockingPair::PrepareRing() {
  if (is_ring_prepared_) return;
  is_ring_prepared_ = true;
  is_back_in_sector_.clear();
  advance_.clear();
  if (motion_.is_round()) return;
  const Direction back{motion_.d, {0, 0}};
  is_back_in_sector_.reserve(mover_->vertex_count());
  advance_.reserve(mover_->vertex_count());
  for (size_t i = 0; i < mover_->vertex_count(); ++i) {
    const Segment edge = mover_->shape().edge(i);
    is_back_in_sector_.push_back(mover_->SectorAt(i).Contains(back));
    advance_.push_back(mover_->inner_side(i) * CrossSign({edge.a, edge.b}, {{0, 0}, motion_.d}));
  }
}

// Merges the begin of an overlap at time t into `first`, which keeps the touch with the earliest
// time (the first one found, if several have that time) and the least index of a fixed edge at that
// time. If the moving shape or the body that it meets is round (a circle or a capsule), times count
// as equal if they round up to the same double.
void BlockingPair::Add(const SweepTime& t, const SweepTime& after, const Edges& edges,
                       SweepEvent& first) const {
  if (SweepTime::Compare(motion_, t, after) < 0) return;
  if (SweepTime::Compare(motion_, t, SweepTime::One()) >= 0) return;
  const SweepTouch touch{t, edges.fixed_edge, edges.moving_edge};
  if (!first.has_edge) {
    first = {touch, edges.fixed_edge, true};
    return;
  }
  const int order = SweepTime::Compare(motion_, t, first.touch.time);
  const bool ties = motion_.is_round() ? t.high() == first.touch.time.high() : order == 0;
  if (order > 0 && !ties) return;
  first.first_edge = ties ? std::min(first.first_edge, edges.fixed_edge) : edges.fixed_edge;
  if (order < 0) first.touch = touch;
}

// Adds the times at which the overlap in more than touch (the interior of one shape meets the
// other) of two edges begins. Edges that begin to cross, and parallel edges that begin to pass over
// each other, begin to overlap when an inner point of one begins to pass an inner point of the
// other. The third case, a vertex that meets a vertex, is tested at the first vertex of the moving
// edge, since each vertex of the ring is the first of one edge. Skips a time that is certainly
// later than the earliest time so far, before it computes that time exactly.
void BlockingPair::AddEntries(const Edges& edges, const SweepTime& after, double limit,
                              SweepEvent& first) const {
  const auto& [fixed, moving, fixed_edge, j] = edges;
  const double bound = first.has_edge ? std::fmin(limit, first.touch.time.high()) : limit;
  if (motion_.is_round()) {
    if (axes_.IsClear(fixed)) return;
    const std::optional<SweepTime> t = RoundEntry(motion_, fixed, moving, bound);
    if (t) Add(*t, after, edges, first);
    return;
  }
  if (const auto crossing = CrossingInterval(motion_, fixed, moving)) {
    const bool is_parallel = CrossSign({fixed.a, fixed.b}, {moving.a, moving.b}) == 0;
    const bool may_begin = crossing->begin.high() >= 0 && crossing->begin.low() <= bound;
    if (may_begin && (!is_parallel || advance_[j] < 0)) Add(crossing->begin, after, edges, first);
  }
  if (!is_back_in_sector_[j]) return;
  for (const Vec2 q : {fixed.a, fixed.b}) {
    if (SideOfPath(q, moving.a, motion_.d) != 0) continue;
    const EdgeMeeting meeting = EdgeMeeting::OfVertices(q, moving.a);
    Add(SweepTime::OfTouch(motion_, meeting), after, edges, first);
  }
}

std::optional<SweepEvent> BlockingPair::Entry(const IndexedPolygon& fixed, double limit,
                                              const SweepTime& after, WorkMeter& meter) {
  if (motion_.d == Vec2{}) return std::nullopt;
  PrepareRing();
  SweepEvent first;
  VisitSweptPairs(
      {mover_->shape(), bounds_, motion_.d, limit, motion_.fixed_radius}, fixed, meter,
      [&](size_t i, const Segment& edge, size_t j, const Segment& moving) {
        const Edges edges{edge, moving, static_cast<uint32_t>(i), static_cast<uint32_t>(j)};
        AddEntries(edges, after, limit, first);
        return true;
      });
  return first.has_edge ? std::optional(first) : std::nullopt;
}

// Returns until when the two edges touch and in which open interval (`crossing`) they alone prove
// that the shapes overlap in more than touch; nothing if they never touch. Parallel edges never
// cross, so their contact has no `crossing`. A round shape is closer to an edge than the sum of the
// radii during one open interval, which begins at 0 or at the time of `RoundEntry`.
std::optional<BlockingPair::Contact> BlockingPair::ContactOf(const Segment& edge,
                                                             const Segment& moving) const {
  if (!motion_.is_round()) {
    const std::optional<SweepInterval> touch = ContactInterval(motion_, edge, moving);
    if (!touch) return std::nullopt;
    const bool is_parallel = CrossSign({edge.a, edge.b}, {moving.a, moving.b}) == 0;
    if (is_parallel) return Contact{touch->end, std::nullopt};
    return Contact{touch->end, CrossingInterval(motion_, edge, moving)};
  }
  if (!RoundContactBegin(motion_, edge, moving, 1)) return std::nullopt;
  const SweepTime end = RoundContactEnd(motion_, edge, moving);
  if (AreCloser(edge, moving, motion_.radius, motion_.fixed_radius)) {
    return Contact{end, SweepInterval{SweepTime::Zero(), end}};
  }
  const std::optional<SweepTime> begin = RoundEntry(motion_, edge, moving, 1);
  if (!begin) return Contact{end, std::nullopt};
  return Contact{end, SweepInterval{*begin, end}};
}

// Returns the first time at which two edges stop touching and the overlap in more than touch (the
// interior of one shape meets the other) ends: such an overlap can end at such times only. At such
// a time the overlap continues if two other edges cross before and after that time, or else if
// `OverlapsInMoreThanTouchAt` finds it exactly.
std::optional<SweepTime> BlockingPair::EndOfOverlap(const IndexedPolygon& fixed, WorkMeter& meter) {
  if (motion_.d == Vec2{}) return std::nullopt;
  contacts_.clear();
  VisitSweptPairs({mover_->shape(), bounds_, motion_.d, 1, motion_.fixed_radius}, fixed, meter,
                  [&](size_t, const Segment& edge, size_t, const Segment& moving) {
                    if (const auto contact = ContactOf(edge, moving)) contacts_.push_back(*contact);
                    return contacts_.size() <= meter.rows_left() ||
                           meter.SpendRows(contacts_.size());
                  });
  const auto compare = [this](const SweepTime& a, const SweepTime& b) {
    return SweepTime::Compare(motion_, a, b);
  };
  // The loop below skips ends at or before the time 0. An end at 1 or later means that the overlap
  // lasts to the end of the path.
  std::vector<SweepTime> ends;
  ends.reserve(contacts_.size());
  for (const Contact& contact : contacts_) ends.push_back(contact.end);
  std::sort(ends.begin(), ends.end(), [&](const SweepTime& a, const SweepTime& b) {
    meter.Spend(1);
    return compare(a, b) < 0;
  });
  for (const SweepTime& t : ends) {
    if (!meter.Spend(1)) return std::nullopt;
    if (compare(t, SweepTime::Zero()) <= 0) continue;
    if (compare(t, SweepTime::One()) >= 0) return std::nullopt;
    const bool is_crossed = std::any_of(contacts_.begin(), contacts_.end(), [&](const Contact& c) {
      meter.Spend(1);
      return c.crossing && compare(c.crossing->begin, t) < 0 && compare(t, c.crossing->end) < 0;
    });
    if (!is_crossed && !OverlapsInMoreThanTouchAt(*mover_, motion_, t, fixed, meter)) return t;
  }
  return std::nullopt;
}

}  // namespace carom::internal
