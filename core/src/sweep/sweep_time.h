// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape meet an edge, exactly?
//
// A `SweepTime` is a parameter t of a translation by t * d. It stores the meeting that defines t,
// and an interval of doubles that contains t: comparisons use the intervals first and compute
// exactly only where the intervals overlap. Let `radius` be the sum of the radii of both shapes. A
// fixed edge and a moving edge are within `radius` of each other during one interval, and t is an
// end of that interval. With z = (fixed vertex) - (moving vertex) at t = 0 and s the vector of the
// edge that a vertex meets, t is one of
//   vertex on vertex:   |t d - z| = radius, a root of A t^2 - 2 B t + C with A = d.d, B = d.z,
//                       C = z.z - radius^2 (for radius 0: t d = z);
//   vertex on edge:     |(t d - z) x s| = radius |s|, t = (z x s +- radius |s|) / (d x s).
// For radius 0, t is a quotient of two polynomials of degree 2 in the coordinates, compared by
// expansions. For a radius above 0, t is (p + q sqrt(r)) / m, where p, q sqrt(r) and m have degree
// 2; a comparison of two such times computes polynomials of degree 16, whose values have up to
// 3,948 bits.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// The displacement d of the moving shape, which is not 0 where times are computed, and the radii of
// the moving and of the fixed shape. The shapes touch at a distance of exactly the sum of both
// radii.
struct Motion {
  Vec2 d;
  double radius = 0;
  double fixed_radius = 0;

  bool is_round() const { return radius > 0 || fixed_radius > 0; }
  // Returns the sum of both radii, rounded once.
  double rounded_radius() const { return radius + fixed_radius; }
  Dyadic ExactRadius() const { return Dyadic(radius) + fixed_radius; }
};

// The number (p + q sqrt(r)) / m, with r >= 0 and m > 0.
struct ExactRoot {
  Dyadic p;
  Dyadic q;
  Dyadic r;
  Dyadic m;
};

// Returns the sign of alpha + beta t.
inline int SignOfLinear(const Dyadic& alpha, const Dyadic& beta, const ExactRoot& t) {
  return SignWithRoot(alpha * t.m + beta * t.p, beta * t.q, t.r);
}

// Two features that meet at some time t: a fixed vertex (a segment with equal ends) or edge, and a
// moving vertex or edge, at their positions at t = 0. At least one of the two is a vertex.
struct EdgeMeeting {
  Segment fixed;
  Segment moving;

  static EdgeMeeting OfVertices(Vec2 q, Vec2 p) { return {{q, q}, {p, p}}; }
  static EdgeMeeting OnFixedEdge(const Segment& e, Vec2 p) { return {e, {p, p}}; }
  static EdgeMeeting OnMovingEdge(Vec2 q, const Segment& f) { return {{q, q}, f}; }

  bool is_on_fixed_edge() const { return !(fixed.a == fixed.b); }
  bool is_on_moving_edge() const { return !(moving.a == moving.b); }
  // Returns the edge that the vertex meets; its vector from `side().a` to `side().b` is called s. A
  // moving edge is reversed, as its negative is an edge of the Minkowski difference.
  Segment side() const { return is_on_fixed_edge() ? fixed : Segment{moving.b, moving.a}; }
};

// The two ends of a contact interval, the interval of t in which two edges touch.
enum class IntervalEnd : uint8_t { kBegin, kEnd };

// A time t at which two features (a vertex and an edge, or two vertices, one of a fixed and one of
// a moving shape) meet during a translation by t * d, stored as the features and an interval of
// doubles that contains t. The radii are those of the moving and of the fixed shape (`Motion`).
class SweepTime {
 public:
  static SweepTime Zero() { return SweepTime(Kind::kZero, {}, 0, 0); }
  static SweepTime One() { return SweepTime(Kind::kOne, {}, 1, 1); }

  // Returns the time at which the features of `meeting` meet, for shapes without radii; the time
  // may be outside of [0, 1]. Two vertices must meet at some time; an edge must not be parallel to
  // the displacement.
  static SweepTime OfTouch(const Motion& motion, const EdgeMeeting& meeting);
  // Returns the time that is exactly the double `t`, in [0, 1].
  static SweepTime OfValue(double t) { return SweepTime(Kind::kValue, {}, t, t); }
  // Returns the time at which the features of `meeting` are at a distance of exactly the sum of the
  // radii, if that sum is above 0. The time must be in [0, 1]; `rounded_up` is the least double
  // that is at least the time. For a meeting at an edge with vector s = `side().b` - `side().a`,
  // the cross product of the displacement and s must be positive.
  static SweepTime OfRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end,
                                double rounded_up);

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_zero() const { return kind_ == Kind::kZero; }
  bool is_one() const { return kind_ == Kind::kOne; }
  // Returns whether the time was made by `OfRoundTouch`: then it is a root of a quadratic equation.
  bool is_round() const { return kind_ == Kind::kRoundBegin || kind_ == Kind::kRoundEnd; }
  // Returns the features that meet at the time; meaningless for `Zero`, `One` and `OfValue`.
  const EdgeMeeting& meeting() const { return meeting_; }
  // Returns whether the two times are certainly equal, because they have the same kind, features
  // and fixed radius.
  bool HasSource(const SweepTime& other) const;
  // Returns whether both are times at which an end of the moving axis comes within the radius of
  // the same fixed edge, at the same side of the edge.
  bool SharesSide(const SweepTime& other) const;
  // Returns the sign of a - b for two times for which `SharesSide` holds. Exact.
  static int CompareOnSide(const SweepTime& a, const SweepTime& b);

  // Returns the sign of the difference a - b. Exact.
  static int Compare(const Motion& motion, const SweepTime& a, const SweepTime& b);
  // Returns the double nearest to the time, ties to even, if the sum of the radii is 0; else the
  // least double that is at least the time.
  double Rounded(const Motion& motion) const;
  ExactRoot Exact(const Motion& motion) const;
  // Returns the time as the sum of two doubles, with an error of at most 2^-96 of its magnitude.
  BoundedPair Pair(const Motion& motion) const;

 private:
  enum class Kind : uint8_t { kZero, kOne, kValue, kTouch, kRoundBegin, kRoundEnd };

  SweepTime(Kind kind, const EdgeMeeting& meeting, double low, double high)
      : meeting_(meeting), low_(low), high_(high), kind_(kind) {}

  template <class Use>
  auto WithQuotient(const Motion& motion, Use use) const;

  EdgeMeeting meeting_;
  // the fixed radius of a time made by `OfRoundTouch`, else 0
  double fixed_radius_ = 0;
  // bounds of t; for `OfRoundTouch` both are the time rounded up
  double low_, high_;
  Kind kind_;
};

// Returns the exact time at which the distance of the features of `meeting` becomes the sum of the
// radii (above 0): when they come that near, or, for `end` = kEnd, when they go farther apart. For
// an edge with vector s = `side().b` - `side().a`, the cross product of the displacement and s must
// be positive; for two vertices, the discriminant of the quadratic equation for t at the top of
// this file must be at least 0.
ExactRoot ExactRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// The quotient n / m, unevaluated. `AxisParallelTouch` returns, for an edge that is parallel to a
// coordinate axis, the time at which the distance of a vertex from the edge becomes the sum of the
// radii, at the begin or the end (`end`) of the contact. `AxisParallelTouch` computes the numerator
// without cancellation.
struct RoundQuotient {
  BoundedPair n;
  BoundedPair m;
};
RoundQuotient AxisParallelTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns the time of `ExactRoundTouch` as the sum of two doubles, with an error of at most 2^-96
// of its magnitude. Computes the terms as exact expansions, because they cancel up to their last
// bits if the shape touches the edge at the start, where the time is near 0.
BoundedPair RoundTouchTime(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns `value` as the sum of two doubles, with an error of at most 2^-105 of its magnitude.
BoundedPair ToBoundedPair(const Dyadic& value);
// Returns `value` as the sum of two doubles, with an error of at most 2^-96 of its magnitude.
BoundedPair ToBoundedPair(const ExactRoot& value);

// Returns the least double in [0, 1] that is at least `value`, or 2 if `value` is above 1. `value`
// must be at least 0, and [`low`, `high`] must contain the result.
double RoundedUp(const ExactRoot& value, double low, double high);

}  // namespace carom::internal
