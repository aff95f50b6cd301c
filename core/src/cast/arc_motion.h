// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a point under constant acceleration meet a line, exactly?
//
// Queries about an arc p(t) = p + v t + a t^2/2 reduce to signs of quadratics in t: on which side
// of an edge's line p(t) is, whether p(t) is past a vertex, whether t is past a given time. A
// `Quadratic` is c + b t + a t^2/2, with coefficients known within bounds, and computed exactly on
// demand. An `ArcTime` is a root of a quadratic: it keeps the quadratic, and an interval of doubles
// that contains the root. Signs and comparisons try the intervals first.
//
// The exact form of a root is (n + s sqrt d) / m with m > 0 and s in {-1, 0, 1}. If a is not 0, n =
// -b, m = a and d = b^2 - 2 a c; else n = -c, m = b and d = 0. For an edge's line, n and m have
// degree 2 in the coordinates, and d degree 4. The sign of a quadratic of degree 2 at such a time
// has degree 12, and the order of two such times degree 16. A coordinate is a multiple of 2^-192
// and at most 2^53 in magnitude, so a coordinate or a difference of two has at most 247 bits, and
// 16 factors and their sums have at most 3,965 bits, which `Dyadic` can hold.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/bounded.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// A quadratic c + b t + a t^2/2 in the time t, made by `ArcMotion` for a moving point p(t).
struct Quadratic {
  // What the value of the quadratic is: kSide, the side of the line through u and w on which p(t)
  // is, (w - u) x (p(t) - u); kX and kY, p(t).x - u.x and p(t).y - u.y; kTime, t - u.x.
  enum class Kind : uint8_t { kSide, kX, kY, kTime };

  BoundedDouble a, b, c;
  Kind kind = Kind::kTime;
  Vec2 u, w;
};

// A time, as a root of a quadratic, with an interval [low, high] of doubles that contains the root.
struct ArcTime {
  double low = 0;
  double high = 0;
  Quadratic of;     // the quadratic with this root
  int8_t root = 0;  // -1: the lower root of two; 1: the upper root; 0: the only root
};

// The roots of a quadratic within the duration of the motion, ascending.
struct ArcRoots {
  int count = 0;
  ArcTime time[2];
  // Whether the quadratic touches 0 without changing its sign.
  bool is_double = false;
};

// The motion of a point, p(t) = p + v t + a t^2/2 for t in [0, duration]. Immutable except for the
// meter, which counts exact decisions; as thread-safe as the meter.
class ArcMotion {
 public:
  // Makes the motion p + v t + a t^2/2 for t in [0, duration]. All coordinates must be accepted
  // (finite and at most 2^53 in magnitude), and the duration in [0, 2^53].
  ArcMotion(Vec2 p, Vec2 v, Vec2 a, double duration, WorkMeter& meter);

  Vec2 start() const { return p_; }
  double duration() const { return duration_; }

  Quadratic SideOf(const Segment& line) const;
  Quadratic PastX(double x) const;
  Quadratic PastY(double y) const;
  // Returns a coordinate of p(t) minus the coordinate of `vertex`, an end of the edge, as a
  // quadratic in t: `PastX` of the vertex if the edge is longer along x, else `PastY`. The edge
  // must have a length > 0.
  Quadratic Past(const Segment& edge, Vec2 vertex) const;

  ArcTime Start() const { return At(0); }
  ArcTime End() const { return At(duration_); }

  bool IsZero(const Quadratic& f) const;
  // Returns the roots of `f` within the duration of the motion. `f` must not be 0 for all t.
  ArcRoots RootsOf(const Quadratic& f) const;
  // Returns the sign of the derivative of `f` of the given order, 0 to 2, at `t`.
  int Sign(const Quadratic& f, const ArcTime& t, int order = 0) const;
  // Returns the sign of `f` just after `t`: 0 only if `f` is 0 for all t.
  int SignAfter(const Quadratic& f, const ArcTime& t) const;
  int Compare(const ArcTime& s, const ArcTime& t) const;
  // Returns the least double that is at least `t`.
  double RoundedUp(const ArcTime& t) const;
  // Returns p(t), the position of the point at time t. Each coordinate is the double nearest to a
  // number within a relative error of 2^-99 of the exact coordinate. So the coordinate errs by less
  // than 0.51 ulp, however the terms v t and a t^2/2 cancel, and is exact where the exact
  // coordinate is a double. A coordinate below 2^-1022 errs by less than 2^-1074.
  Vec2 PointAt(const ArcTime& t) const;
  // Returns a box that contains p(t), the position of the point at time t.
  Box BoxAt(const ArcTime& t) const;
  // Returns a box that contains the positions p(t) of the point for all t in [0, end].
  Box BoxUntil(double end) const;

 private:
  struct Exact;      // the coefficients of a quadratic, without rounding
  struct ExactTime;  // a root in the exact form (n + s sqrt d) / m

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
