// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "fraction.h"

#include <algorithm>
#include <cmath>

#include "exact.h"
#include "expansion.h"
#include "measures.h"

namespace carom::internal {

DominantAxis::DominantAxis(const Segment& segment) {
  const double dx = segment.b.x - segment.a.x;
  const double dy = segment.b.y - segment.a.y;
  is_x_ = std::abs(dx) >= std::abs(dy);
  forward_ = (is_x_ ? dx : dy) > 0;
}

Fraction Fraction::OfVertex(const Segment& segment, const DominantAxis& axis, Vec2 vertex) {
  const double from = axis.Along(segment.a);
  const double to = axis.Along(segment.b);
  const double at = axis.Along(vertex);
  if (at == from) return Zero();
  if (at == to) return One();
  // Two differences, a quotient, and the product below: within 4u and a little of the exact value.
  const double t = (at - from) / (to - from);
  return Fraction(Kind::kVertex, vertex, vertex, t * (1 - 8 * kUnit), t * (1 + 8 * kUnit));
}

// t = n / d with n = (v - a) x (w - v), d = (b - a) x (w - v), each known within kCrossError times
// its magnitude. For d with a certain sign, |t - n'/d'| <= (e_n + |n'/d'| e_d) / (|d'| - e_d);
// the factor 1 + 8u covers the rounding of this bound itself, 2u|t| that of the quotient.
Fraction Fraction::OfCrossing(const Segment& segment, const Segment& edge) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const double n_left = (edge.a.x - segment.a.x) * e.y;
  const double n_right = (edge.a.y - segment.a.y) * e.x;
  const double d_left = (segment.b.x - segment.a.x) * e.y;
  const double d_right = (segment.b.y - segment.a.y) * e.x;
  const double n = n_left - n_right;
  const double d = d_left - d_right;
  const double n_error = kCrossError * (std::abs(n_left) + std::abs(n_right));
  const double d_error = kCrossError * (std::abs(d_left) + std::abs(d_right));
  double low = 0;
  double high = 1;
  if (std::abs(d) > 2 * d_error) {
    const double t = n / d;
    const double bound = (n_error + std::abs(t) * d_error) / (std::abs(d) - d_error);
    const double error = bound * (1 + 8 * kUnit) + 2 * kUnit * std::abs(t);
    low = std::max(0.0, t - error);
    high = std::min(1.0, t + error);
  }
  return Fraction(Kind::kCrossing, edge.a, edge.b, low, high);
}

bool Fraction::SameSource(const Fraction& other) const {
  if (kind_ != other.kind_) return false;
  if (v_ == other.v_ && w_ == other.w_) return true;
  return kind_ == Kind::kCrossing && v_ == other.w_ && w_ == other.v_;
}

// Calls use(n, d), expansions with the value n / d and d > 0.
template <class Use>
auto Fraction::WithExact(const Segment& segment, Use use) const {
  if (kind_ == Kind::kCrossing) {
    const auto n = ExactCross(segment.a, v_, v_, w_);
    const auto d = ExactCross(segment.a, segment.b, v_, w_);
    return d.sign() < 0 ? use(-n, -d) : use(n, d);
  }
  const DominantAxis axis(segment);
  const double from = axis.Along(segment.a);
  const double to = axis.Along(segment.b);
  const double at = kind_ == Kind::kZero ? from : kind_ == Kind::kOne ? to : axis.Along(v_);
  // Widened to one type for both kinds; the unused capacity costs nothing.
  Expansion<16> n;
  Expansion<16> d;
  const bool forward = to > from;
  const TwoDoubles numerator = forward ? TwoDiff(at, from) : TwoDiff(from, at);
  const TwoDoubles denominator = forward ? TwoDiff(to, from) : TwoDiff(from, to);
  n.Append(numerator.low);
  n.Append(numerator.high);
  d.Append(denominator.low);
  d.Append(denominator.high);
  return use(n, d);
}

int Fraction::Compare(const Segment& segment, const Fraction& a, const Fraction& b) {
  if (a.high_ < b.low_) return -1;
  if (a.low_ > b.high_) return 1;
  if (a.SameSource(b)) return 0;
  return a.WithExact(segment, [&](const auto& a_n, const auto& a_d) {
    return b.WithExact(
        segment, [&](const auto& b_n, const auto& b_d) { return (a_n * b_d - b_n * a_d).sign(); });
  });
}

double Fraction::Rounded(const Segment& segment) const {
  if (kind_ == Kind::kZero) return 0;
  if (kind_ == Kind::kOne) return 1;
  return WithExact(segment, [](const auto& n, const auto& d) { return RoundedQuotient(n, d); });
}

Vec2 Fraction::Point(const Segment& segment, double rounded) const {
  switch (kind_) {
    case Kind::kZero:
      return segment.a;
    case Kind::kOne:
      return segment.b;
    case Kind::kVertex:
      return v_;
    case Kind::kCrossing:
      break;
  }
  return PointAt(segment, rounded);
}

}  // namespace carom::internal
