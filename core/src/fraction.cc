// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "fraction.h"

#include <algorithm>
#include <cmath>

#include "exact.h"
#include "measures.h"

namespace carom::internal {
namespace {

// An end of a line as comparisons read it; see the header.
double Comparable(double t) { return t == 0 ? 0 : std::clamp(t, 0x1p-500, 0x1p500); }

}  // namespace

DominantAxis::DominantAxis(const Line& line) {
  is_x_ = std::abs(line.dx.high) >= std::abs(line.dy.high);
  forward_ = (is_x_ ? line.dx.high : line.dy.high) > 0;
}

// Two differences, a quotient, and the product below: within 4u and a little of the exact value.
Meeting Fraction::OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex) {
  const double t = (axis.Along(vertex) - axis.Along(line.origin)) / axis.Along(line).high;
  const double error = 8 * kUnit * std::abs(t);
  return Fraction(Kind::kVertex, vertex, vertex, t - error, t + error).Within(line);
}

// t = n / d with n = (v - origin) x (w - v), d = direction x (w - v), each known within kCrossError
// times its magnitude. For d with a certain sign, |t - n'/d'| <= (e_n + |n'/d'| e_d) / (|d'| -
// e_d); the factor 1 + 8u covers the rounding of this bound itself, 2u|t| that of the quotient.
Meeting Fraction::OfCrossing(const Line& line, const Segment& edge) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const double n_left = (edge.a.x - line.origin.x) * e.y;
  const double n_right = (edge.a.y - line.origin.y) * e.x;
  const double d_left = line.dx.high * e.y;
  const double d_right = line.dy.high * e.x;
  const double n = n_left - n_right;
  const double d = d_left - d_right;
  const double n_error = kCrossError * (std::abs(n_left) + std::abs(n_right));
  const double d_error = kCrossError * (std::abs(d_left) + std::abs(d_right));
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  if (std::abs(d) > 2 * d_error) {
    const double t = n / d;
    const double bound = (n_error + std::abs(t) * d_error) / (std::abs(d) - d_error);
    const double error = bound * (1 + 8 * kUnit) + 2 * kUnit * std::abs(t);
    low = t - error;
    high = t + error;
  }
  return Fraction(Kind::kCrossing, edge.a, edge.b, low, high).Within(line);
}

bool Fraction::SameSource(const Fraction& other) const {
  if (kind_ != other.kind_) return false;
  if (v_ == other.v_ && w_ == other.w_) return true;
  return kind_ == Kind::kCrossing && v_ == other.w_ && w_ == other.v_;
}

// Calls use(n, d), expansions with the value n / d and d > 0.
template <class Use>
auto Fraction::WithExact(const Line& line, Use use) const {
  if (kind_ == Kind::kCrossing) {
    const auto n = ExactCross(line.origin, v_, v_, w_);
    const auto d = line.ExactCross(v_, w_);
    return d.sign() < 0 ? use(-n, -d) : use(n, d);
  }
  // Widened to one type for both kinds; the unused capacity costs nothing.
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

// The sign of this fraction, a vertex's or a crossing's, minus t. The ends of segments and most
// starts of rays need less: a difference and a direction as pairs of doubles compare part by part.
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

// Compares this fraction, of any value, with the range. At an end it becomes that end, so that each
// end has one form.
Meeting Fraction::Within(const Line& line) const {
  if (low_ > line.t_min && high_ < line.t_max) return {*this, 0};
  if (high_ < line.t_min) return {*this, -1};
  if (low_ > line.t_max) return {*this, 1};
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

int Fraction::Compare(const Line& line, const Fraction& a, const Fraction& b) {
  if (a.high_ < b.low_) return -1;
  if (a.low_ > b.high_) return 1;
  if (a.SameSource(b)) return 0;
  return a.WithExact(line, [&](const auto& a_n, const auto& a_d) {
    return b.WithExact(
        line, [&](const auto& b_n, const auto& b_d) { return (a_n * b_d - b_n * a_d).sign(); });
  });
}

double Fraction::Rounded(const Line& line) const {
  if (kind_ == Kind::kStart || kind_ == Kind::kEnd) return low_;
  return WithExact(line, [](const auto& n, const auto& d) { return RoundedQuotient(n, d); });
}

Vec2 Fraction::Point(const Line& line, double rounded) const {
  return kind_ == Kind::kVertex ? v_ : PointAt(line, rounded);
}

}  // namespace carom::internal
