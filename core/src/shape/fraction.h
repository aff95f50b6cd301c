// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where along a line is a point, exactly?
//
// A `Fraction` is a parameter t of a line with the points origin + t * direction. It stores what
// defines t (an end of the line, a vertex on the line or a crossing with an edge) and an interval
// that contains t. Comparisons compare the intervals first and compute exactly only if the
// intervals overlap.
//
// Exactness. If t is not 0, its numerator and denominator are sums of products of at most two
// differences of coordinates. They are multiples of 2^-384 and below 2^110, so |t| is in [2^-494,
// 2^494]. An end of a ray may be any double: comparisons clamp an end outside of [2^-500, 2^500] to
// that range, which changes no order. All products are then multiples of 2^-1074, and expansions of
// them are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/line.h"

namespace carom::internal {

// The coordinate axis, x or y, along which a line is longer. Positions of points on the line are
// compared by their coordinate on this axis.
class DominantAxis {
 public:
  // `line` must not be a point.
  explicit DominantAxis(const Line& line)
      : is_x_(std::abs(line.dx.high) >= std::abs(line.dy.high)),
        forward_((is_x_ ? line.dx.high : line.dy.high) > 0) {}

  double Along(Vec2 p) const { return is_x_ ? p.x : p.y; }
  bool is_x() const { return is_x_; }
  // Returns true if the line runs towards greater coordinates on the axis.
  bool is_forward() const { return forward_; }
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

// An interval that contains a parameter t of a line.
struct Interval {
  double low;
  double high;
};

// Returns an interval for the parameter t at which the unbounded extensions of the line and of
// `edge` cross; the interval is (-infinity, infinity) if they may be parallel.
//
// t = n / d with n = (v - origin) x (w - v) and d = direction x (w - v) for an edge v->w. The
// rounded n' and d' err by e_n and e_d: kCrossError times their magnitudes. If the sign of d is
// certain, |t - n'/d'| <= (e_n + |n'/d'| e_d) / (|d'| - e_d). With u = 2^-53, the factor 1 + 8u
// covers the rounding of this bound itself, and 2u|t| the rounding of the quotient.
inline Interval CrossingOf(const Line& line, const Segment& edge) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const RoundedCross n((edge.a.x - line.origin.x) * e.y, (edge.a.y - line.origin.y) * e.x);
  const RoundedCross d(line.dx.high * e.y, line.dy.high * e.x);
  if (!(std::abs(d.value) > 2 * d.error())) return {-HUGE_VAL, HUGE_VAL};
  const double t = n.value / d.value;
  // The division does not depend on the division for `t`, so the processor runs both in parallel.
  const double inverse = 1 / (std::abs(d.value) - d.error());
  const double bound = (n.error() + std::abs(t) * d.error()) * inverse;
  const double error = bound * (1 + 8 * kFilterUnit) + 2 * kFilterUnit * std::abs(t);
  return {t - error, t + error};
}

struct Meeting;

// A parameter t of a line, in the line's range [t_min, t_max], with what defines t: an end of the
// line, a given value, a vertex on the line or a crossing with an edge. A `Fraction` stores no
// line: to each function the caller passes the line that the fraction was made for.
class Fraction {
 public:
  // Makes the start of a line with t_min = 0.
  Fraction() = default;
  static Fraction Start(const Line& line) {
    return Fraction(Kind::kStart, {}, {}, line.t_min, line.t_min);
  }
  static Fraction End(const Line& line) {
    return Fraction(Kind::kEnd, {}, {}, line.t_max, line.t_max);
  }
  // Returns the fraction that is exactly `t`.
  static Fraction OfValue(double t) { return Fraction(Kind::kValue, {}, {}, t, t); }
  // Returns the fraction at which `vertex` lies on the unbounded extension of the line, and whether
  // this fraction is in the line's range. The vertex must lie on this extension.
  static Meeting OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex);
  // Returns the fraction at which the unbounded extensions of the line and of `edge` cross, and
  // whether this fraction is in the line's range. The edge must not be parallel to the line.
  static Meeting OfCrossing(const Line& line, const Segment& edge);
  // Returns the fraction of a crossing with `edge`. `at` is the result of `CrossingOf`; it must be
  // strictly between t_min and t_max.
  static Fraction OfCrossingAt(const Interval& at, const Segment& edge) {
    return Fraction(Kind::kCrossing, edge.a, edge.b, at.low, at.high);
  }

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_start() const { return kind_ == Kind::kStart; }
  bool is_end() const { return kind_ == Kind::kEnd; }
  // Returns true if a vertex on the line defines the fraction, and the vertex is at neither end of
  // the line.
  bool is_vertex() const { return kind_ == Kind::kVertex; }

  // Returns the sign of a - b, for two fractions of one line. Exact.
  static int Compare(const Line& line, const Fraction& a, const Fraction& b) {
    if (a.high_ < b.low_) return -1;
    if (a.low_ > b.high_) return 1;
    return ExactCompare(line, a, b);
  }
  // Returns the double nearest to the fraction, ties to even. Exact.
  double Rounded(const Line& line) const;
  // Returns the fraction with a relative error of at most 2^-98.
  TwoDoubles Pair(const Line& line) const;
  // Returns an interval that contains t, almost always so narrow that both of its ends are the same
  // double. Only for the fraction of a vertex or a crossing.
  Interval Refined(const Line& line) const;
  // Return the results of `Rounded` and `Compare`, computed by expansions alone, without the
  // filters.
  double ExactRounded(const Line& line) const;
  static int ExactCompare(const Line& line, const Fraction& a, const Fraction& b);
  // Returns the point of the line at this fraction: exactly the vertex if a vertex defines the
  // fraction, else `PointAt` of `rounded`, which is the result of `Rounded`.
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

  // The points that define the fraction: for kVertex, `v_` and `w_` are both the vertex; for
  // kCrossing, they are the two ends of the crossed edge; for other kinds, they are unused.
  Vec2 v_, w_;
  double low_ = 0;
  double high_ = 0;
  Kind kind_ = Kind::kStart;
};

// The result of intersecting the unbounded extension of a line with a vertex or an edge. `range` is
// 0 if the common point is in [t_min, t_max], -1 if it is before t_min, 1 if it is after t_max.
// `at` is the parameter of the point and is only valid if `range` is 0.
struct Meeting {
  Fraction at;
  int range;
};

// The computed t has three roundings (of the difference, of the direction and of the quotient), and
// the product that gives `error` has one. With u = 2^-53, t has a relative error of slightly more
// than 4u; 8u covers both.
inline Meeting Fraction::OfVertex(const Line& line, const DominantAxis& axis, Vec2 vertex) {
  const double t = (axis.Along(vertex) - axis.Along(line.origin)) / axis.Along(line).high;
  const double error = 8 * kFilterUnit * std::abs(t);
  return Fraction(Kind::kVertex, vertex, vertex, t - error, t + error).Within(line);
}

inline Meeting Fraction::OfCrossing(const Line& line, const Segment& edge) {
  return OfCrossingAt(CrossingOf(line, edge), edge).Within(line);
}

// Compares this fraction, which may be outside of the line's range, with [t_min, t_max], and
// returns it with the comparison as `range`.
inline Meeting Fraction::Within(const Line& line) const {
  if (low_ > line.t_min && high_ < line.t_max) return {*this, 0};
  if (high_ < line.t_min) return {*this, -1};
  if (low_ > line.t_max) return {*this, 1};
  return NearEnd(line);
}

}  // namespace carom::internal
