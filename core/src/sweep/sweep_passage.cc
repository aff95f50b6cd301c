// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/sweep_passage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "carom/predicates.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
namespace {

// An interval of numbers, and the largest sum of magnitudes of the terms that they are computed
// from.
struct Range {
  double low;
  double high;
  double magnitude;
};

// Returns bounds of x * d.y - y * d.x over a box; each of the two bounds errs by at most 2 rounding
// units (2^-53) of `magnitude`.
Range CrossRange(const Box& box, Vec2 d) {
  const double x1 = box.min.x * d.y;
  const double x2 = box.max.x * d.y;
  const double y1 = box.min.y * d.x;
  const double y2 = box.max.y * d.x;
  return {std::min(x1, x2) - std::max(y1, y2), std::max(x1, x2) - std::min(y1, y2),
          std::max(std::abs(x1), std::abs(x2)) + std::max(std::abs(y1), std::abs(y2))};
}

// An exact time t of a motion by t * d, and an interval of doubles that contains t.
struct Moment {
  ExactRoot t;
  double low;
  double high;
};

// The vertex that is p at the start, displaced by t * d, where `moment` has the exact time t and an
// interval of doubles that contains t.
class MovedVertex {
 public:
  MovedVertex(Vec2 p, Vec2 d, const Moment& moment)
      : p_(p), d_(d), t_(moment.t), where_(MovedBox({p, p}, d, moment.low, moment.high)) {}

  // Returns whether the polygon is filled at the moved vertex, which must not lie on an edge of the
  // polygon.
  bool IsFilledBy(const IndexedPolygon& indexed, WorkMeter& meter) const {
    const Polygon& polygon = indexed.polygon();
    if (polygon.solidity() == Solidity::kBoundary || !where_.Intersects(polygon.bounds())) {
      return false;
    }
    const auto meets = [this](const Box& box) {
      return box.min.y <= where_.max.y && where_.min.y <= box.max.y && where_.min.x <= box.max.x;
    };
    int64_t winding = 0;
    indexed.VisitEdges(meter, meets, [&](size_t, const Segment& edge) {
      winding += Crossing(edge);
      return true;
    });
    return polygon.IsFilled(winding);
  }

 private:
  // Returns the crossing (-1, 0 or 1) of the edge with the horizontal ray from the moved vertex to
  // the right, with the sign that the winding number of `LocateInPolygon` uses.
  int Crossing(const Segment& edge) const {
    const bool above_a = IsAbove(edge.a.y);
    const bool above_b = IsAbove(edge.b.y);
    if (above_a == above_b) return 0;
    const int direction = above_a ? 1 : -1;
    if (where_.min.x > std::max(edge.a.x, edge.b.x)) return 0;
    if (where_.max.x < std::min(edge.a.x, edge.b.x)) return direction;
    const Dyadic ex = Dyadic(edge.b.x) - edge.a.x;
    const Dyadic ey = Dyadic(edge.b.y) - edge.a.y;
    const Dyadic start = ex * (Dyadic(p_.y) - edge.a.y) - ey * (Dyadic(p_.x) - edge.a.x);
    const int side = SignOfLinear(start, ex * d_.y - ey * d_.x, t_);
    return side == direction ? direction : 0;
  }

  // Returns whether the moved vertex is at or above the height y.
  bool IsAbove(double y) const {
    if (where_.min.y > y) return true;
    if (where_.max.y < y) return false;
    return SignOfLinear(Dyadic(p_.y) - y, d_.y, t_) >= 0;
  }

  Vec2 p_;
  Vec2 d_;
  const ExactRoot& t_;
  Box where_;
};

// Returns the first vertex of the first ring of `inner` such that `outer` contains that vertex when
// `inner` is displaced by t * d at the moment. The result is the vertex's position at the start. No
// edges may touch at the moment, so if `outer` is the axis of a capsule it contains no vertex.
std::optional<Vec2> ContainedVertex(const PlacedShape& outer, const PlacedShape& inner, Vec2 d,
                                    const Moment& moment, WorkMeter& meter) {
  if (outer.polygon() == nullptr) return std::nullopt;
  for (size_t ring = 0; ring < inner.ring_count() && meter.Spend(1); ++ring) {
    const Vec2 vertex = inner.ring_start(ring);
    if (MovedVertex(vertex, d, moment).IsFilledBy(*outer.polygon(), meter)) return vertex;
  }
  return std::nullopt;
}

}  // namespace

SweptBox::SweptBox(const Box& box, Vec2 d, double limit)
    : reach_(MovedBox(box, d, 0, std::min(limit, 1.0))), d_(d) {
  const Range range = CrossRange(box, d);
  const double slack = 16 * kUnit * range.magnitude;
  low_ = range.low - slack;
  high_ = range.high + slack;
  is_short_ = std::abs(d.x) <= box.max.x - box.min.x && std::abs(d.y) <= box.max.y - box.min.y;
}

bool SweptBox::MayMeet(const Box& box) const {
  if (!reach_.Intersects(box)) return false;
  const Range range = CrossRange(box, d_);
  const double slack = 16 * kUnit * range.magnitude;
  return range.low - slack <= high_ && low_ <= range.high + slack;
}

void SweepPair::Start(const PlacedShape& mover, const Motion& motion) {
  mover_ = &mover;
  bounds_ = mover.bounds();
  motion_ = motion;
}

// Returns the time at which the two edges first touch. May return nothing if that time is above
// `limit`. Without motion, returns time 0 if the edges touch at all.
std::optional<SweepTime> SweepPair::Begin(const Segment& fixed, const Segment& moving,
                                          double limit) const {
  if (motion_.d == Vec2{}) {
    return AreWithin(fixed, moving, motion_) ? std::optional(SweepTime::Zero()) : std::nullopt;
  }
  if (is_round()) return RoundContactBegin(motion_, fixed, moving, limit);
  const std::optional<SweepInterval> interval = ContactInterval(motion_, fixed, moving);
  return interval ? std::optional(interval->begin) : std::nullopt;
}

// Returns whether the touching edges define a normal. A touch at time 0 or 1 needs no normal, so
// the answer is true for it.
bool SweepPair::DeterminesNormal(const SweepTouch& touch, const IndexedPolygon& fixed) const {
  if (is_round() || touch.time.is_zero() || touch.time.is_one()) return true;
  const Segment edge = SeparatingEdge(touch.time.meeting(), fixed.polygon().edge(touch.fixed_edge),
                                      mover_->edge(touch.moving_edge), motion_.d);
  return !(edge.a == edge.b);
}

// Merges a touch into `event`, which keeps the touch with the earliest begin or the latest end
// (`end`); among touches at equal times, the first that defines a normal. `first_edge` becomes the
// least fixed edge of the touches at that time: for radius 0 of the touches at exactly the time of
// `event.touch`, for a round shape of those at a time that rounds up to the same double.
void SweepPair::Gather(const SweepTouch& touch, IntervalEnd end, const IndexedPolygon& fixed,
                       SweepEvent& event) const {
  if (!event.has_edge) {
    event = {touch, touch.fixed_edge, true};
    return;
  }
  int order = SweepTime::Compare(motion_, touch.time, event.touch.time);
  if (end == IntervalEnd::kEnd) order = -order;
  const bool ties = is_round() ? touch.time.high() == event.touch.time.high() : order == 0;
  if (order > 0 && !ties) return;
  event.first_edge = ties ? std::min(event.first_edge, touch.fixed_edge) : touch.fixed_edge;
  if (order < 0 ||
      (order == 0 && !DeterminesNormal(event.touch, fixed) && DeterminesNormal(touch, fixed))) {
    event.touch = touch;
  }
}

// Skips touches that are later than the earliest touch found before, but a touch at an equal time
// takes part in the choice of the edge. A touch at the start ends the search: no touch is earlier,
// and `AtStart` chooses the edge for a shape that overlaps at the start.
std::optional<SweepEvent> SweepPair::FirstTouch(const IndexedPolygon& fixed, double limit,
                                                WorkMeter& meter) {
  SweepEvent first;
  VisitPairs(fixed, limit, meter,
             [&](size_t i, const Segment& edge, size_t j, const Segment& moving) {
               const double bound = first.has_edge ? first.touch.time.high() : limit;
               const std::optional<SweepTime> t = Begin(edge, moving, bound);
               if (!t || t->low() > limit) return true;
               Gather({*t, static_cast<uint32_t>(i), static_cast<uint32_t>(j)}, IntervalEnd::kBegin,
                      fixed, first);
               return !t->is_zero();
             });
  return first.has_edge ? std::optional(first) : std::nullopt;
}

// Two edges that touch at a time in [`bounds.low`, `until`] are then both in the boxes that cover
// where they are during that interval, so pairs whose boxes do not meet are skipped. If the first
// touch of the pairs that are not skipped is not after `until`, no skipped pair touches sooner or
// at an equal time, not even for a round shape, for which times are equal if they round up to the
// same double. Otherwise searches all pairs.
std::optional<SweepEvent> SweepPair::FirstTouch(const IndexedPolygon& fixed, double limit,
                                                const TouchBounds& bounds, WorkMeter& meter) {
  const double until = std::fmin(bounds.high, 1);
  const Vec2 d = motion_.d;
  const auto between = [&](const Box& box) { return MovedBox(box, d, bounds.low, until); };
  const Box where = between(bounds_);
  const Polygon& polygon = fixed.polygon();
  SweepEvent first;
  const auto add = [&](size_t i, const Segment& edge, size_t j, const Segment& moving) {
    const double bound = first.has_edge ? first.touch.time.high() : limit;
    const std::optional<SweepTime> t = Begin(edge, moving, bound);
    if (!t || t->low() > limit) return;
    Gather({*t, static_cast<uint32_t>(i), static_cast<uint32_t>(j)}, IntervalEnd::kBegin, fixed,
           first);
  };
  for (size_t i = 0; i < polygon.edge_count() && meter.Spend(1); ++i) {
    const Segment edge = polygon.edge(i);
    const Box box = BoundsOf(edge);
    if (!box.Intersects(where)) continue;
    for (size_t j = 0; j < mover_->edge_count(); ++j) {
      const Segment moving = mover_->edge(j);
      if (!is_round() && !box.Intersects(between(BoundsOf(moving)))) continue;
      if (meter.Spend(is_round() ? kRoundMeetings : 1)) add(i, edge, j, moving);
    }
  }
  const bool is_first = first.has_edge && first.touch.time.high() <= until;
  if (!is_first && until < limit && !meter.stopped()) return FirstTouch(fixed, limit, meter);
  return first.has_edge ? std::optional(first) : std::nullopt;
}

// No edges touch, so a ring (a connected outline of a shape) is inside or outside of the other
// shape as a whole, and one vertex of the ring decides.
bool SweepPair::HoldsRingAtStart(const IndexedPolygon& fixed, WorkMeter& meter) const {
  const PlacedShape placed(fixed);
  return FirstRingInside(placed, *mover_, meter) || FirstRingInside(*mover_, placed, meter);
}

// Returns a point of the edge that the moving shape contains at the start, or nothing if there is
// none.
std::optional<Vec2> SweepPair::StartPointOn(const Segment& edge, WorkMeter& meter) const {
  if (is_round()) {
    // The rounded sum of two radii must not decide; `AreWithin` is exact.
    if (motion_.fixed_radius > 0 && !AreWithin(edge, mover_->edge(0), motion_)) return std::nullopt;
    return SharedPoint(edge, mover_->edge(0), {}, motion_.rounded_radius());
  }
  const Box reach = BoundsOf(edge);
  std::optional<Vec2> point;
  mover_->VisitEdges(
      meter, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t, const Segment& moving) {
        if (Intersects(edge, moving)) point = SharedPoint(edge, moving, {}, 0);
        return !point;
      });
  if (point || mover_->polygon() == nullptr) return point;
  const bool inside =
      LocateInPolygon(*mover_->polygon(), edge.a, meter).location != Location::kOutside;
  return inside ? std::optional(edge.a) : std::nullopt;
}

// Visits edges in ascending order, so the first edge found to contain a point of the shape has the
// least index. If no edge does, one shape contains the other, and the point is a vertex of the
// moving shape.
SweepPair::Place SweepPair::AtStart(const IndexedPolygon& fixed, WorkMeter& meter) const {
  Place place;
  fixed.VisitEdges(
      meter, [&](const Box& box) { return bounds_.Intersects(box); },
      [&](size_t i, const Segment& edge) {
        const std::optional<Vec2> point = StartPointOn(edge, meter);
        if (point) place = {static_cast<uint32_t>(i), *point};
        return !point && !meter.stopped();
      });
  if (place.edge) return place;
  if (is_round()) return {std::nullopt, mover_->ring_start(0)};
  for (size_t ring = 0; ring < mover_->ring_count() && meter.Spend(1); ++ring) {
    place.point = mover_->ring_start(ring);
    if (LocateInPolygon(fixed, place.point, meter).location != Location::kOutside) break;
  }
  return place;
}

// Returns a point that the shapes share at the end of the path. Finds a pair of edges that touch at
// the end of the path, or else a vertex of one shape that is inside the other shape then.
SweepPair::Place SweepPair::AtEnd(const IndexedPolygon& fixed, WorkMeter& meter) const {
  std::optional<Vec2> point;
  VisitPairs(fixed, 1, meter, [&](size_t, const Segment& edge, size_t, const Segment& moving) {
    const std::optional<SweepInterval> interval = Interval(edge, moving);
    if (interval && SweepTime::Compare(motion_, interval->end, SweepTime::One()) == 0) {
      point = SharedPoint(edge, moving, motion_.d, motion_.rounded_radius());
    }
    return !point;
  });
  if (point) return {std::nullopt, *point};
  const Vec2 d = motion_.d;
  if (is_round()) return {std::nullopt, PointOnPath(mover_->ring_start(0), d, 1)};
  const Moment end{SweepTime::One().Exact(motion_), 1, 1};
  const PlacedShape placed(fixed);
  if (const auto vertex = ContainedVertex(placed, *mover_, d, end, meter)) {
    return {std::nullopt, PointOnPath(*vertex, d, 1)};
  }
  const auto vertex = ContainedVertex(*mover_, placed, {-d.x, -d.y}, end, meter);
  return {std::nullopt, vertex.value_or(Vec2{})};
}

// Returns the interval of times in which the two edges touch, or nothing if they never do. It is
// one closed interval (sweep_intervals.h).
std::optional<SweepInterval> SweepPair::Interval(const Segment& fixed,
                                                 const Segment& moving) const {
  if (!is_round()) return ContactInterval(motion_, fixed, moving);
  const std::optional<SweepTime> begin = RoundContactBegin(motion_, fixed, moving, 1);
  if (!begin) return std::nullopt;
  return SweepInterval{*begin, RoundContactEnd(motion_, fixed, moving)};
}

// Collects the contact intervals of all pairs of edges that touch on the path, sorted by their
// begin.
void SweepPair::CollectContacts(const IndexedPolygon& fixed, WorkMeter& meter) {
  contacts_.clear();
  VisitPairs(fixed, 1, meter, [&](size_t i, const Segment& edge, size_t j, const Segment& moving) {
    if (const std::optional<SweepInterval> interval = Interval(edge, moving)) {
      contacts_.push_back(
          {interval->begin, interval->end, static_cast<uint32_t>(i), static_cast<uint32_t>(j)});
    }
    // Contacts beyond the rows that the meter has left are charged as rows, which limits the memory
    // of an answer.
    return contacts_.size() <= meter.rows_left() || meter.SpendRows(contacts_.size());
  });
  const auto compare = [this](const SweepTime& a, const SweepTime& b) {
    return SweepTime::Compare(motion_, a, b);
  };
  SortTouches(contacts_, compare, meter);
}

// Returns whether one shape contains a ring (a connected outline) of the other in the gap from
// `begin` to `end` between contact intervals, so that the gap belongs to the passage (an interval
// of times in which the shapes share a point). In the gap no vertex lies on an edge of the other
// shape, so a test at one time decides. For radius 0 that time is the middle of the gap. For a
// round shape it is the begin of the gap, at which no edge is nearer to the axis than the radius.
bool SweepPair::IsGapFilled(const IndexedPolygon& fixed, const SweepTime& begin,
                            const SweepTime& end, WorkMeter& meter) const {
  const ExactRoot from = begin.Exact(motion_);
  const Vec2 d = motion_.d;
  if (is_round()) {
    const double before = begin.is_zero() ? 0 : std::nextafter(begin.low(), -HUGE_VAL);
    const Moment moment{from, before, begin.high()};
    return MovedVertex(mover_->ring_start(0), d, moment).IsFilledBy(fixed, meter);
  }
  const ExactRoot to = end.Exact(motion_);
  const ExactRoot middle{from.p * to.m + to.p * from.m, {}, {}, Scaled(from.m * to.m, 1)};
  const Moment moment{middle, std::fmax(begin.low(), 0), std::fmin(end.high(), 1)};
  const PlacedShape placed(fixed);
  return ContainedVertex(placed, *mover_, d, moment, meter) ||
         ContainedVertex(*mover_, placed, {-d.x, -d.y}, moment, meter);
}

// The contacts of the moving shape with one polygon: intervals of times in which two of their edges
// touch, in the form that `PassageMerge` takes as its template parameter `Path`. A gap is an
// interval between contacts.
class SweepPair::ContactPath {
 public:
  ContactPath(const SweepPair& pair, const IndexedPolygon& fixed, WorkMeter& meter)
      : pair_(pair), fixed_(fixed), meter_(meter) {}

  SweepTime Start() const { return SweepTime::Zero(); }
  SweepTime Limit() const { return SweepTime::One(); }
  int Compare(const SweepTime& a, const SweepTime& b) const {
    return SweepTime::Compare(pair_.motion_, a, b);
  }
  bool IsGapInside(const SweepTime& begin, size_t next) const {
    const auto& contacts = pair_.contacts_;
    const SweepTime end = next < contacts.size() ? contacts[next].begin : Limit();
    return pair_.IsGapFilled(fixed_, begin, end, meter_);
  }

 private:
  const SweepPair& pair_;
  const IndexedPolygon& fixed_;
  WorkMeter& meter_;
};

SweepPair::Passage SweepPair::FirstPassage(const IndexedPolygon& fixed, WorkMeter& meter) {
  CollectContacts(fixed, meter);
  ContactPath path(*this, fixed, meter);
  const auto merged =
      PassageMerge<SweepTime, Contact, ContactPath>(contacts_, true, path, meter).Next();
  if (!merged) return {};
  Passage passage;
  passage.end = EndOf(*merged, fixed, meter);
  if (merged->last == contacts_.size()) return passage;
  // For a round shape, `Gather` chooses the least edge among all begins that round up to the same
  // double.
  SweepEvent re_entry;
  for (size_t i = merged->last; i < contacts_.size() && meter.Spend(1); ++i) {
    const Contact& contact = contacts_[i];
    if (contact.begin.low() > contacts_[merged->last].begin.high()) break;
    Gather({contact.begin, contact.fixed_edge, contact.moving_edge}, IntervalEnd::kBegin, fixed,
           re_entry);
  }
  passage.re_entry = re_entry;
  return passage;
}

// Returns the end of the passage `merged` (a largest interval of times in which the shapes share a
// point). If the passage reaches the end of the path, the event has the time 1 and no edge.
// Otherwise the event merges all contacts that end when the passage ends, exactly or (for a round
// shape) at a time that rounds up to the same double.
SweepEvent SweepPair::EndOf(const MergedPassage<SweepTime>& merged, const IndexedPolygon& fixed,
                            WorkMeter& meter) const {
  SweepEvent event;
  event.touch.time = merged.end;
  if (SweepTime::Compare(motion_, merged.end, SweepTime::One()) == 0) {
    event.touch.time = SweepTime::One();
    return event;
  }
  for (size_t i = merged.first; i < merged.last && meter.Spend(1); ++i) {
    const Contact& contact = contacts_[i];
    const bool ends_here = is_round() ? contact.end.high() == merged.end.high()
                                      : SweepTime::Compare(motion_, contact.end, merged.end) == 0;
    if (!ends_here) continue;
    Gather({contact.end, contact.fixed_edge, contact.moving_edge}, IntervalEnd::kEnd, fixed, event);
  }
  return event;
}

}  // namespace carom::internal
