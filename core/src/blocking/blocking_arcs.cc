// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_arcs.h"

#include <cmath>

#include "carom/predicates.h"
#include "numeric/bounded.h"
#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"
#include "shape/measures.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
namespace {

using Kind = BlockingContact::Kind;

DyadicVec2 ExactOf(const Direction& u) {
  return {Dyadic(u.to.x) - u.from.x, Dyadic(u.to.y) - u.from.y};
}
DyadicVec2 QuarterTurn(const DyadicVec2& a) { return {-a.y, a.x}; }

Direction From(Vec2 u) { return {{0, 0}, u}; }

// Compares how close a and b come to the line along u: returns the sign of (a . u)^2 / |a|^2 - (b .
// u)^2 / |b|^2, or 0 where doubles cannot decide.
int OrderOfCosines(const Direction& a, const Direction& b, Vec2 u) {
  struct Measured {
    BoundedDouble dot;
    BoundedDouble length2;
  };
  const auto measured = [&](const Direction& v) {
    const BoundedDouble x = BoundedDifference(v.to.x, v.from.x);
    const BoundedDouble y = BoundedDifference(v.to.y, v.from.y);
    return Measured{x * BoundedDouble{u.x} + y * BoundedDouble{u.y}, x * x + y * y};
  };
  const Measured m = measured(a);
  const Measured n = measured(b);
  const BoundedDouble order = m.dot * m.dot * n.length2 - n.dot * n.dot * m.length2;
  return order.is_certain() ? order.sign() : 0;
}

// Returns true if two directions are certainly parallel because they join the same two points.
bool HaveSameLine(const ArcDirection& a, const ArcDirection& b) {
  const Direction& u = a.base;
  const Direction& v = b.base;
  if (a.is_tangent != b.is_tangent || a.touch.has_value() != b.touch.has_value()) return false;
  if (u.from == v.from && u.to == v.to) return true;
  return !a.is_tangent && u.from == v.to && u.to == v.from;
}

// Finds the contacts of a moving ring with the edges of a fixed polygon at the time `t`: a contact
// is a vertex of one that touches an edge or a vertex of the other.
class RingContacts {
 public:
  RingContacts(const BlockingPair& pair, const SweepTime& t, std::vector<BlockingContact>& contacts)
      : motion_(pair.motion()), t_(t), contacts_(contacts) {}

  // Adds the contact of the first vertex of the ring's edge f with the polygon's edge e or an end
  // of e, and the contacts of the ends of e with inner points of f. Edge f has index j in the ring.
  // Each vertex of the ring is the first of one edge, so each contact is found once. Only a contact
  // at a vertex that two edges of the polygon share is found once for each of these edges.
  void Add(const Segment& e, size_t j, const Segment& f) {
    if (!IsNow(ContactInterval(motion_, e, f))) return;
    const auto moving = static_cast<uint32_t>(j);
    const Segment reversed{e.b, e.a};
    if (IsNow(ContactInterval(motion_, e, {f.a, f.a}))) {
      const bool at_a = Meet(e.a, f.a);
      const bool at_b = Meet(e.b, f.a);
      if (at_a) contacts_.push_back({Kind::kVertexOnVertex, e, moving, {}});
      if (at_b) contacts_.push_back({Kind::kVertexOnVertex, reversed, moving, {}});
      if (!at_a && !at_b) contacts_.push_back({Kind::kVertexOnEdge, e, moving, {}});
    }
    for (const Segment& from : {e, reversed}) {
      const Vec2 q = from.a;
      if (!IsNow(ContactInterval(motion_, {q, q}, f)) || Meet(q, f.a) || Meet(q, f.b)) continue;
      contacts_.push_back({Kind::kEdgeOnVertex, from, moving, {}});
    }
  }

 private:
  bool IsNow(const std::optional<SweepInterval>& interval) const {
    return interval && SweepTime::Compare(motion_, interval->begin, t_) <= 0 &&
           SweepTime::Compare(motion_, t_, interval->end) <= 0;
  }
  bool Meet(Vec2 q, Vec2 p) const { return IsNow(ContactInterval(motion_, {q, q}, {p, p})); }

  const Motion& motion_;
  const SweepTime& t_;
  std::vector<BlockingContact>& contacts_;
};

// Finds the contacts of a capsule with a polygon or a round body, or of a ring with a round body,
// at the time `t`: a contact is a vertex of one (or an end of an axis) whose distance from an edge
// or a vertex of the other is exactly the sum of the radii.
class RoundContacts {
 public:
  RoundContacts(const BlockingPair& pair, const SweepTime& t,
                std::vector<BlockingContact>& contacts)
      : motion_(pair.motion()),
        vertex_count_(pair.mover().is_round() ? 2 : pair.mover().vertex_count()),
        t_(t),
        contacts_(contacts) {}

  // Adds the contacts of the fixed edge e and the moving edge f that begin or end at time t. Also
  // adds contacts of an edge that is parallel to the path with a vertex of the other shape whose
  // distance from the edge is exactly the sum of the radii: such a contact lasts as long as the
  // parallel edge and the vertex of the other shape are beside each other. `f` is edge j of the
  // ring, or the axis of a capsule with j = 0.
  void Add(const Segment& e, size_t j, const Segment& f) {
    const auto vertex = [&](Vec2 p) { return p == f.a ? j : (j + 1) % vertex_count_; };
    std::vector<RoundTouch> touches;
    FindRoundTouches(motion_, e, f, t_, touches);
    for (const RoundTouch& touch : touches) {
      const EdgeMeeting& m = touch.meeting;
      if (m.is_on_moving_edge()) {
        Push(Kind::kEdgeOnVertex, m.fixed, j, touch);
      } else {
        const bool is_on_edge = m.is_on_fixed_edge();
        Push(is_on_edge ? Kind::kVertexOnEdge : Kind::kVertexOnVertex, m.fixed, vertex(m.moving.a),
             touch);
      }
    }
    if (!(e.a == e.b) && IsParallel(e)) {
      for (const Vec2 p : {f.a, f.b}) {
        if (!Slides(e, e.a, p) || !IsWithin(e, p, e.a, 1) || !IsWithin(e, p, e.b, -1)) continue;
        Push(Kind::kVertexOnEdge, e, vertex(p), {});
      }
    }
    if (!(f.a == f.b) && IsParallel(f)) {
      for (const Vec2 q : {e.a, e.b}) {
        if (!Slides(f, q, f.a) || !IsWithin(f, f.a, q, -1) || !IsWithin(f, f.b, q, 1)) continue;
        Push(Kind::kEdgeOnVertex, {q, q}, j, {});
      }
    }
  }

 private:
  void Push(Kind kind, const Segment& fixed, size_t moving,
            const std::optional<RoundTouch>& touch) {
    contacts_.push_back({kind, fixed, static_cast<uint32_t>(moving), touch, motion_.fixed_radius});
  }
  bool IsParallel(const Segment& side) const { return SideOfPath(side.b, side.a, motion_.d) == 0; }
  // Returns whether p, which moves parallel to `side`, is at a distance of exactly the sum of the
  // radii from the line through q along `side`. In doubles the length of the side errs by at most 4
  // rounding units (2^-53) of itself, and the rounded sum of the radii by one rounding unit.
  bool Slides(const Segment& side, Vec2 q, Vec2 p) const {
    const RoundedCross rounded(q, p, side.a, side.b);
    const double x = side.b.x - side.a.x;
    const double y = side.b.y - side.a.y;
    const double reach = motion_.rounded_radius() * std::sqrt(x * x + y * y);
    const double error = 2 * rounded.error() + 16 * kFilterUnit * reach;
    if (std::abs(std::abs(rounded.value) - reach) > error) return false;
    if (x == 0 || y == 0) {
      // The side is parallel to a coordinate axis, so the comparison in pairs of doubles is exact.
      const TwoDoubles apart = x == 0 ? TwoDiff(p.x, q.x) : TwoDiff(p.y, q.y);
      const TwoDoubles radius = TwoSum(motion_.radius, motion_.fixed_radius);
      const int sign = apart.high < 0 ? -1 : 1;
      return sign * apart.high == radius.high && sign * apart.low == radius.low;
    }
    const DyadicVec2 s = ExactOf({side.a, side.b});
    const Dyadic cross = Cross(ExactOf({p, q}), s);
    const Dyadic radius = motion_.ExactRadius();
    return cross * cross == Dot(s, s) * radius * radius;
  }
  // Returns whether (p + t d - q) . s has the sign `sign` or is 0, where s is the vector of `side`
  // and d the displacement. In doubles each of the dot products (p - q) . s and d . s errs by at
  // most 8 rounding units (2^-53) of the magnitudes of its terms, and t errs by at most the width
  // of the interval of `t_`.
  bool IsWithin(const Segment& side, Vec2 p, Vec2 q, int sign) const {
    const Vec2 along{side.b.x - side.a.x, side.b.y - side.a.y};
    const double t = t_.high();
    const double by_x = along.x * motion_.d.x;
    const double by_y = along.y * motion_.d.y;
    const double from_x = along.x * (p.x - q.x);
    const double from_y = along.y * (p.y - q.y);
    const double rounded = (from_x + from_y) + t * (by_x + by_y);
    const double speed_magnitude = std::abs(by_x) + std::abs(by_y);
    const double error =
        16 * kFilterUnit * (std::abs(from_x) + std::abs(from_y) + std::abs(t) * speed_magnitude) +
        (t - NextBelow(t_.low())) * speed_magnitude;
    if (std::abs(rounded) > 2 * error) return rounded * sign > 0;
    const DyadicVec2 s = ExactOf({side.a, side.b});
    const Dyadic speed = s.x * motion_.d.x + s.y * motion_.d.y;
    return SignOfLinear(Dot(ExactOf({q, p}), s), speed, t_.Exact(motion_)) * sign >= 0;
  }

  const Motion& motion_;
  const size_t vertex_count_;
  const SweepTime& t_;
  std::vector<BlockingContact>& contacts_;
};

}  // namespace

Segment BlockingContact::MovingEdge(const BlockingMover& mover) const {
  return mover.shape().edge(mover.is_round() ? 0 : moving);
}

Vec2 BlockingContact::MovingVertex(const BlockingMover& mover) const {
  const Segment edge = MovingEdge(mover);
  return mover.is_round() && moving == 1 ? edge.b : edge.a;
}

// Tests only those edges of `fixed` whose bounding boxes meet the bounding box of the shape at time
// t.
void FindContacts(const BlockingPair& pair, const IndexedPolygon& fixed, const SweepTime& t,
                  WorkMeter& meter, std::vector<BlockingContact>& contacts) {
  const PlacedShape& shape = pair.mover().shape();
  const double low = std::fmax(0, NextBelow(t.low()));
  const double high = std::fmin(1, t.high());
  const Vec2 d = pair.motion().d;
  const double fixed_radius = pair.motion().fixed_radius;
  const Box reach = MovedBox(Grown(pair.bounds(), fixed_radius), d, low, high);
  RingContacts ring(pair, t, contacts);
  RoundContacts round(pair, t, contacts);
  fixed.VisitEdges(
      meter, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t, const Segment& e) {
        if (pair.axes().IsClear(e)) return true;
        if (pair.mover().is_round()) {
          round.Add(e, 0, shape.edge(0));
          return meter.Spend(kRoundMeetings);
        }
        const Box edge_box = Grown(BoundsOf(e), fixed_radius);
        return shape.VisitEdges(
            meter, [&](const Box& box) { return MovedBox(box, d, low, high).Intersects(edge_box); },
            [&](size_t j, const Segment& f) {
              if (fixed_radius == 0) {
                ring.Add(e, j, f);
                return true;
              }
              round.Add(e, j, f);
              return meter.Spend(kRoundMeetings);
            });
      });
}

// A contact with normal n, from the obstacle to the shape, blocks the directions u with u . n < 0.
// These directions are the half turn counter-clockwise from the direction of n turned a quarter
// counter-clockwise.
void BlockedArcs::Add(const BlockingContact& contact, const BlockingMover& mover, bool is_still) {
  if (contact.IsRound(mover)) return AddRound(contact, mover, is_still);
  const Direction along{contact.fixed.a, contact.fixed.b};
  const size_t j = contact.moving;
  if (contact.kind == Kind::kEdgeOnVertex) {
    const Segment f = mover.shape().edge(j);
    const Direction edge{f.a, f.b};
    return AddHalfTurn({mover.inner_side(j) > 0 ? -edge : edge, false, false, {}});
  }
  const Sector sector = mover.SectorAt(j);
  if (contact.kind == Kind::kVertexOnVertex) return AddVertices(contact, sector);
  int side = CrossSign(along, sector.first);
  if (side == 0) side = CrossSign(along, sector.last);
  // If `side` is still 0, the inner sector is half a turn, to the left of `first`.
  if (side == 0) side = DotSign(sector.first, along) > 0 ? 1 : -1;
  AddHalfTurn({side > 0 ? -along : along, false, false, {}});
}

// Adds the directions of r - s for the ray r along the fixed edge from its first vertex and the
// directions s in the inner sector of the ring's vertex: those that lead into the ring's interior.
// The ray r is not in the sector, so r and the reversed sector together span at most half a turn.
void BlockedArcs::AddVertices(const BlockingContact& contact, const Sector& sector) {
  const ArcDirection first{-sector.first, false, false, {}};
  const ArcDirection last{-sector.last, false, false, {}};
  if (sector.turn <= 0) {
    AddHalfTurn(first);
    AddHalfTurn(-last);
    return;
  }
  const ArcDirection ray{{contact.fixed.a, contact.fixed.b}, false, false, {}};
  const bool after_first = Turn(first, ray) >= 0;
  const bool before_last = Turn(ray, last) >= 0;
  if (after_first == before_last) {
    arcs_.push_back({first, last});
  } else if (after_first) {
    arcs_.push_back({first, ray});
  } else {
    arcs_.push_back({ray, last});
  }
}

// Adds the half turn of directions that a contact blocks if the shape or the obstacle has a radius.
// Where two vertices meet, at a distance of the sum of the radii, the half turn begins at the
// tangent: the vector from the fixed to the moving vertex turned a quarter counter-clockwise. Where
// a vertex meets an edge, the half turn begins at the direction of the edge or at the reverse
// direction: the side of the edge on which the other shape lies follows from whether the touch
// begins or ends, or else, without a touch, from the positions of the placed shape.
void BlockedArcs::AddRound(const BlockingContact& contact, const BlockingMover& mover,
                           bool is_still) {
  const Segment edge = contact.MovingEdge(mover);
  const Vec2 p = contact.MovingVertex(mover);
  const Segment& fixed = contact.fixed;
  if (contact.kind == Kind::kVertexOnVertex) {
    if (contact.touch && !is_still) rounded_ = t_.Rounded(motion_);
    AddHalfTurn({{fixed.a, p}, true, false, is_still ? std::nullopt : contact.touch});
    return;
  }
  const bool is_fixed_edge = contact.kind == Kind::kVertexOnEdge;
  const Segment side = is_fixed_edge ? fixed : Segment{edge.b, edge.a};
  if (contact.touch && !is_still) {
    const Segment s = contact.touch->meeting.side();
    const Direction along{s.a, s.b};
    return AddHalfTurn(
        {contact.touch->end == IntervalEnd::kBegin ? -along : along, false, false, {}});
  }
  const int left =
      is_fixed_edge ? Orientation(side.a, side.b, p) : Orientation(edge.a, edge.b, fixed.a);
  const Direction along{side.a, side.b};
  AddHalfTurn({left > 0 ? -along : along, false, false, {}});
}

// Returns a direction in doubles and, for each component, the sum of the magnitudes of its terms.
// The time t is rounded with an error of at most 2 rounding units (2^-53) of t, so each component
// errs by at most 5 rounding units of its magnitude.
BlockedArcs::RoundedVector BlockedArcs::Rounded(const ArcDirection& direction) const {
  const Direction& base = direction.base;
  const double t = direction.touch ? rounded_ : 0;
  const Vec2 start{base.to.x - base.from.x, base.to.y - base.from.y};
  const Vec2 moved{t * motion_.d.x, t * motion_.d.y};
  const Vec2 v{start.x + moved.x, start.y + moved.y};
  const Vec2 magnitude{std::abs(start.x) + std::abs(moved.x),
                       std::abs(start.y) + std::abs(moved.y)};
  if (!direction.is_tangent) return {v, magnitude};
  const double turn = direction.is_reversed ? -1 : 1;
  return {{-v.y * turn, v.x * turn}, {magnitude.y, magnitude.x}};
}

BoundedPairVec2 BlockedArcs::InPairs(const ArcDirection& direction) const {
  BoundedPairVec2 v = ExactDifference(direction.base.to, direction.base.from);
  if (direction.touch) {
    if (!pair_) pair_ = t_.Pair(motion_);
    v = {v.x + *pair_ * ExactValue(motion_.d.x), v.y + *pair_ * ExactValue(motion_.d.y)};
  }
  if (!direction.is_tangent) return v;
  return direction.is_reversed ? BoundedPairVec2{v.y, -v.x} : BoundedPairVec2{-v.y, v.x};
}

// Returns the sign of the cross product a x b. A tangent is the vector `base` + t d (`base` alone
// if it has no touch) turned by a quarter turn, with d the displacement. So tangents are linear in
// the time t, and two tangents have the same coefficient of t up to sign, so their cross product
// has no term in the square of t. In doubles the cross product errs by at most 12 rounding units
// (2^-53) of the magnitudes of its terms.
int BlockedArcs::Turn(const ArcDirection& a, const ArcDirection& b) const {
  if (HaveSameLine(a, b)) return 0;
  if (!a.is_tangent && !b.is_tangent) return CrossSign(a.base, b.base);
  const RoundedVector u = Rounded(a);
  const RoundedVector v = Rounded(b);
  const double cross = u.v.x * v.v.y - u.v.y * v.v.x;
  const double magnitude = u.magnitude.x * v.magnitude.y + u.magnitude.y * v.magnitude.x;
  if (std::abs(cross) > 16 * kFilterUnit * magnitude) return Sign(cross);
  if (kHasFilters) {
    const BoundedPairVec2 x = InPairs(a);
    const BoundedPairVec2 y = InPairs(b);
    const BoundedPair exact = x.x * y.y - x.y * y.x;
    if (exact.is_certain()) return exact.sign();
  }
  const auto split = [&](const ArcDirection& u, DyadicVec2& start, DyadicVec2& speed) {
    start = ExactOf(u.base);
    if (!u.is_tangent) return;
    start = QuarterTurn(start);
    if (u.touch) speed = QuarterTurn({motion_.d.x, motion_.d.y});
  };
  const int sign = (a.is_reversed ? -1 : 1) * (b.is_reversed ? -1 : 1);
  DyadicVec2 a0, a1, b0, b1;
  split(a, a0, a1);
  split(b, b0, b1);
  return SignOfLinear(Cross(a0, b0), Cross(a0, b1) + Cross(a1, b0), t_.Exact(motion_)) * sign;
}

// Returns whether u is counter-clockwise of the begin and clockwise of the end of the arc. This
// test suffices because an arc is at most half a turn.
bool BlockedArcs::Contains(const Arc& arc, const ArcDirection& u) const {
  return Turn(arc.begin, u) > 0 && (arc.is_half_turn || Turn(u, arc.end) > 0);
}

bool BlockedArcs::Contains(Vec2 u) const {
  const ArcDirection direction{From(u), false, false, {}};
  for (const Arc& arc : arcs_) {
    if (Contains(arc, direction)) return true;
  }
  return false;
}

// Starts with an arc of blocked directions that contains u, and extends it at both ends by arcs
// that contain the end. Each step adds a different arc unless the arcs cover the whole circle, so
// more steps than arcs mean that all directions are blocked.
std::optional<BlockedArcs::Ends> BlockedArcs::EndsAbout(Vec2 u) const {
  const ArcDirection motion{From(u), false, false, {}};
  const auto holder_of = [&](const ArcDirection& direction) -> const Arc* {
    for (const Arc& arc : arcs_) {
      if (Contains(arc, direction)) return &arc;
    }
    return nullptr;
  };
  const Arc* const start = holder_of(motion);
  if (start == nullptr) return std::nullopt;
  Ends ends{start->begin, start->end};
  size_t steps = 0;
  while (const Arc* next = holder_of(ends.counter_clockwise)) {
    ends.counter_clockwise = next->end;
    if (++steps > arcs_.size()) return std::nullopt;
  }
  steps = 0;
  while (const Arc* next = holder_of(ends.clockwise)) {
    ends.clockwise = next->begin;
    if (++steps > arcs_.size()) return std::nullopt;
  }
  return ends;
}

// Returns whether the dot product of `direction` and u is at least 0. For a tangent (the vector
// `base` + t d, or `base` alone without a touch, turned by a quarter turn, with d the displacement)
// the dot product is linear in the time t.
bool BlockedArcs::IsAlong(const ArcDirection& direction, Vec2 u) const {
  if (!direction.is_tangent) return DotSign(direction.base, From(u)) >= 0;
  const RoundedVector w = Rounded(direction);
  const double rounded = w.v.x * u.x + w.v.y * u.y;
  const double magnitude = w.magnitude.x * std::abs(u.x) + w.magnitude.y * std::abs(u.y);
  if (std::abs(rounded) > 16 * kFilterUnit * magnitude) return rounded > 0;
  const DyadicVec2 base = ExactOf(direction.base);
  const Dyadic dot = Dot(QuarterTurn(base), {u.x, u.y});
  const Dyadic speed = Dyadic(motion_.d.x) * u.y - Dyadic(motion_.d.y) * u.x;
  const int sign = direction.touch ? SignOfLinear(dot, speed, t_.Exact(motion_)) : dot.sign();
  return sign * (direction.is_reversed ? -1 : 1) >= 0;
}

// Compares the cosines of the angles between u and the ends: first their signs, then their squares
// (the squared dot products divided by the squared lengths). A tangent is compared as the rounded
// unit vector along it.
const ArcDirection& BlockedArcs::Nearer(const Ends& ends, Vec2 u) const {
  const auto vector = [&](const ArcDirection& direction) {
    return direction.is_tangent ? From(Unit(direction)) : direction.base;
  };
  const Direction to_a = vector(ends.clockwise);
  const Direction to_b = vector(ends.counter_clockwise);
  const int sign_a = DotSign(to_a, From(u));
  const int sign_b = DotSign(to_b, From(u));
  if (sign_a != sign_b) return sign_a > sign_b ? ends.clockwise : ends.counter_clockwise;
  if (sign_a == 0) return ends.counter_clockwise;
  if (const int order = sign_a * OrderOfCosines(to_a, to_b, u)) {
    return order > 0 ? ends.clockwise : ends.counter_clockwise;
  }
  const DyadicVec2 a = ExactOf(to_a);
  const DyadicVec2 b = ExactOf(to_b);
  const Dyadic dot_a = Dot(a, {u.x, u.y});
  const Dyadic dot_b = Dot(b, {u.x, u.y});
  const int order = sign_a * (dot_a * dot_a * Dot(b, b) - dot_b * dot_b * Dot(a, a)).sign();
  return order > 0 ? ends.clockwise : ends.counter_clockwise;
}

// Returns the unit vector along an edge as the edge's unit normal turned back by a quarter turn.
// The unit vector along a tangent (`direction.is_tangent`) is computed in pairs of doubles and
// rounded once. If that rounding is uncertain, the time is converted exactly to the nearest pair of
// doubles, since another pair within the same error bound might round to another vector.
Vec2 BlockedArcs::Unit(const ArcDirection& direction) const {
  if (!direction.is_tangent) {
    // `normal` is the unit vector along the edge turned a quarter counter-clockwise.
    const Vec2 normal = UnitNormal({direction.base.from, direction.base.to}, 1);
    return {normal.y + 0.0, 0.0 - normal.x};
  }
  const BoundedPairVec2 start = ExactDifference(direction.base.to, direction.base.from);
  const auto unit = [&](const BoundedPair& t) {
    const BoundedPairVec2 d = ExactValue(motion_.d);
    const BoundedPairVec2 w{start.x + t * d.x, start.y + t * d.y};
    const BoundedPair length = SquareRoot(w.x * w.x + w.y * w.y);
    return BoundedPairVec2{(direction.is_reversed ? w.y : -w.y) / length,
                           (direction.is_reversed ? -w.x : w.x) / length};
  };
  const auto rounded = [](const BoundedPairVec2& v) {
    return Vec2{v.x.value.high + 0.0, v.y.value.high + 0.0};
  };
  if (!direction.touch) return rounded(unit(ExactValue(0)));
  if (kHasFilters) {
    if (!pair_) pair_ = t_.Pair(motion_);
    BoundedPair t = *pair_;
    t.error = std::fmax(t.error, 0x1p-96 * t.magnitude());
    const BoundedPairVec2 v = unit(t);
    Vec2 nearest;
    if (RoundToNearest(v.x, v.x.error, nearest.x) && RoundToNearest(v.y, v.y.error, nearest.y)) {
      return nearest;
    }
  }
  return rounded(unit(ToBoundedPair(t_.Exact(motion_))));
}

// For a tangent with a touch, returns the normal of that touch from `RoundNormal`, which has the
// error bound that blocking_arcs.h states for tangents.
Vec2 BlockedArcs::NormalAgainst(const ArcDirection& direction, Vec2 u) const {
  const ArcDirection motion{From(u), false, false, {}};
  const int side = -Turn(direction, motion);
  if (side == 0) return internal::NormalAgainst({}, u);
  if (!direction.is_tangent) {
    return UnitNormal({direction.base.from, direction.base.to}, side);
  }
  if (direction.touch) {
    const Motion motion{motion_.d, motion_.radius, direction.touch->fixed_radius};
    const Vec2 n = RoundNormal(motion, direction.touch->meeting, direction.touch->end);
    const bool is_begin = direction.touch->end == IntervalEnd::kBegin;
    return is_begin ? n : Vec2{0.0 - n.x, 0.0 - n.y};
  }
  const Vec2 unit = Unit(direction);
  return side > 0 ? Vec2{0.0 - unit.y, unit.x} : Vec2{unit.y, 0.0 - unit.x};
}

}  // namespace carom::internal
