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

struct Range {
  double low;
  double high;
  double magnitude;
};

// Returns the range of x * d.y - y * d.x over a box, within 2u of `magnitude`.
Range CrossRange(const Box& box, Vec2 d) {
  const double x1 = box.min.x * d.y;
  const double x2 = box.max.x * d.y;
  const double y1 = box.min.y * d.x;
  const double y2 = box.max.y * d.x;
  return {std::min(x1, x2) - std::max(y1, y2), std::max(x1, x2) - std::min(y1, y2),
          std::max(std::abs(x1), std::abs(x2)) + std::max(std::abs(y1), std::abs(y2))};
}

// A time t, and an interval of doubles that contains t.
struct Moment {
  ExactRoot t;
  double low;
  double high;
};

// The vertex p + t * d at a `Moment`.
class MovedVertex {
 public:
  MovedVertex(Vec2 p, Vec2 d, const Moment& moment)
      : p_(p), d_(d), t_(moment.t), where_(MovedBox({p, p}, d, moment.low, moment.high)) {}

  // Returns whether the polygon is filled at the vertex, which must lie on no edge.
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
  // Returns the crossing (-1, 0 or 1) of the edge with the horizontal ray from the vertex to the
  // right, with the sign by which LocateInPolygon counts it.
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

  // Returns whether the vertex is at or above y.
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

// Returns the first vertex of a ring of `inner` that `outer` contains at the moment, in its
// position at t = 0. No edges may touch at the moment, so an axis contains no vertex.
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

// Returns when the two edges first touch; a time above `limit` may be left out. Without motion it
// is an overlap test.
std::optional<SweepTime> SweepPair::Begin(const Segment& fixed, const Segment& moving,
                                          double limit) const {
  if (motion_.d == Vec2{}) {
    return AreWithin(fixed, moving, motion_) ? std::optional(SweepTime::Zero()) : std::nullopt;
  }
  if (is_round()) return RoundContactBegin(motion_, fixed, moving, limit);
  const std::optional<SweepInterval> interval = ContactInterval(motion_, fixed, moving);
  return interval ? std::optional(interval->begin) : std::nullopt;
}

// Returns whether the touch defines a normal, or needs none because it is at zero or one.
bool SweepPair::DeterminesNormal(const SweepTouch& touch, const IndexedPolygon& fixed) const {
  if (is_round() || touch.time.is_zero() || touch.time.is_one()) return true;
  const Segment edge = SeparatingEdge(touch.time.meeting(), fixed.polygon().edge(touch.fixed_edge),
                                      mover_->edge(touch.moving_edge), motion_.d);
  return !(edge.a == edge.b);
}

// Merges a touch into `event`: keeps the earliest begin or the latest end, and of equal times the
// first touch that defines a normal. `first_edge` is the least edge of the touches that tie:
// exactly for radius 0, else rounded up.
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

// A touch later than the best so far need not be computed, but a touch that ties with the best
// takes part in the choice of the edge. A touch at the start ends the search: no touch is earlier,
// and `AtStart` chooses the edge of a start inside.
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

// If edges touch at a time in [`bounds.low`, `until`], the boxes of what they cover in that
// interval meet. So if the first touch of edges with boxes that meet is not after `until`, no other
// pair touches sooner or at the same time: not even for a round shape, where times count as equal
// if they round up to the same double.
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

// No edges touch, so a ring is inside or outside as a whole: one vertex of the ring decides.
bool SweepPair::HoldsRingAtStart(const IndexedPolygon& fixed, WorkMeter& meter) const {
  const PlacedShape placed(fixed);
  return FirstRingInside(placed, *mover_, meter) || FirstRingInside(*mover_, placed, meter);
}

// Returns a point of the edge that the shape contains at the start, or nothing.
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

// Visits edges in order, so the first edge that holds a point of the shape is the least. If no edge
// does, one shape lies in the other, and the point is a vertex.
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

// Finds a contact that lasts to the end of the path, or else a vertex that is inside the other
// shape at the end.
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

// Returns the times at which the two edges are in contact: one closed interval (sweep_intervals.h).
std::optional<SweepInterval> SweepPair::Interval(const Segment& fixed,
                                                 const Segment& moving) const {
  if (!is_round()) return ContactInterval(motion_, fixed, moving);
  const std::optional<SweepTime> begin = RoundContactBegin(motion_, fixed, moving, 1);
  if (!begin) return std::nullopt;
  return SweepInterval{*begin, RoundContactEnd(motion_, fixed, moving)};
}

// Collects the contacts of all pairs of edges that meet on the path, sorted by begin.
void SweepPair::CollectContacts(const IndexedPolygon& fixed, WorkMeter& meter) {
  contacts_.clear();
  VisitPairs(fixed, 1, meter, [&](size_t i, const Segment& edge, size_t j, const Segment& moving) {
    if (const std::optional<SweepInterval> interval = Interval(edge, moving)) {
      contacts_.push_back(
          {interval->begin, interval->end, static_cast<uint32_t>(i), static_cast<uint32_t>(j)});
    }
    // Contacts beyond the meter's remaining rows count as rows, which limits the memory of an
    // answer.
    return contacts_.size() <= meter.rows_left() || meter.SpendRows(contacts_.size());
  });
  const auto compare = [this](const SweepTime& a, const SweepTime& b) {
    return SweepTime::Compare(motion_, a, b);
  };
  SortTouches(contacts_, compare, meter);
}

// Returns whether the gap after `begin` belongs to the passage. Between contacts no vertex lies on
// an edge of the other shape, so one time in the gap decides. For radius 0 it is the middle of the
// gap; for a round shape the begin suffices, at which no edge is nearer to the axis than the
// radius.
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

// The `Path` that `PassageMerge` follows: the shape along its sorted contacts with one polygon.
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
  // For a round shape, the least edge is the least of all begins that round up to the same double.
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

// Returns the end of a passage: one, without an edge, if the passage reaches the end of the path;
// else the event of all contacts that end at the end of the passage, exactly or (for a round shape)
// rounded up.
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
