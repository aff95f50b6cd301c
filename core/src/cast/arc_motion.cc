// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/arc_motion.h"

#include <algorithm>
#include <cmath>

#include "numeric/double_double.h"
#include "numeric/expansion.h"

namespace carom::internal {
namespace {

// The units of work that `ExactOf` counts on the meter when it makes an `ExactTime` (a time as an
// exact root of a quadratic), since making and using an `ExactTime` take a few microseconds.
constexpr uint64_t kUnitsOfExactTime = 8;

BoundedDouble Exactly(double value) { return {value, 0}; }

BoundedDouble Cross(BoundedDouble ax, BoundedDouble ay, BoundedDouble bx, BoundedDouble by) {
  return ax * by - ay * bx;
}

Dyadic Cross(const Dyadic& ax, const Dyadic& ay, const Dyadic& bx, const Dyadic& by) {
  return ax * by - ay * bx;
}

// Returns f(t) = c + b t + a t^2/2, or the derivative of f of the given order at t.
BoundedDouble Evaluate(const Quadratic& f, BoundedDouble t, int order) {
  if (order == 2) return f.a;
  if (order == 1) return f.b + f.a * t;
  return f.c + t * (f.b + f.a * (t * Exactly(0.5)));
}

// Returns sqrt d for d >= 0, with a relative error of at most 2^-100: the square root, as a pair of
// doubles, of the leading 105 or 106 bits of d. Dropping the other bits changes d by at most 2^-104
// of its value. The two doubles of the result span at most 164 bits.
Dyadic RoundedRoot(const Dyadic& d) {
  if (d.sign() == 0) return {};
  int excess = static_cast<int>(boost::multiprecision::msb(d.integer())) - 105;
  if ((d.exponent() + excess) % 2 != 0) ++excess;
  const Dyadic::Integer leading = excess > 0 ? d.integer() >> static_cast<unsigned>(excess)
                                             : d.integer() << static_cast<unsigned>(-excess);
  const auto high = static_cast<uint64_t>(leading >> 53);
  const Dyadic::Integer low = leading - (Dyadic::Integer(high) << 53);
  const TwoDoubles root = SquareRoot(FastTwoSum(std::ldexp(static_cast<double>(high), 53),
                                                static_cast<double>(static_cast<uint64_t>(low))));
  return Scaled(Dyadic(root.high) + root.low, (d.exponent() + excess) / 2);
}

struct Range {
  double low;
  double high;
};

// Returns a range, rounded outward, that contains the coordinate p + v t + a t^2/2 for all t in [0,
// end]. The coordinate is least and greatest at t = 0, at t = end, or at the turning point t =
// -v/a, where its value is p - v^2/(2 a), if the turning point lies in [0, end].
Range RangeUntil(double p, double v, double a, double end) {
  Range range{p, p};
  const auto hold = [&](BoundedDouble value) {
    range.low = std::min(range.low, value.low());
    range.high = std::max(range.high, value.high());
  };
  const Quadratic x{Exactly(a), Exactly(v), Exactly(p), Quadratic::Kind::kX, {}, {}};
  hold(Evaluate(x, Exactly(end), 0));
  if (a == 0 || v == 0 || (a > 0) == (v > 0)) return range;
  const BoundedDouble turn = Exactly(-v) / Exactly(a);
  if (turn.low() <= end) hold(Exactly(p) + Exactly(v) * turn * Exactly(0.5));
  return range;
}

}  // namespace

// The coefficients of a `Quadratic`, without rounding.
struct ArcMotion::Exact {
  Dyadic a, b, c;
};

// The exact form of an `ArcTime`, a root of a quadratic: (n + s sqrt d) / m with m > 0 and s in
// {-1, 0, 1}.
struct ArcMotion::ExactTime {
  Dyadic n, d, m;
  int s;
};

ArcMotion::ArcMotion(Vec2 p, Vec2 v, Vec2 a, double duration, WorkMeter& meter)
    : p_(p), v_(v), a_(a), duration_(duration), meter_(meter) {}

// Returns the time `t`, a double, as an `ArcTime`: the root of the linear function T - `t` of the
// time T.
ArcTime ArcMotion::At(double t) const {
  return {t, t, {{}, Exactly(1), Exactly(-t), Quadratic::Kind::kTime, {t, 0}, {}}, 0};
}

// Returns the quadratic (line.b - line.a) x (p(t) - line.a) for the moving point p(t) = p + v t + a
// t^2/2: each coefficient is the cross product of the edge with a, v or p - line.a.
Quadratic ArcMotion::SideOf(const Segment& line) const {
  const BoundedDouble x = BoundedDifference(line.b.x, line.a.x);
  const BoundedDouble y = BoundedDifference(line.b.y, line.a.y);
  return {Cross(x, y, Exactly(a_.x), Exactly(a_.y)),
          Cross(x, y, Exactly(v_.x), Exactly(v_.y)),
          Cross(x, y, BoundedDifference(p_.x, line.a.x), BoundedDifference(p_.y, line.a.y)),
          Quadratic::Kind::kSide,
          line.a,
          line.b};
}

Quadratic ArcMotion::PastX(double x) const {
  return {Exactly(a_.x),       Exactly(v_.x), BoundedDifference(p_.x, x),
          Quadratic::Kind::kX, {x, 0},        {}};
}

Quadratic ArcMotion::PastY(double y) const {
  return {Exactly(a_.y),       Exactly(v_.y), BoundedDifference(p_.y, y),
          Quadratic::Kind::kY, {0, y},        {}};
}

Quadratic ArcMotion::Past(const Segment& edge, Vec2 vertex) const {
  const bool is_x = std::abs(edge.b.x - edge.a.x) >= std::abs(edge.b.y - edge.a.y);
  return is_x ? PastX(vertex.x) : PastY(vertex.y);
}

// Computes the coefficients of `f` exactly, from the points `f.u` and `f.w` and the motion, not
// from the coefficients `f.a`, `f.b` and `f.c`, which have error bounds.
ArcMotion::Exact ArcMotion::ExactOf(const Quadratic& f) const {
  switch (f.kind) {
    case Quadratic::Kind::kSide: {
      const Dyadic x = Dyadic(f.w.x) - f.u.x;
      const Dyadic y = Dyadic(f.w.y) - f.u.y;
      return {Cross(x, y, a_.x, a_.y), Cross(x, y, v_.x, v_.y),
              Cross(x, y, Dyadic(p_.x) - f.u.x, Dyadic(p_.y) - f.u.y)};
    }
    case Quadratic::Kind::kX:
      return {a_.x, v_.x, Dyadic(p_.x) - f.u.x};
    case Quadratic::Kind::kY:
      return {a_.y, v_.y, Dyadic(p_.y) - f.u.y};
    case Quadratic::Kind::kTime:
      break;
  }
  return {0.0, 1.0, -f.u.x};
}

// Returns the time in the form (n + s sqrt d) / m. If m would be negative, changes the signs of n
// and m, so that m > 0; s stays, since `t.root` is -1 for the lower root and 1 for the upper root.
ArcMotion::ExactTime ArcMotion::ExactOf(const ArcTime& t) const {
  meter_.Spend(kUnitsOfExactTime);
  const Exact f = ExactOf(t.of);
  if (f.a.sign() == 0) {
    if (f.b.sign() < 0) return {f.c, 0.0, -f.b, 0};
    return {-f.c, 0.0, f.b, 0};
  }
  const Dyadic d = f.b * f.b - Scaled(f.a * f.c, 1);
  if (f.a.sign() < 0) return {f.b, d, -f.a, t.root};
  return {-f.b, d, f.a, t.root};
}

int ArcMotion::Compare(const ExactTime& t, const Dyadic& bound) {
  return SignWithRoot(t.n - t.m * bound, static_cast<double>(t.s), t.d);
}

// Returns whether all coefficients of `f` are 0. A coefficient is certainly 0 if its error bounds
// are [0, 0], and certainly not 0 if the bounds exclude 0; otherwise the function computes the
// exact coefficients.
bool ArcMotion::IsZero(const Quadratic& f) const {
  if (!f.a.may_be_zero() || !f.b.may_be_zero() || !f.c.may_be_zero()) return false;
  if (f.a.is_zero() && f.b.is_zero() && f.c.is_zero()) return true;
  const Exact exact = ExactOf(f);
  return exact.a.sign() == 0 && exact.b.sign() == 0 && exact.c.sign() == 0;
}

// Sets the interval [low, high] of the root `t` from `estimate`, clamped to the duration of the
// motion. Returns whether the root is within the duration.
bool ArcMotion::Clip(ArcTime& t, BoundedDouble estimate) const {
  t.low = estimate.low();
  t.high = estimate.high();
  if (t.high < 0 || t.low > duration_) return false;
  if (t.low >= 0 && t.high <= duration_) return true;
  const ExactTime exact = ExactOf(t);
  if (Compare(exact, duration_) > 0 || Compare(exact, 0.0) < 0) return false;
  // Comparisons with NaN are false, so if the estimate is NaN, the interval becomes the whole
  // duration.
  if (!(t.low > 0)) t.low = 0;
  if (!(t.high < duration_)) t.high = duration_;
  return true;
}

// Returns the roots of c + b t + a t^2/2 as q/a and 2c/q with d = b^2 - 2 a c and q = -(b + sign(b)
// sqrt d). Neither root loses digits to cancellation.
ArcRoots ArcMotion::RootsOf(const Quadratic& f) const {
  ArcRoots roots;
  const auto add = [&](int8_t root, BoundedDouble estimate) {
    ArcTime t{0, 0, f, root};
    if (Clip(t, estimate)) roots.time[roots.count++] = t;
  };
  const int sign_a = f.a.is_certain() ? f.a.sign() : ExactOf(f).a.sign();
  if (sign_a == 0) {
    const int sign_b = f.b.is_certain() ? f.b.sign() : ExactOf(f).b.sign();
    if (sign_b != 0) add(0, -f.c / f.b);
    return roots;
  }
  const BoundedDouble d = f.b * f.b - Exactly(2) * f.a * f.c;
  int sign_d = d.sign();
  if (!d.is_certain()) {
    const Exact exact = ExactOf(f);
    sign_d = (exact.b * exact.b - Scaled(exact.a * exact.c, 1)).sign();
  }
  if (sign_d < 0) return roots;
  if (sign_d == 0) {
    roots.is_double = true;
    add(1, -f.b / f.a);
    return roots;
  }
  const BoundedDouble root = SquareRoot(d);
  const bool b_positive = f.b.value >= 0;
  const BoundedDouble q = b_positive ? -(f.b + root) : root - f.b;
  const BoundedDouble minus = b_positive ? q / f.a : Exactly(2) * f.c / q;
  const BoundedDouble plus = b_positive ? Exactly(2) * f.c / q : q / f.a;
  add(-1, sign_a > 0 ? minus : plus);
  add(1, sign_a > 0 ? plus : minus);
  return roots;
}

// If intervals leave the sign of f(t) uncertain (order 0), writes the time as t = (n + s sqrt d) /
// m with m > 0, and takes the sign of 2 m^2 f(t) = 2 m^2 c + 2 m n b + (n^2 + d) a + 2 s (m b + n
// a) sqrt d, for f(t) = c + b t + a t^2/2.
int ArcMotion::Sign(const Quadratic& f, const ArcTime& t, int order) const {
  const BoundedDouble value = Evaluate(f, Within(t.low, t.high), order);
  if (value.is_certain()) return value.sign();
  const Exact exact = ExactOf(f);
  if (order == 2) return exact.a.sign();
  const ExactTime at = ExactOf(t);
  if (order == 1) {
    return SignWithRoot(at.m * exact.b + at.n * exact.a,
                        Dyadic(static_cast<double>(at.s)) * exact.a, at.d);
  }
  const Dyadic p = Scaled(at.m * (at.m * exact.c + at.n * exact.b), 1) +
                   (at.n * at.n + (at.s == 0 ? Dyadic() : at.d)) * exact.a;
  const Dyadic q = Scaled(at.m * exact.b + at.n * exact.a, 1) * static_cast<double>(at.s);
  return SignWithRoot(p, q, at.d);
}

// Returns the sign of the first derivative that is not 0 at t, which by Taylor's theorem is the
// sign of `f` just after t.
int ArcMotion::SignAfter(const Quadratic& f, const ArcTime& t) const {
  for (int order = 0; order <= 2; ++order) {
    const int sign = Sign(f, t, order);
    if (sign != 0) return sign;
  }
  return 0;
}

// Let a and b be the exact forms of s and t. The difference s - t, multiplied by the positive
// denominators a.m and b.m, is x + y with x = p + q sqrt(a.d) and y = r sqrt(b.d), for the numbers
// p, q and r that the code computes. Where x and y differ in sign, the sign of x + y is the sign of
// x^2 - y^2 times the sign of x.
int ArcMotion::Compare(const ArcTime& s, const ArcTime& t) const {
  if (s.high < t.low) return -1;
  if (s.low > t.high) return 1;
  if (s.low == s.high && t.low == t.high) return 0;
  const ExactTime a = ExactOf(s);
  const ExactTime b = ExactOf(t);
  const Dyadic p = a.n * b.m - b.n * a.m;
  const Dyadic q = b.m * static_cast<double>(a.s);
  const Dyadic r = -(a.m * static_cast<double>(b.s));
  const int sign_x = SignWithRoot(p, q, a.d);
  const int sign_y = b.d.sign() == 0 ? 0 : r.sign();
  if (sign_x == 0 || sign_y == 0 || sign_x == sign_y) return sign_x != 0 ? sign_x : sign_y;
  const Dyadic rational = p * p + q * q * a.d - r * r * b.d;
  return sign_x * SignWithRoot(rational, Scaled(p * q, 1), a.d);
}

// Returns the least double that is at least the exact time `t`: bisects the doubles in [t.low,
// t.high], an interval that contains `t` and rarely more than a few doubles.
double ArcMotion::RoundedUp(const ArcTime& t) const {
  if (t.low == t.high) return t.high + 0.0;
  const ExactTime exact = ExactOf(t);
  double low = t.low;
  double high = t.high;
  if (Compare(exact, low) <= 0) return low + 0.0;
  for (;;) {
    double middle = low + (high - low) / 2;
    // If the ends of the interval differ much in magnitude, their geometric mean needs fewer steps.
    if (high > 4 * low) middle = low > 0 ? std::sqrt(low) * std::sqrt(high) : high * 0x1p-64;
    if (!(middle > low && middle < high)) middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    (Compare(exact, middle) <= 0 ? high : low) = middle;
  }
}

// Returns one coordinate p(t) = p + v t + a t^2/2 at t = (n + s sqrt d) / m, from 2 m^2 p(t) = x +
// y sqrt d with x = 2 m (m p + n v) + (n^2 + d) a and y = 2 s (m v + n a). Where the two terms
// differ in sign, x + y sqrt d equals (x^2 - y^2 d) / (x - y sqrt d): the numerator is exact, and
// the denominator adds two terms of one sign. So only the rounded square root sqrt d errs, and the
// relative error of p(t) is at most that of the square root. As a polynomial in the coordinates,
// the numerator has degree 10. The denominator has degree 9: 5 for x - y sqrt d, which spans 1,400
// bits with the rounded square root, and 4 for 2 m^2. Both have less than 2,500 bits.
double ArcMotion::Coordinate(const ExactTime& t, double p, double v, double a) {
  const Dyadic x =
      Scaled(t.m * (t.m * p + t.n * v), 1) + (t.n * t.n + (t.s == 0 ? Dyadic() : t.d)) * a;
  const Dyadic y = Scaled(t.m * v + t.n * a, 1) * static_cast<double>(t.s);
  const Dyadic square = Scaled(t.m * t.m, 1);
  const Dyadic z = y * RoundedRoot(t.d);
  const double value = x.sign() * z.sign() >= 0
                           ? NearestQuotient(x + z, square)
                           : NearestQuotient(x * x - y * y * t.d, (x - z) * square);
  return value + 0.0;  // turns -0 into 0
}

Vec2 ArcMotion::PointAt(const ArcTime& t) const {
  if (t.low == t.high && t.low == 0) return {p_.x + 0.0, p_.y + 0.0};
  const ExactTime exact = ExactOf(t);
  return {Coordinate(exact, p_.x, v_.x, a_.x), Coordinate(exact, p_.y, v_.y, a_.y)};
}

Box ArcMotion::BoxAt(const ArcTime& t) const {
  const BoundedDouble time = Within(t.low, t.high);
  const BoundedDouble x = Evaluate(PastX(0), time, 0);
  const BoundedDouble y = Evaluate(PastY(0), time, 0);
  return {{x.low(), y.low()}, {x.high(), y.high()}};
}

Box ArcMotion::BoxUntil(double end) const {
  const Range x = RangeUntil(p_.x, v_.x, a_.x, end);
  const Range y = RangeUntil(p_.y, v_.y, a_.y, end);
  return {{x.low, y.low}, {x.high, y.high}};
}

}  // namespace carom::internal
