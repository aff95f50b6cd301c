// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape meet an edge, exactly?
//
// A `SweepTime` is a parameter t of a translation by t * d, kept as what defines it together with
// an interval that holds it. Comparisons look at the intervals first and compute exactly only where
// these overlap. It is an end of the interval of t in which a fixed edge and a moving one are
// within the radius of each other. With z = (fixed vertex) - (moving vertex) and s the edge's
// vector it is one of
//   vertex on vertex:   |t d - z| = radius, a root of A t^2 - 2 B t + C with A = d.d, B = d.z,
//                       C = z.z - radius^2 (for radius 0: t d = z);
//   vertex on edge:     |(t d - z) x s| = radius |s|, t = (z x s +- radius |s|) / (d x s).
// For radius 0 it is a quotient of degrees 2 and 2, compared by expansions. Else it is (p + q
// sqrt(r)) / m with p, q sqrt(r) and m of degree 2; comparing two takes degree 16, 3,948 bits.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "numeric/bounded.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// The displacement, not 0, and the radius of the moving shape, to which that of a fixed one is
// added where this is round, too: their exact sum is what counts.
struct Motion {
  Vec2 d;
  double radius = 0;
  double fixed_radius = 0;

  bool is_round() const { return radius > 0 || fixed_radius > 0; }
  // The sum rounded once.
  double rounded_radius() const { return radius + fixed_radius; }
  Dyadic ExactRadius() const { return Dyadic(radius) + fixed_radius; }
};

// (p + q sqrt(r)) / m, with r >= 0 and m > 0.
struct ExactRoot {
  Dyadic p;
  Dyadic q;
  Dyadic r;
  Dyadic m;
};

// The sign of alpha + beta t.
inline int SignOfLinear(const Dyadic& alpha, const Dyadic& beta, const ExactRoot& t) {
  return SignWithRoot(alpha * t.m + beta * t.p, beta * t.q, t.r);
}

// What meets: a fixed vertex (both ends equal) or edge, and a moving vertex or edge, as they stand
// at t = 0. One of the two at least is a vertex.
struct EdgeMeeting {
  Segment fixed;
  Segment moving;

  static EdgeMeeting OfVertices(Vec2 q, Vec2 p) { return {{q, q}, {p, p}}; }
  static EdgeMeeting OnFixedEdge(const Segment& e, Vec2 p) { return {e, {p, p}}; }
  static EdgeMeeting OnMovingEdge(Vec2 q, const Segment& f) { return {{q, q}, f}; }

  bool is_on_fixed_edge() const { return !(fixed.a == fixed.b); }
  bool is_on_moving_edge() const { return !(moving.a == moving.b); }
  // The vector s runs from `side().a` to `side().b`.
  Segment side() const { return is_on_fixed_edge() ? fixed : Segment{moving.b, moving.a}; }
};

// Which end of the interval in which they are in contact.
enum class IntervalEnd : uint8_t { kBegin, kEnd };

class SweepTime {
 public:
  static SweepTime Zero() { return SweepTime(Kind::kZero, {}, 0, 0); }
  static SweepTime One() { return SweepTime(Kind::kOne, {}, 1, 1); }

  // Radius 0: any t, also outside [0, 1]. Vertices meet at one (z is parallel to d), an edge is not
  // parallel to d.
  static SweepTime OfTouch(const Motion& motion, const EdgeMeeting& meeting);
  // Exactly t, in [0, 1].
  static SweepTime OfValue(double t) { return SweepTime(Kind::kValue, {}, t, t); }
  // Radius > 0: known to be in [0, 1] and to have `rounded_up` as least double that is at least t.
  // `d x s` > 0 for the meeting's s.
  static SweepTime OfRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end,
                                double rounded_up);

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_zero() const { return kind_ == Kind::kZero; }
  bool is_one() const { return kind_ == Kind::kOne; }
  // Whether it is of a meeting within a radius: a root.
  bool is_round() const { return kind_ == Kind::kRoundBegin || kind_ == Kind::kRoundEnd; }
  // Of neither zero nor one.
  const EdgeMeeting& meeting() const { return meeting_; }
  // Whether the same edges define both, which are equal then.
  bool HasSource(const SweepTime& other) const;
  // Whether both are where an end of an axis comes to the same offset side of a fixed edge.
  bool SharesSide(const SweepTime& other) const;
  // The sign of a - b where they do. Exact.
  static int CompareOnSide(const SweepTime& a, const SweepTime& b);

  // The sign of a - b. Exact.
  static int Compare(const Motion& motion, const SweepTime& a, const SweepTime& b);
  // To the nearest double, ties to even, for radius 0; else the least double not below it.
  double Rounded(const Motion& motion) const;
  ExactRoot Exact(const Motion& motion) const;
  // Within 2^-96 of its magnitude.
  BoundedPair Pair(const Motion& motion) const;

 private:
  enum class Kind : uint8_t { kZero, kOne, kValue, kTouch, kRoundBegin, kRoundEnd };

  SweepTime(Kind kind, const EdgeMeeting& meeting, double low, double high)
      : meeting_(meeting), low_(low), high_(high), kind_(kind) {}

  template <class Use>
  auto WithQuotient(const Motion& motion, Use use) const;

  EdgeMeeting meeting_;
  double fixed_radius_ = 0;  // of a root: what the fixed shape of the meeting adds to the radius
  double low_, high_;  // equal to the value rounded up for radius > 0, which orders like the value
  Kind kind_;
};

// Radius > 0: the exact value of that end for a meeting with d x s > 0, or of vertices of which the
// discriminant is not negative.
ExactRoot ExactRoundTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Of a side that is parallel to an axis of coordinates: the value as a quotient, of which the
// numerator does not cancel.
struct RoundQuotient {
  BoundedPair n;
  BoundedPair m;
};
RoundQuotient AxisParallelTouch(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// The same within 2^-96 of its magnitude, by expansions: where a shape at rest touches an edge, the
// time is what is left of numbers that cancel but for their last bits.
BoundedPair RoundTouchTime(const Motion& motion, const EdgeMeeting& meeting, IntervalEnd end);

// Within 2^-105 of its magnitude.
BoundedPair ToBoundedPair(const Dyadic& value);
// Within 2^-96 of its magnitude.
BoundedPair ToBoundedPair(const ExactRoot& value);

// The least double in [0, 1] that is at least the exact value, which is not below 0; 2 if the value
// is above 1. `low` and `high` hold it.
double RoundedUp(const ExactRoot& value, double low, double high);

}  // namespace carom::internal
