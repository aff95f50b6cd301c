// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "shape/fraction.h"

#include <algorithm>
#include <cmath>

#include "numeric/double_double.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// Returns `t`, an end of a line's range [t_min, t_max], clamped to [2^-500, 2^500] unless it is 0.
// The parameter of a vertex or a crossing on the line is 0 or has a magnitude in [2^-494, 2^494],
// so clamping changes no comparison with `t`, and it keeps the expansions of products with `t`
// exact.
double Comparable(double t) { return t == 0 ? 0 : std::clamp(t, 0x1p-500, 0x1p500); }

}  // namespace

bool Fraction::SameSource(const Fraction& other) const {
  if (kind_ != other.kind_) return false;
  if (kind_ == Kind::kValue) return low_ == other.low_;
  if (v_ == other.v_ && w_ == other.w_) return true;
  return kind_ == Kind::kCrossing && v_ == other.w_ && w_ == other.v_;
}

// Returns use(n, d), called with expansions n and d such that this fraction is exactly n / d, and d
// > 0.
template <class Use>
auto Fraction::WithExact(const Line& line, Use use) const {
  if (kind_ == Kind::kCrossing) {
    const auto n = ExactCross(line.origin, v_, v_, w_);
    const auto d = line.ExactCross(v_, w_);
    return d.sign() < 0 ? use(-n, -d) : use(n, d);
  }
  // The numerator and denominator of a vertex or a value need fewer than 16 components, but have
  // the type of the expansions of a crossing, so that `use` gets one type. The unused capacity
  // costs nothing.
  Expansion<16> n;
  Expansion<16> d;
  if (kind_ == Kind::kVertex) {
    const DominantAxis axis(line);
    const double from = axis.Along(line.origin);
    const double at = axis.Along(v_);
    const TwoDoubles direction = axis.Along(line);
    const double sign = direction.high > 0 ? 1 : -1;
    const TwoDoubles numerator = TwoDiff(sign * at, sign * from);
    n.Append(numerator.low);
    n.Append(numerator.high);
    d.Append(sign * direction.low);
    d.Append(sign * direction.high);
  } else {
    n.Append(Comparable(low_));
    d.Append(1);
  }
  return use(n, d);
}

// Returns the sign of this fraction minus t. The fraction must be that of a vertex or a crossing.
// For t = 0 or 1 (the ends of a segment, and the start of most rays), a vertex does not need
// `WithExact`: the vertex's position along the dominant axis and the direction are pairs of
// doubles, which are compared part by part.
int Fraction::CompareWith(const Line& line, double t) const {
  if (kind_ == Kind::kVertex && (t == 0 || t == 1)) {
    const DominantAxis axis(line);
    const TwoDoubles d = t == 0 ? TwoDoubles{0, 0} : axis.Along(line);
    const TwoDoubles n = TwoDiff(axis.Along(v_), axis.Along(line.origin));
    const bool equal = n.high == d.high && n.low == d.low;
    const bool less = n.high != d.high ? n.high < d.high : n.low < d.low;
    return equal ? 0 : (less == axis.is_forward() ? -1 : 1);
  }
  if (t == 0 && ExactCross(line.origin, v_, v_, w_).sign() == 0) return 0;
  return WithExact(line, [t](const auto& n, const auto& d) {
    return t == 0 ? n.sign() : (n - d * Comparable(t)).sign();
  });
}

// Returns the result of `Within` (this fraction, and whether it is before, in or after the line's
// range [t_min, t_max]) if the interval [low_, high_] contains an end of the line. A fraction that
// equals t_min or t_max becomes `Start` or `End`, so that each end has one representation.
Meeting Fraction::NearEnd(const Line& line) const {
  if (low_ <= line.t_min) {
    const int order = CompareWith(line, line.t_min);
    if (order <= 0) return {Start(line), order};
  }
  if (high_ >= line.t_max && line.t_max < HUGE_VAL) {
    const int order = CompareWith(line, line.t_max);
    if (order >= 0) return {End(line), order};
  }
  const double low = std::max(low_, line.t_min);
  const double high = std::min(high_, line.t_max);
  return {Fraction(kind_, v_, w_, low, high), 0};
}

int Fraction::ExactCompare(const Line& line, const Fraction& a, const Fraction& b) {
  if (a.SameSource(b)) return 0;
  return a.WithExact(line, [&](const auto& a_n, const auto& a_d) {
    return b.WithExact(
        line, [&](const auto& b_n, const auto& b_d) { return (a_n * b_d - b_n * a_d).sign(); });
  });
}

double Fraction::ExactRounded(const Line& line) const {
  if (kind_ <= Kind::kValue) return low_;
  return WithExact(line, [](const auto& n, const auto& d) { return RoundedQuotient(n, d); });
}

// Returns an interval that contains the fraction t, around q + c with c = t - q, for a q of 26 bits
// near t (any q is valid). Let u = 2^-53. For a crossing with an edge v->w,
//     t - q = r / d with r = (v - origin - q direction) x (w - v), d = direction x (w - v).
// Let h = 2^-26: the low half of a `Split` double is at most h of the double, and products of
// halves are exact. In each coordinate, let p be v - origin minus q direction, z the sum of the
// magnitudes of these two terms, and e the magnitude of the edge's other coordinate.
//   - p is a pair of doubles, plus a low half and low parts of (1 + 2^-20) hz in all. The three
//     sums of the low parts err by 3.1uh z.
//   - In the product p e, the error of p and the omitted product of low parts make 4.1uh ze. The
//     products with one low half are 2h ze, and 3.1h ze with all other low products: their four
//     sums and a product err by 8.1uh ze.
//   - In the difference of both coordinates, with S the sum of ze over both: the difference of
//     the low parts errs by 3.1uh S, the difference of the high parts by u|r| + 3.1uh S, and the
//     sum of the two differences by u|r|.
// So r errs by 19uh S + 2u|r| in all. d in doubles errs by kCrossError times the magnitude m of its
// products. If |d| is at least 16 times that error, d is within 1/15 of itself; then c = r / d errs
// by 21uh S / |d| + 6u|c| m / |d|, its rounding by 2u|c|, and the bounds of the interval by u|c|
// and less. The factors 32 and 16 in the code cover these errors. A vertex on the line has the same
// derivation in one coordinate, without e. Differences and the direction are 0 or have magnitudes
// in [2^-192, 2^54]. With q in [2^-200, 2^200] all terms are multiples of 2^-840 and S is above
// 2^-600, so nothing underflows or overflows.
Interval Fraction::Refined(const Line& line) const {
  constexpr double kLow = 32 * kFilterUnit * 0x1p-26;
  const double middle = 0.5 * (low_ + high_);
  if (!(middle > 0x1p-200 && middle < 0x1p200)) return {-HUGE_VAL, HUGE_VAL};
  const double scaled = kSplitter * middle;
  const double q = scaled - (scaled - middle);
  const Lanes v = ToLanes(v_);
  const TwoLanes direction = ToLanes(line.dx, line.dy);
  const TwoLanes halves = Split(direction.high);
  const TwoLanes to_v = TwoDiff(v, ToLanes(line.origin));
  const Lanes step = halves.high * q;
  TwoLanes p = TwoDiff(to_v.high, step);
  p.low += (to_v.low - halves.low * q) - direction.low * q;
  const Lanes scale = Abs(to_v.high) + Abs(step);
  if (kind_ == Kind::kVertex) {
    const int axis = DominantAxis(line).is_x() ? 0 : 1;
    const double inverse = 1 / direction.high[axis];
    const double c = (p.high[axis] + p.low[axis]) * inverse;
    const double bound = 16 * kFilterUnit * std::abs(c) + kLow * scale[axis] * std::abs(inverse);
    return {q + (c - bound), q + (c + bound)};
  }
  const TwoLanes edge = TwoDiff(ToLanes(w_), v);
  const Lanes e = Swapped(edge.high);
  const Lanes products = direction.high * e;
  const double d = products[0] - products[1];
  const double d_scale = std::abs(products[0]) + std::abs(products[1]);
  if (!(std::abs(d) > 16 * kCrossError * d_scale)) return {-HUGE_VAL, HUGE_VAL};
  const double inverse = 1 / d;
  const TwoLanes p_halves = Split(p.high);
  const TwoLanes e_halves = Split(e);
  const Lanes high = p_halves.high * e_halves.high;
  const Lanes low = (p_halves.high * e_halves.low + p_halves.low * e_halves.high) +
                    (p.low * e + (p_halves.low * e_halves.low + p.high * Swapped(edge.low)));
  const double r = (high[0] - high[1]) + (low[0] - low[1]);
  const Lanes r_scale = scale * Abs(e);
  const double c = r * inverse;
  const double bound = std::abs(inverse) * (16 * kFilterUnit * d_scale * std::abs(c) +
                                            kLow * (r_scale[0] + r_scale[1]));
  return {q + (c - bound), q + (c + bound)};
}

// Returns the double nearest to the fraction. Rounding is monotonic: if both ends of the interval
// of `Refined` round to one double, every number in the interval rounds to it, even in a tie.
// Otherwise exact arithmetic decides.
double Fraction::Rounded(const Line& line) const {
  if (kind_ <= Kind::kValue) return low_;
  const Interval t = Refined(line);
  return t.low == t.high ? t.low : ExactRounded(line);
}

// The leading pairs of numerator and denominator and their quotient have relative errors of 2^-100.
TwoDoubles Fraction::Pair(const Line& line) const {
  if (kind_ <= Kind::kValue) return {low_, 0};
  return WithExact(
      line, [](const auto& n, const auto& d) { return Divide(LeadingPair(n), LeadingPair(d)); });
}

Vec2 Fraction::Point(const Line& line, double rounded) const {
  return kind_ == Kind::kVertex ? v_ : PointAt(line, rounded);
}

}  // namespace carom::internal
