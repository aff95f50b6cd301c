// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape meet an edge, exactly?
//
// A `SweepTime` is a parameter t of a translation by t * d. It keeps the meeting that defines t,
// and an interval of doubles that contains t: comparisons use the intervals first and compute
// exactly only where the intervals overlap. t is an end of the interval in which a fixed edge and a
// moving one are within the radius of each other. With z = (fixed vertex) - (moving vertex) and s
// the vector of the edge, t is one of
//   vertex on vertex:   |t d - z| = radius, a root of A t^2 - 2 B t + C with A = d.d, B = d.z,
//                       C = z.z - radius^2 (for radius 0: t d = z);
//   vertex on edge:     |(t d - z) x s| = radius |s|, t = (z x s +- radius |s|) / (d x s).
// For radius 0, t is a quotient of degrees 2 and 2, compared by expansions. Else t is (p + q
// sqrt(r)) / m with p, q sqrt(r) and m of degree 2; a comparison of two such times takes degree 16,
// 3,948 bits.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// The displacement, which is not 0 where times are computed, and the radii of the moving and of the
// fixed shape. The exact sum of both radii is the distance at which the shapes touch.
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

// The features that meet: a fixed vertex (both ends equal) or edge, and a moving vertex or edge, as
// they stand at t = 0. At least one of the two is a vertex.
struct EdgeMeeting {
  Segment fixed;
  Segment moving;

  static EdgeMeeting OfVertices(Vec2 q, Vec2 p) { return {{q, q}, {p, p}}; }
  static EdgeMeeting OnFixedEdge(const Segment& e, Vec2 p) { return {e, {p, p}}; }
  static EdgeMeeting OnMovingEdge(Vec2 q, const Segment& f) { return {{q, q}, f}; }

  bool is_on_fixed_edge() const { return !(fixed.a == fixed.b); }
  bool is_on_moving_edge() const { return !(moving.a == moving.b); }
  // Returns the edge of the meeting; the vector s runs from `side().a` to `side().b`.
  Segment side() const { return is_on_fixed_edge() ? fixed : Segment{moving.b, moving.a}; }
};

// The two ends of a contact interval.
enum class IntervalEnd : uint8_t { kBegin, kEnd };

class SweepTime {
 public:
  static SweepTime Zero() { return SweepTime(Kind::kZero, {}, 0, 0); }
  static SweepTime One() { return SweepTime(Kind::kOne, {}, 1, 1); }

  // Returns the time of a meeting for radius 0, also outside of [0, 1]. Vertices must meet at one
  // time (z parallel to d); an edge must not be parallel to d.
  static SweepTime OfTouch(const Motion& motion, const EdgeMeeting& meeting);
  // Returns exactly t, in [0, 1].
  static SweepTime OfValue(double t) { return SweepTime(Kind::kValue, {}, t, t); }
  // Returns the time of a meeting for radius > 0, which must be in [0, 1]. `rounded_up` is the
  // least double that is at least the time. The meeting's s must have d x s > 0.
  static SweepTime OfRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end,
                                double rounded_up);

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_zero() const { return kind_ == Kind::kZero; }
  bool is_one() const { return kind_ == Kind::kOne; }
  // Returns whether the time is of a meeting within a radius: a root.
  bool is_round() const { return kind_ == Kind::kRoundBegin || kind_ == Kind::kRoundEnd; }
  // Returns the meeting that defines the time; meaningless for zero, one and `OfValue`.
  const EdgeMeeting& meeting() const { return meeting_; }
  // Returns whether the same features define both times, which are equal then.
  bool HasSource(const SweepTime& other) const;
  // Returns whether at both times an end of an axis comes to the same offset side of a fixed edge.
  bool SharesSide(const SweepTime& other) const;
  // Returns the sign of a - b for two times that share a side. Exact.
  static int CompareOnSide(const SweepTime& a, const SweepTime& b);

  // Returns the sign of a - b. Exact.
  static int Compare(const Motion& motion, const SweepTime& a, const SweepTime& b);
  // Returns the nearest double, ties to even, for radius 0; else the least double not below the
  // time.
  double Rounded(const Motion& motion) const;
  ExactRoot Exact(const Motion& motion) const;
  // Returns a pair of doubles within 2^-96 of the time's magnitude.
  BoundedPair Pair(const Motion& motion) const;

 private:
  enum class Kind : uint8_t { kZero, kOne, kValue, kTouch, kRoundBegin, kRoundEnd };

  SweepTime(Kind kind, const EdgeMeeting& meeting, double low, double high)
      : meeting_(meeting), low_(low), high_(high), kind_(kind) {}

  template <class Use>
  auto WithQuotient(const Motion& motion, Use use) const;

  EdgeMeeting meeting_;
  double fixed_radius_ = 0;  // of a root: the radius of the fixed shape
  double low_, high_;        // bounds; for radius > 0 both are the time rounded up
  Kind kind_;
};

// Returns the exact time of one end of a meeting, for radius > 0. The meeting must have d x s > 0,
// or be of vertices with a discriminant that is not negative.
ExactRoot ExactRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// The quotient n / m. `AxisParallelTouch` returns the time of a meeting at a side that is parallel
// to a coordinate axis, as a quotient with a numerator that does not cancel.
struct RoundQuotient {
  BoundedPair n;
  BoundedPair m;
};
RoundQuotient AxisParallelTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns what `ExactRoundTouch` returns in a pair of doubles, within 2^-96 of its magnitude, by
// expansions: where a shape at rest touches an edge, the terms of the time cancel up to their last
// bits.
BoundedPair RoundTouchTime(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Returns a pair of doubles within 2^-105 of the magnitude of `value`.
BoundedPair ToBoundedPair(const Dyadic& value);
// Returns a pair of doubles within 2^-96 of the magnitude of `value`.
BoundedPair ToBoundedPair(const ExactRoot& value);

// Returns the least double in [0, 1] that is at least the exact value, which is not below 0, or 2
// if the value is above 1. [`low`, `high`] contains the result.
double RoundedUp(const ExactRoot& value, double low, double high);

}  // namespace carom::internal
