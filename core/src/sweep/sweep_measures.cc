// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/sweep_measures.h"

#include <cmath>

#include "carom/predicates.h"
#include "numeric/bounded.h"
#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/approach.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// Returns p + d t - step. The rounding errors of the product and of both sums are added at the end,
// so the result is in effect rounded once.
double MovedCoordinate(double p, double d, double t, double step) {
  const TwoDoubles moved = TwoProduct(d, t);
  const TwoDoubles from = TwoSum(p, moved.high);
  const TwoDoubles sum = TwoSum(from.high, -step);
  return sum.high + (sum.low + (from.low + moved.low)) + 0.0;
}

// Returns the sign of the cross product d x (edge.b - edge.a).
int SideOf(const Segment& edge, Vec2 d) {
  return (Difference(edge.b.y, edge.a.y) * d.x - Difference(edge.b.x, edge.a.x) * d.y).sign();
}

// A fixed edge, and a moving edge displaced exactly by `shift`.
class ExactPair {
 public:
  ExactPair(const Segment& fixed, const Segment& moving, Vec2 shift, double radius)
      : fixed_(fixed),
        e_{{fixed.a.x, fixed.a.y}, {fixed.b.x, fixed.b.y}},
        f_{Shifted(moving.a, shift), Shifted(moving.b, shift)},
        radius2_(Dyadic(radius) * radius) {}

  // Returns a point of the fixed edge that is at most the radius away from the moving edge: an end
  // of the fixed edge, or the point of the fixed edge nearest to an end of the moving edge, or the
  // crossing of both edges.
  std::optional<Vec2> SharedPoint() const {
    if (IsNear(e_.a, f_)) return fixed_.a;
    if (IsNear(e_.b, f_)) return fixed_.b;
    const DyadicVec2 e = e_.b - e_.a;
    const DyadicVec2 f = f_.b - f_.a;
    const Dyadic length2 = Dot(e, e);
    for (const DyadicVec2& p : {f_.a, f_.b}) {
      if (length2.sign() != 0 && IsNear(p, e_)) return AlongFixed(Dot(p - e_.a, e), length2);
    }
    const Dyadic slope = Cross(e, f);
    const int sides = Cross(e, f_.a - e_.a).sign() * Cross(e, f_.b - e_.a).sign();
    const int other_sides = Cross(f, e_.a - f_.a).sign() * Cross(f, e_.b - f_.a).sign();
    if (slope.sign() == 0 || sides > 0 || other_sides > 0) return std::nullopt;
    return AlongFixed(Cross(f_.a - e_.a, f), slope);
  }

 private:
  struct Line {
    DyadicVec2 a;
    DyadicVec2 b;
  };

  static DyadicVec2 Shifted(Vec2 p, Vec2 shift) {
    return {Dyadic(p.x) + shift.x, Dyadic(p.y) + shift.y};
  }

  // Returns whether p is at most the radius away from the segment `line`. If the foot of p on the
  // line through the segment lies between the ends of the segment, compares the distance of p from
  // the line, else the distance of p from the nearer end. Compares squares of distances.
  bool IsNear(const DyadicVec2& p, const Line& line) const {
    const DyadicVec2 s = line.b - line.a;
    const DyadicVec2 from_a = p - line.a;
    const DyadicVec2 from_b = p - line.b;
    if (Dot(from_a, s).sign() <= 0) return Dot(from_a, from_a) <= radius2_;
    if (Dot(from_b, s).sign() >= 0) return Dot(from_b, from_b) <= radius2_;
    const Dyadic cross = Cross(s, from_a);
    return cross * cross <= radius2_ * Dot(s, s);
  }

  // Returns the point of the fixed edge at the fraction n / m of its length, clamped so that
  // rounding does not put it beyond the ends.
  Vec2 AlongFixed(const Dyadic& n, const Dyadic& m) const {
    return PointAt(fixed_, std::fmin(1, std::fmax(0, NearestQuotient(n, m))));
  }

  const Segment& fixed_;
  Line e_;
  Line f_;
  Dyadic radius2_;
};

// Returns the point of an edge at the fraction n / m of its length, clamped so that rounding does
// not put it beyond the ends. exact() returns the correctly rounded fraction; it is called if the
// errors of n and m leave the rounding uncertain.
template <class Exact>
Vec2 PointAlong(const Segment& edge, const BoundedPair& n, const BoundedPair& m,
                const Exact& exact) {
  double t = 0;
  if (!RoundToNearest(n / m, 0, t)) t = exact();
  return PointAt(edge, std::fmin(1, std::fmax(0, t)));
}

// `FootOn` returns the point of edge e nearest to p, `CrossingOn` the point at which edge e crosses
// f.
Vec2 FootOn(const Segment& e, Vec2 p) {
  const BoundedPairVec2 s = ExactDifference(e.b, e.a);
  return PointAlong(e, Dot(ExactDifference(p, e.a), s), Dot(s, s), [&] {
    return RoundedQuotient(ExactDot(e.a, p, e.a, e.b), ExactDot(e.a, e.b, e.a, e.b));
  });
}
Vec2 CrossingOn(const Segment& e, const Segment& f) {
  const BoundedPairVec2 s = ExactDifference(f.b, f.a);
  const BoundedPair n = Cross(ExactDifference(f.a, e.a), s);
  return PointAlong(e, n, Cross(ExactDifference(e.b, e.a), s), [&] {
    return RoundedQuotient(ExactCross(e.a, f.a, f.a, f.b), ExactCross(e.a, e.b, f.a, f.b));
  });
}

// Returns the point that `ExactPair::SharedPoint` returns for a shift of 0. All coordinates are
// doubles then, so that the predicates with filters apply.
std::optional<Vec2> SharedPointInPlace(const Segment& e, const Segment& f, double radius) {
  for (const Vec2 end : {e.a, e.b}) {
    if (CompareDistance(f, Circle{end, radius}) <= 0) return end;
  }
  for (const Vec2 end : {f.a, f.b}) {
    if (e.a == e.b || CompareDistance(e, Circle{end, radius}) > 0) continue;
    return FootOn(e, end);
  }
  const bool cross = CrossSign(e.a, e.b, f.a, f.b) != 0 &&
                     Orientation(e.a, e.b, f.a) * Orientation(e.a, e.b, f.b) <= 0 &&
                     Orientation(f.a, f.b, e.a) * Orientation(f.a, f.b, e.b) <= 0;
  if (!cross) return std::nullopt;
  return CrossingOn(e, f);
}

// Returns the point of `axis` that is nearest to `other`, rounded to doubles. The two segments must
// not share a point.
Vec2 NearestOn(const Segment& axis, const Segment& other) {
  const Approach ends[] = {Approach(axis.a, other), Approach(axis.b, other),
                           Approach(other.a, axis), Approach(other.b, axis)};
  const Approach* least = &ends[0];
  for (const Approach& end : ends) {
    if (Compare(end, *least) < 0) least = &end;
  }
  return least < &ends[2] ? least->vertex : NearestPoint(*least);
}

}  // namespace

Vec2 PointOnPath(Vec2 p, Vec2 d, double t, Vec2 step) {
  return {MovedCoordinate(p.x, d.x, t, step.x), MovedCoordinate(p.y, d.y, t, step.y)};
}

Segment SeparatingEdge(const EdgeMeeting& meeting, const Segment& fixed, const Segment& moving,
                       Vec2 d) {
  if (meeting.is_on_fixed_edge()) return fixed;
  if (meeting.is_on_moving_edge()) return moving;
  if (fixed.a == fixed.b) return SideOf(moving, d) != 0 ? moving : Segment{};
  if (moving.a == moving.b) return SideOf(fixed, d) != 0 ? fixed : Segment{};
  if (ExactCross(fixed.a, fixed.b, moving.a, moving.b).sign() != 0) return {};
  // The four differences of a fixed and a moving vertex of parallel edges lie on a segment: while
  // the moving edge moves along d, the edges share more than a point at some time if the line
  // through 0 along d passes strictly between the ends of that segment.
  bool left = false;
  bool right = false;
  for (const Vec2 q : {fixed.a, fixed.b}) {
    for (const Vec2 p : {moving.a, moving.b}) {
      const int side = SideOf({p, q}, d);
      left = left || side > 0;
      right = right || side < 0;
    }
  }
  return left && right ? fixed : Segment{};
}

Vec2 NormalAgainst(const Segment& edge, Vec2 d) {
  if (edge.a == edge.b) return UnitNormal({{0, 0}, {-d.y, d.x}}, 1);
  return UnitNormal(edge, SideOf(edge, d));
}

// For a vertex on an edge, the normal is that of the edge, against the displacement d at the begin
// and along d at the end. The second argument of `UnitNormal` is the sign of s x normal, with s the
// vector of `side()`, and d x s > 0. For two vertices, let z be the vector from the moving to the
// fixed vertex at the start, and w = t d - z: w has the length `radius`, the dot product w . d is
// the root of the discriminant, negative at the begin and positive at the end of the interval, and
// the cross product w x d is -(z x d). These two products determine w, as d and (d.y, -d.x) are
// perpendicular. The exact normal is rounded from the nearest pairs of doubles; the filter decides
// only if all pairs within its error round to one normal.
Vec2 RoundNormal(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end) {
  if (meeting.is_on_fixed_edge() || meeting.is_on_moving_edge()) {
    return UnitNormal(meeting.side(), end == IntervalEnd::kBegin ? 1 : -1);
  }
  const auto normal = [&](const BoundedPair& cross, const BoundedPair& discriminant,
                          const BoundedPair& length2) {
    const BoundedPair root = SquareRoot(discriminant);
    const BoundedPair along = end == IntervalEnd::kBegin ? -root : root;
    const BoundedPair radius{TwoSum(motion.radius, motion.fixed_radius), 0};
    const BoundedPair scale = length2 * radius;
    const BoundedPairVec2 d = ExactValue(motion.d);
    return BoundedPairVec2{(along * d.x - cross * d.y) / scale,
                           (along * d.y + cross * d.x) / scale};
  };
  if (kHasFilters) {
    const auto radius = Expand(TwoSum(motion.radius, motion.fixed_radius));
    const auto across = Difference(meeting.fixed.a.x, meeting.moving.a.x) * motion.d.y -
                        Difference(meeting.fixed.a.y, meeting.moving.a.y) * motion.d.x;
    const auto length2 = Square(motion.d.x) + Square(motion.d.y);
    const auto discriminant = length2 * (radius * radius) - across * across;
    const BoundedPairVec2 v =
        normal(ToBoundedPair(across), ToBoundedPair(discriminant), ToBoundedPair(length2));
    Vec2 nearest;
    if (RoundToNearest(v.x, v.x.error, nearest.x) && RoundToNearest(v.y, v.y.error, nearest.y)) {
      return nearest;
    }
  }
  const ExactRoot t = ExactRoundTouch(motion, meeting, end);
  const DyadicVec2 z = DyadicVec2{meeting.fixed.a.x, meeting.fixed.a.y} -
                       DyadicVec2{meeting.moving.a.x, meeting.moving.a.y};
  const BoundedPairVec2 v = normal(ToBoundedPair(Cross(z, {motion.d.x, motion.d.y})),
                                   ToBoundedPair(t.r), ToBoundedPair(t.m));
  return {v.x.value.high + 0.0, v.y.value.high + 0.0};
}

std::optional<Vec2> SharedPoint(const Segment& fixed, const Segment& moving, Vec2 shift,
                                double radius) {
  if (shift == Vec2{}) return SharedPointInPlace(fixed, moving, radius);
  return ExactPair(fixed, moving, shift, radius).SharedPoint();
}

// Returns the nearest point of a's axis to b's axis, moved towards b's axis by a's radius, or less
// if b's axis is nearer.
Vec2 SharedPointOf(const Capsule& a, const Capsule& b) {
  if (Intersects(a.axis, b.axis)) return CommonPoint(a.axis, b.axis);
  const Vec2 from = NearestOn(a.axis, b.axis);
  const Vec2 to = NearestOn(b.axis, {from, from});
  const Vec2 step{to.x - from.x, to.y - from.y};
  const double length = std::sqrt(step.x * step.x + step.y * step.y);
  const double share = length <= a.radius ? 1 : a.radius / length;
  return {from.x + share * step.x + 0.0, from.y + share * step.y + 0.0};
}

}  // namespace carom::internal
