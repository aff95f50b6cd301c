// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where along a line, exactly?
//
// A `Fraction` is a parameter t of a line, kept as what defines it (an end, a vertex on the line, a
// crossing with an edge) together with an interval that holds it. Comparisons look at the intervals
// first and compute exactly only where these overlap.
//
// Exactness. Where t is not 0, numerator and denominator are sums of products of at most two
// differences of coordinates, multiples of 2^-384 and below 2^110: |t| is in [2^-494, 2^494]. An
// end of a ray may be any double; for comparisons one beyond that range is read as the nearest of
// 2^-500 and 2^500, which changes no order. All products are then multiples of 2^-1074, and
// expansions of them exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/line.h"

namespace carom::internal {

// The axis along which a line is longer: positions of points on it are compared there.
class DominantAxis {
 public:
  // `line` has a direction.
  explicit DominantAxis(const Line& line)
      : is_x_(std::abs(line.dx.high) >= std::abs(line.dy.high)),
        forward_((is_x_ ? line.dx.high : line.dy.high) > 0) {}

  double Along(Vec2 p) const { return is_x_ ? p.x : p.y; }
  bool is_x() const { return is_x_; }
  bool is_forward() const { return forward_; }  // towards greater coordinates
  TwoDoubles Along(const Line& line) const { return is_x_ ? line.dx : line.dy; }
  // The sign of (position of p) - (position of q) in the direction of the line.
  int Compare(Vec2 p, Vec2 q) const {
    const double a = Along(p);
    const double b = Along(q);
    return a == b ? 0 : ((a < b) == forward_ ? -1 : 1);
  }

 private:
  bool is_x_;
  bool forward_;
};

// Holds a parameter.
struct Interval {
  double low;
  double high;
};

// Where the unbounded extensions of the line and of `edge` cross; all numbers where that is not
// certain to be a point.
//
// t = n / d with n = (v - origin) x (w - v), d = direction x (w - v), each known within kCrossError
// times its magnitude. For d with a certain sign, |t - n'/d'| <= (e_n + |n'/d'| e_d) / (|d'| -
// e_d); the factor 1 + 8u covers the rounding of this bound itself, 2u|t| that of the quotient.
inline Interval CrossingOf(const Line& line, const Segment& edge) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const RoundedCross n((edge.a.x - line.origin.x) * e.y, (edge.a.y - line.origin.y) * e.x);
  const RoundedCross d(line.dx.high * e.y, line.dy.high * e.x);
  if (!(std::abs(d.value) > 2 * d.error())) return {-HUGE_VAL, HUGE_VAL};
  const double t = n.value / d.value;
  // Beside the other quotient, not after it.
  const double inverse = 1 / (std::abs(d.value) - d.error());
  const double bound = (n.error() + std::abs(t) * d.error()) * inverse;
  const double error = bound * (1 + 8 * kFilterUnit) + 2 * kFilterUnit * std::abs(t);
  return {t - error, t + error};
}

struct Meeting;

// A parameter in [t_min, t_max]. It refers to no line: the functions below are given the same one.
class Fraction {
 public:
  // The start of a line from t = 0.
  Fraction() = default;
  static Fraction Start(const Line& line) {
    return Fraction(Kind::kStart, {}, {}, line.t_min, line.t_min);
  }
  static Fraction End(const Line& line) {
    return Fraction(Kind::kEnd, {}, {}, line.t_max, line.t_max);
  }
  // Exactly `t`.
  static Fraction OfValue(double t) { return Fraction(Kind::kValue, {}, {}, t, t); }
  // Of a point on the line's unbounded extension.
  static Meeting OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex);
  // Of the crossing of the unbounded extensions of the line and of `edge`, not parallel to it.
  static Meeting OfCrossing(const Line& line, const Segment& edge);
  // The same where `at`, the result of `CrossingOf`, is strictly between t_min and t_max.
  static Fraction OfCrossingAt(const Interval& at, const Segment& edge) {
    return Fraction(Kind::kCrossing, edge.a, edge.b, at.low, at.high);
  }

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_start() const { return kind_ == Kind::kStart; }
  bool is_end() const { return kind_ == Kind::kEnd; }
  // Whether it is defined by a vertex on the line, which is not at the start nor at the end.
  bool is_vertex() const { return kind_ == Kind::kVertex; }

  // The sign of a - b. Exact.
  static int Compare(const Line& line, const Fraction& a, const Fraction& b) {
    if (a.high_ < b.low_) return -1;
    if (a.low_ > b.high_) return 1;
    return ExactCompare(line, a, b);
  }
  // The nearest double, ties to even. Exact.
  double Rounded(const Line& line) const;
  // An interval that holds it, almost always so narrow that it rounds to one double. For a vertex
  // or a crossing.
  Interval Refined(const Line& line) const;
  // `Rounded` and `Compare` by expansions alone.
  double ExactRounded(const Line& line) const;
  static int ExactCompare(const Line& line, const Fraction& a, const Fraction& b);
  // The point there: exact for a vertex, else `PointAt` of the rounded fraction.
  Vec2 Point(const Line& line, double rounded) const;

 private:
  enum class Kind : uint8_t { kStart, kEnd, kValue, kVertex, kCrossing };

  Fraction(Kind kind, Vec2 v, Vec2 w, double low, double high)
      : v_(v), w_(w), low_(low), high_(high), kind_(kind) {}

  bool SameSource(const Fraction& other) const;
  Meeting Within(const Line& line) const;
  Meeting NearEnd(const Line& line) const;
  int CompareWith(const Line& line, double t) const;
  template <class Use>
  auto WithExact(const Line& line, Use use) const;

  Vec2 v_, w_;  // the vertex, or the edge
  double low_ = 0;
  double high_ = 0;
  Kind kind_ = Kind::kStart;
};

// Where the unbounded extension of a line meets something: within [t_min, t_max] (`range` 0), or
// before (-1) or after it (+1), where `at` means nothing.
struct Meeting {
  Fraction at;
  int range;
};

// Two differences, a quotient, and the product below: within 4u and a little of the exact value.
inline Meeting Fraction::OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex) {
  const double t = (axis.Along(vertex) - axis.Along(line.origin)) / axis.Along(line).high;
  const double error = 8 * kFilterUnit * std::abs(t);
  return Fraction(Kind::kVertex, vertex, vertex, t - error, t + error).Within(line);
}

inline Meeting Fraction::OfCrossing(const Line& line, const Segment& edge) {
  return OfCrossingAt(CrossingOf(line, edge), edge).Within(line);
}

// Compares this fraction, of any value, with the range.
inline Meeting Fraction::Within(const Line& line) const {
  if (low_ > line.t_min && high_ < line.t_max) return {*this, 0};
  if (high_ < line.t_min) return {*this, -1};
  if (low_ > line.t_max) return {*this, 1};
  return NearEnd(line);
}

}  // namespace carom::internal
