// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a point under constant acceleration meet a line, exactly?
//
// What an arc p(t) = p + v t + a t^2/2 is asked are signs of quadratics in t: on which side of an
// edge's line is p(t), is it past a vertex, is t past a given time. A `Quadratic` is c + b t + a
// t^2/2, known within bounds at once and exactly on demand. An `ArcTime` is a root of one, kept as
// what defines it, together with an interval of doubles that holds it. Signs and comparisons look
// at the intervals first.
//
// Exactly, a root is (n + s sqrt d) / m with m > 0 and s in {-1, 0, 1}: n = -b, m = a,
// d = b^2 - 2 a c where a is not 0, else n = -c, m = b, d = 0. For an edge's line n and m are of
// degree 2 in the coordinates and d of degree 4. The sign of a quadratic of degree 2 at such a time
// takes degree 12, the order of two such times degree 16, of 247 bits each: 3,965 bits with their
// sums, so `Dyadic` holds them.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/bounded.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// Made by `ArcMotion`.
struct Quadratic {
  // SIDE: the side of the line through u and w, (w - u) x (p(t) - u). X, Y: p(t).x - u.x, p(t).y -
  // u.y. TIME: t - u.x.
  enum class Kind : uint8_t { kSide, kX, kY, kTime };

  BoundedDouble a, b, c;
  Kind kind = Kind::kTime;
  Vec2 u, w;
};

struct ArcTime {
  double low = 0;
  double high = 0;
  Quadratic of;     // whose root it is
  int8_t root = 0;  // -1 the lower one of two, 1 the upper one, 0 the only one
};

// The roots within the duration, ascending.
struct ArcRoots {
  int count = 0;
  ArcTime time[2];
  // The quadratic touches 0 without changing its sign.
  bool is_double = false;
};

// Immutable but for the meter, which counts what is decided exactly; as thread-safe as that.
class ArcMotion {
 public:
  // Accepted coordinates; the duration is in [0, 2^53].
  ArcMotion(Vec2 p, Vec2 v, Vec2 a, double duration, WorkMeter& meter);

  Vec2 start() const { return p_; }
  double duration() const { return duration_; }

  Quadratic SideOf(const Segment& line) const;
  Quadratic PastX(double x) const;
  Quadratic PastY(double y) const;
  // The one along which the edge, of length > 0, is longer.
  Quadratic Past(const Segment& edge, Vec2 vertex) const;

  ArcTime Start() const { return At(0); }
  ArcTime End() const { return At(duration_); }

  bool IsZero(const Quadratic& f) const;
  // The roots of a quadratic that is not 0 throughout.
  ArcRoots RootsOf(const Quadratic& f) const;
  // The sign of the derivative of the given order, 0 to 2, at a time.
  int Sign(const Quadratic& f, const ArcTime& t, int order = 0) const;
  // The sign just after a time: 0 only for a quadratic that is 0 throughout.
  int SignAfter(const Quadratic& f, const ArcTime& t) const;
  int Compare(const ArcTime& s, const ArcTime& t) const;
  // The least double that is at least `t`.
  double RoundedUp(const ArcTime& t) const;
  // p(t): each coordinate is the double nearest to a number within 2^-99 of the exact one, relative
  // to that, so it errs by less than 0.51 ulp of itself however v t and a t^2 cancel, and is exact
  // where that is a double. Below 2^-1022 it errs by less than 2^-1074.
  Vec2 PointAt(const ArcTime& t) const;
  // Holds p(t).
  Box BoxAt(const ArcTime& t) const;
  // Holds p(t) for t in [0, end].
  Box BoxUntil(double end) const;

 private:
  struct Exact;      // coefficients
  struct ExactTime;  // n, d, m and s

  ArcTime At(double t) const;
  Exact ExactOf(const Quadratic& f) const;
  ExactTime ExactOf(const ArcTime& t) const;
  static int Compare(const ExactTime& t, const Dyadic& bound);
  static double Coordinate(const ExactTime& t, double p, double v, double a);
  bool Clip(ArcTime& t, BoundedDouble estimate) const;

  Vec2 p_, v_, a_;
  double duration_;
  WorkMeter& meter_;
};

}  // namespace carom::internal
