// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where along a line is a point, exactly?
//
// A `Fraction` is a parameter t of a line. It stores what defines t (an end, a vertex on the line
// or a crossing with an edge) and an interval that contains t. Comparisons compare the intervals
// first and compute exactly only if the intervals overlap.
//
// Exactness. If t is not 0, its numerator and denominator are sums of products of at most two
// differences of coordinates. They are multiples of 2^-384 and below 2^110, so |t| is in
// [2^-494, 2^494]. An end of a ray may be any double: comparisons clamp an end outside of
// [2^-500, 2^500] to that range, which changes no order. All products are then multiples of
// 2^-1074, and expansions of them are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/line.h"

namespace carom::internal {

// The axis along which a line is longer. Positions of points on the line are compared along it.
class DominantAxis {
 public:
  // `line` must have a direction.
  explicit DominantAxis(const Line& line)
      : is_x_(std::abs(line.dx.high) >= std::abs(line.dy.high)),
        forward_((is_x_ ? line.dx.high : line.dy.high) > 0) {}

  double Along(Vec2 p) const { return is_x_ ? p.x : p.y; }
  bool is_x() const { return is_x_; }
  bool is_forward() const { return forward_; }  // towards greater coordinates
  TwoDoubles Along(const Line& line) const { return is_x_ ? line.dx : line.dy; }
  // Returns the sign of (position of p) - (position of q) in the direction of the line.
  int Compare(Vec2 p, Vec2 q) const {
    const double a = Along(p);
    const double b = Along(q);
    return a == b ? 0 : ((a < b) == forward_ ? -1 : 1);
  }

 private:
  bool is_x_;
  bool forward_;
};

// An interval that contains a parameter.
struct Interval {
  double low;
  double high;
};

// Returns an interval for the t at which the unbounded extensions of the line and of `edge` cross;
// all numbers if they may be parallel.
//
// t = n / d with n = (v - origin) x (w - v) and d = direction x (w - v) for an edge v->w. The
// rounded n' and d' err by e_n and e_d: kCrossError times their magnitudes. If the sign of d is
// certain, |t - n'/d'| <= (e_n + |n'/d'| e_d) / (|d'| - e_d). The factor 1 + 8u covers the rounding
// of this bound itself, 2u|t| the rounding of the quotient.
inline Interval CrossingOf(const Line& line, const Segment& edge) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const RoundedCross n((edge.a.x - line.origin.x) * e.y, (edge.a.y - line.origin.y) * e.x);
  const RoundedCross d(line.dx.high * e.y, line.dy.high * e.x);
  if (!(std::abs(d.value) > 2 * d.error())) return {-HUGE_VAL, HUGE_VAL};
  const double t = n.value / d.value;
  // This division does not depend on `t`, so the processor runs both divisions in parallel.
  const double inverse = 1 / (std::abs(d.value) - d.error());
  const double bound = (n.error() + std::abs(t) * d.error()) * inverse;
  const double error = bound * (1 + 8 * kFilterUnit) + 2 * kFilterUnit * std::abs(t);
  return {t - error, t + error};
}

struct Meeting;

// A parameter in [t_min, t_max]. A `Fraction` stores no line: the caller passes the line it was
// made for to each function.
class Fraction {
 public:
  // The start of a line with t_min = 0.
  Fraction() = default;
  static Fraction Start(const Line& line) {
    return Fraction(Kind::kStart, {}, {}, line.t_min, line.t_min);
  }
  static Fraction End(const Line& line) {
    return Fraction(Kind::kEnd, {}, {}, line.t_max, line.t_max);
  }
  // The fraction that is exactly `t`.
  static Fraction OfValue(double t) { return Fraction(Kind::kValue, {}, {}, t, t); }
  // Returns the fraction of a vertex, which lies on the line's unbounded extension.
  static Meeting OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex);
  // Returns the fraction at which the unbounded extensions of the line and of `edge` cross. The
  // edge must not be parallel to the line.
  static Meeting OfCrossing(const Line& line, const Segment& edge);
  // Returns the fraction of a crossing, if `at`, the result of `CrossingOf`, is strictly between
  // t_min and t_max.
  static Fraction OfCrossingAt(const Interval& at, const Segment& edge) {
    return Fraction(Kind::kCrossing, edge.a, edge.b, at.low, at.high);
  }

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_start() const { return kind_ == Kind::kStart; }
  bool is_end() const { return kind_ == Kind::kEnd; }
  // Returns true if a vertex on the line defines the fraction, at neither end of the line.
  bool is_vertex() const { return kind_ == Kind::kVertex; }

  // Returns the sign of a - b. Exact.
  static int Compare(const Line& line, const Fraction& a, const Fraction& b) {
    if (a.high_ < b.low_) return -1;
    if (a.low_ > b.high_) return 1;
    return ExactCompare(line, a, b);
  }
  // Returns the double nearest to t, ties to even. Exact.
  double Rounded(const Line& line) const;
  // Returns an interval that contains t, almost always so narrow that both ends are one double.
  // Only for the fraction of a vertex or a crossing.
  Interval Refined(const Line& line) const;
  // `Rounded` and `Compare` by expansions alone, without the filters.
  double ExactRounded(const Line& line) const;
  static int ExactCompare(const Line& line, const Fraction& a, const Fraction& b);
  // Returns the point at t: the vertex exactly, else `PointAt` of the rounded fraction.
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

  Vec2 v_, w_;  // the vertex twice, or the ends of the edge
  double low_ = 0;
  double high_ = 0;
  Kind kind_ = Kind::kStart;
};

// Where the unbounded extension of a line meets a vertex or an edge: in [t_min, t_max] (`range` 0),
// before t_min (-1) or after t_max (1). `at` is only valid if `range` is 0.
struct Meeting {
  Fraction at;
  int range;
};

// t rounds two differences and a quotient, and the bound rounds a product: t is within 4u and a
// little of the exact value; 8u covers it.
inline Meeting Fraction::OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex) {
  const double t = (axis.Along(vertex) - axis.Along(line.origin)) / axis.Along(line).high;
  const double error = 8 * kFilterUnit * std::abs(t);
  return Fraction(Kind::kVertex, vertex, vertex, t - error, t + error).Within(line);
}

inline Meeting Fraction::OfCrossing(const Line& line, const Segment& edge) {
  return OfCrossingAt(CrossingOf(line, edge), edge).Within(line);
}

// Compares this fraction, which may have any value, with [t_min, t_max].
inline Meeting Fraction::Within(const Line& line) const {
  if (low_ > line.t_min && high_ < line.t_max) return {*this, 0};
  if (high_ < line.t_min) return {*this, -1};
  if (low_ > line.t_max) return {*this, 1};
  return NearEnd(line);
}

}  // namespace carom::internal
