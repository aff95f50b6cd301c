// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/sweep_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {
namespace {

// Returns whether the displacement d is at least as long in x as in y. Callers divide by the longer
// coordinate, which is not 0.
bool IsLongerInX(Vec2 d) { return std::abs(d.x) >= std::abs(d.y); }

// Returns the sign of p + q1 sqrt(r1) + q2 sqrt(r2).
int SignWithRoots(const Dyadic& p, const Dyadic& q1, const Dyadic& r1, const Dyadic& q2,
                  const Dyadic& r2) {
  const Dyadic square1 = q1 * q1 * r1;
  const Dyadic square2 = q2 * q2 * r2;
  const int sign1 = square1.sign() == 0 ? 0 : q1.sign();
  const int sign2 = square2.sign() == 0 ? 0 : q2.sign();
  // If the signs of the two roots differ, their sum has the sign of the root with the greater
  // square.
  int sign_roots = sign1 != 0 ? sign1 : sign2;
  if (sign1 * sign2 < 0) sign_roots = sign1 * (square1 - square2).sign();
  const int sign_p = p.sign();
  if (sign_roots == 0 || sign_p == 0 || sign_p == sign_roots) {
    return sign_p != 0 ? sign_p : sign_roots;
  }
  // The sign of p^2 - (q1 sqrt(r1) + q2 sqrt(r2))^2 decides whether p or the sum of the roots is
  // larger in magnitude.
  return sign_p * SignWithRoot(p * p - square1 - square2, Scaled(-(q1 * q2), 1), r1 * r2);
}

// Returns the sign of a - b for two numbers of the form (p + q sqrt(r)) / m, computed over the
// common denominator a.m * b.m > 0.
int CompareRoots(const ExactRoot& a, const ExactRoot& b) {
  return SignWithRoots(a.p * b.m - b.p * a.m, a.q * b.m, a.r, -(b.q * a.m), b.r);
}

}  // namespace

// The time at which two vertices meet is computed by a difference and a quotient, with an error of
// at most 3 rounding units (2^-53); the code allows 8. The error bound for a vertex that meets an
// edge is the bound of Fraction::OfCrossing, with the displacement known exactly.
SweepTime SweepTime::OfTouch(const Motion& motion, const EdgeMeeting& meeting) {
  const Vec2 z{meeting.fixed.a.x - meeting.moving.a.x, meeting.fixed.a.y - meeting.moving.a.y};
  const Vec2 d = motion.d;
  if (!meeting.is_on_fixed_edge() && !meeting.is_on_moving_edge()) {
    const double t = IsLongerInX(d) ? z.x / d.x : z.y / d.y;
    const double error = 8 * kFilterUnit * std::abs(t);
    return SweepTime(Kind::kTouch, meeting, t - error, t + error);
  }
  const Segment side = meeting.side();
  const Vec2 s{side.b.x - side.a.x, side.b.y - side.a.y};
  const RoundedCross n(z.x * s.y, z.y * s.x);
  const RoundedCross m(d.x * s.y, d.y * s.x);
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  if (std::abs(m.value) > 2 * m.error()) {
    const double t = n.value / m.value;
    const double bound = (n.error() + std::abs(t) * m.error()) / (std::abs(m.value) - m.error());
    const double error = bound * (1 + 8 * kFilterUnit) + 2 * kFilterUnit * std::abs(t);
    low = t - error - 2 * kFilterUnit * std::abs(t);
    high = t + error + 2 * kFilterUnit * std::abs(t);
  }
  return SweepTime(Kind::kTouch, meeting, low, high);
}

// Stores the double that the time rounds up to as both bounds, `low_` and `high_`. Times with
// different doubles have the order of the doubles, so only equal doubles need the exact comparison.
SweepTime SweepTime::OfRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end,
                                  double rounded_up) {
  const Kind kind = end == IntervalEnd::kBegin ? Kind::kRoundBegin : Kind::kRoundEnd;
  SweepTime t(kind, meeting, rounded_up, rounded_up);
  t.fixed_radius_ = motion.fixed_radius;
  return t;
}

// Equal features define equal times, so this comparison finds most exact ties without arithmetic.
bool SweepTime::HasSource(const SweepTime& other) const {
  return kind_ == other.kind_ && fixed_radius_ == other.fixed_radius_ &&
         meeting_.fixed.a == other.meeting_.fixed.a && meeting_.fixed.b == other.meeting_.fixed.b &&
         meeting_.moving.a == other.meeting_.moving.a &&
         meeting_.moving.b == other.meeting_.moving.b;
}

bool SweepTime::SharesSide(const SweepTime& other) const {
  return kind_ == other.kind_ && is_round() && fixed_radius_ == other.fixed_radius_ &&
         meeting_.is_on_fixed_edge() && meeting_.fixed.a == other.meeting_.fixed.a &&
         meeting_.fixed.b == other.meeting_.fixed.b;
}

// Calls use(n, m) with exact expansions n and m > 0 such that the time is n / m, for a time at
// which shapes without radii meet.
template <class Use>
auto SweepTime::WithQuotient(const Motion& motion, Use use) const {
  Expansion<16> n;
  Expansion<8> m;
  const Vec2 d = motion.d;
  if (kind_ != Kind::kTouch) {
    // Times of kind kTouch are 0 or at least 2^-494 (see Fraction), so 2^-500 may stand for any
    // smaller positive double that is compared with them.
    n.Append(low_ == 0 ? 0 : std::max(low_, 0x1p-500));
    m.Append(1);
  } else if (!meeting_.is_on_fixed_edge() && !meeting_.is_on_moving_edge()) {
    const bool x = IsLongerInX(d);
    const TwoDoubles z = x ? TwoDiff(meeting_.fixed.a.x, meeting_.moving.a.x)
                           : TwoDiff(meeting_.fixed.a.y, meeting_.moving.a.y);
    n.Append(z.low);
    n.Append(z.high);
    m.Append(x ? d.x : d.y);
  } else {
    const Segment side = meeting_.side();
    n = ExactCross(meeting_.moving.a, meeting_.fixed.a, side.a, side.b);
    m = Difference(side.b.y, side.a.y) * d.x - Difference(side.b.x, side.a.x) * d.y;
  }
  return m.sign() < 0 ? use(-n, -m) : use(n, m);
}

// Let z_a and z_b be the vectors from the moving vertices of a and b to the fixed vertex, s the
// vector of the side and d the displacement. The difference of the times is ((z_a - z_b) x s) / (d
// x s), and d x s > 0: the sign of the numerator decides.
int SweepTime::CompareOnSide(const SweepTime& a, const SweepTime& b) {
  const Segment& side = a.meeting_.fixed;
  return CrossSign(a.meeting_.moving.a, b.meeting_.moving.a, side.a, side.b);
}

// Compares the intervals of doubles first; if they overlap, tests for equal features, then for a
// common side of an edge, and then compares exact quotients (both radii 0) or roots.
int SweepTime::Compare(const Motion& motion, const SweepTime& a, const SweepTime& b) {
  if (a.high_ < b.low_) return -1;
  if (a.low_ > b.high_) return 1;
  if (a.HasSource(b)) return 0;
  if (a.SharesSide(b)) return CompareOnSide(a, b);
  if (motion.is_round() || a.is_round() || b.is_round()) {
    return CompareRoots(a.Exact(motion), b.Exact(motion));
  }
  return a.WithQuotient(motion, [&](const auto& a_n, const auto& a_m) {
    return b.WithQuotient(
        motion, [&](const auto& b_n, const auto& b_m) { return (a_n * b_m - b_n * a_m).sign(); });
  });
}

double SweepTime::Rounded(const Motion& motion) const {
  if (kind_ != Kind::kTouch) return high_;
  return WithQuotient(motion, [](const auto& n, const auto& m) { return RoundedQuotient(n, m); }) +
         0.0;
}

// Returns the exact time as (p + q sqrt(r)) / m; q and r are 0 unless `OfRoundTouch` made the time.
ExactRoot SweepTime::Exact(const Motion& motion) const {
  const Motion own{motion.d, motion.radius, fixed_radius_};
  switch (kind_) {
    case Kind::kZero:
      return {0.0, 0.0, 0.0, 1.0};
    case Kind::kOne:
      return {1.0, 0.0, 0.0, 1.0};
    case Kind::kRoundBegin:
      return ExactRoundTouch(own, meeting_, IntervalEnd::kBegin);
    case Kind::kRoundEnd:
      return ExactRoundTouch(own, meeting_, IntervalEnd::kEnd);
    case Kind::kValue:
    case Kind::kTouch:
      break;
  }
  return WithQuotient(motion, [](const auto& n, const auto& m) {
    ExactRoot root;
    for (int i = 0; i < n.size; ++i) root.p = root.p + n.part[i];
    for (int i = 0; i < m.size; ++i) root.m = root.m + m.part[i];
    return root;
  });
}

BoundedPair SweepTime::Pair(const Motion& motion) const {
  if (!is_round()) return ToBoundedPair(Exact(motion));
  const auto end = kind_ == Kind::kRoundBegin ? IntervalEnd::kBegin : IntervalEnd::kEnd;
  return RoundTouchTime({motion.d, motion.radius, fixed_radius_}, meeting_, end);
}

// With z the vector from the moving to the fixed vertex, a quarter of the discriminant of the
// quadratic equation |t d - z|^2 = radius^2 in t is |d|^2 radius^2 - (z x d)^2.
ExactRoot ExactRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end) {
  const DyadicVec2 d{motion.d.x, motion.d.y};
  const DyadicVec2 z = DyadicDifference(meeting.fixed.a, meeting.moving.a);
  const Dyadic radius = motion.ExactRadius();
  const double sign = end == IntervalEnd::kBegin ? -1 : 1;
  if (!meeting.is_on_fixed_edge() && !meeting.is_on_moving_edge()) {
    const Dyadic length2 = Dot(d, d);
    const Dyadic cross = Cross(z, d);
    return {Dot(d, z), sign, length2 * radius * radius - cross * cross, length2};
  }
  const Segment side = meeting.side();
  const DyadicVec2 s = DyadicDifference(side.b, side.a);
  return {Cross(z, s), sign * radius, Dot(s, s), Cross(d, s)};
}

// The length of an edge that is parallel to a coordinate axis is |s.x| or |s.y| for its vector s, a
// factor that numerator and denominator of the time share, so it is left out.
RoundQuotient AxisParallelTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end) {
  const Segment side = meeting.side();
  const bool is_upright = side.a.x == side.b.x;
  const bool is_positive = is_upright ? side.b.y > side.a.y : side.b.x < side.a.x;
  const auto radius = Expand(TwoSum(motion.radius, motion.fixed_radius));
  const auto z = is_upright ? Difference(meeting.fixed.a.x, meeting.moving.a.x)
                            : Difference(meeting.fixed.a.y, meeting.moving.a.y);
  const double m = is_upright ? motion.d.x : motion.d.y;
  const auto n = (is_positive ? z : -z) + (end == IntervalEnd::kBegin ? -radius : radius);
  return {ToBoundedPair(n), ExactValue(is_positive ? m : -m)};
}

// Computes (p + q sqrt(r)) / m with the members that `ExactRoundTouch` returns. If p and the root
// have different signs, so that their sum cancels, divides the exact numerator p^2 - q^2 r by p - q
// sqrt(r), as `ToBoundedPair(ExactRoot)` does. For two vertices that numerator is |d|^2 (|z|^2 -
// radius^2), with z the vector between the vertices at the start, and the factor |d|^2 is left out,
// as m = |d|^2.
BoundedPair RoundTouchTime(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end) {
  const auto radius = Expand(TwoSum(motion.radius, motion.fixed_radius));
  const auto zx = Difference(meeting.fixed.a.x, meeting.moving.a.x);
  const auto zy = Difference(meeting.fixed.a.y, meeting.moving.a.y);
  const Vec2 d = motion.d;
  const auto quotient = [&](const BoundedPair& p, BoundedPair root, const BoundedPair& m,
                            const auto& cancelled) {
    if (end == IntervalEnd::kBegin) root = -root;
    if (p.sign() * root.sign() >= 0) return (p + root) / m;
    return cancelled(p - root);
  };
  if (!meeting.is_on_fixed_edge() && !meeting.is_on_moving_edge()) {
    const auto across = zx * d.y - zy * d.x;
    const auto length2 = Square(d.x) + Square(d.y);
    const BoundedPair root =
        SquareRoot(ToBoundedPair(length2 * (radius * radius) - across * across));
    return quotient(
        ToBoundedPair(zx * d.x + zy * d.y), root, ToBoundedPair(length2),
        [&](BoundedPair sum) { return ToBoundedPair(zx * zx + zy * zy - radius * radius) / sum; });
  }
  const Segment side = meeting.side();
  const auto sx = Difference(side.b.x, side.a.x);
  const auto sy = Difference(side.b.y, side.a.y);
  const auto p = zx * sy - zy * sx;
  const auto length2 = sx * sx + sy * sy;
  const BoundedPair m = ToBoundedPair(sy * d.x - sx * d.y);
  const BoundedPair root = ToBoundedPair(radius) * SquareRoot(ToBoundedPair(length2));
  return quotient(ToBoundedPair(p), root, m, [&](BoundedPair sum) {
    return ToBoundedPair(p * p - length2 * (radius * radius)) / (sum * m);
  });
}

BoundedPair ToBoundedPair(const Dyadic& value) {
  const double high = NearestDouble(value);
  return {{high, NearestDouble(value - high)}, kPairError * std::abs(high)};
}

// If p and the root q sqrt(r) have different signs, their sum is computed as (p^2 - q^2 r) / (p - q
// sqrt(r)): this numerator is exact before it is rounded, so nothing cancels.
BoundedPair ToBoundedPair(const ExactRoot& value) {
  const BoundedPair p = ToBoundedPair(value.p);
  const BoundedPair root = ToBoundedPair(value.q) * SquareRoot(ToBoundedPair(value.r));
  const BoundedPair m = ToBoundedPair(value.m);
  if (p.sign() * root.sign() >= 0) return (p + root) / m;
  return ToBoundedPair(value.p * value.p - value.q * value.q * value.r) / ((p - root) * m);
}

// Bisects the bit patterns of doubles: non-negative doubles have the order of their bit patterns. A
// double T is at least the value exactly if p - m T + q sqrt(r) <= 0, which `SignWithRoot` decides.
// The product m T is at least 2^(-384 - 1074), so its square is within the range of `Dyadic`.
double RoundedUp(const ExactRoot& value, double low, double high) {
  const auto reached = [&](double t) {
    return SignWithRoot(value.p - value.m * t, value.q, value.r) <= 0;
  };
  if (!(high <= 1)) {
    high = 1;
    if (!reached(high)) return 2;
  }
  auto last = std::bit_cast<uint64_t>(high);
  auto first = low > 0 ? std::bit_cast<uint64_t>(low) : 0;
  while (first < last) {
    const uint64_t middle = first + (last - first) / 2;
    if (reached(std::bit_cast<double>(middle))) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return std::bit_cast<double>(last);
}

}  // namespace carom::internal
