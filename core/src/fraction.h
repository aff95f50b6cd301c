// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where along a segment, exactly?
//
// A `Fraction` is a parameter t of a segment a->b, kept as what defines it (an end, a vertex on the
// line, a crossing with an edge) together with an interval that holds it. Comparisons look at the
// intervals first and compute exactly only where these overlap.
#pragma once

#include <cstdint>

#include "carom/geometry.h"

namespace carom::internal {

// The axis along which a segment is longer: positions of points on its line are compared there.
class DominantAxis {
 public:
  // `segment` has a length.
  explicit DominantAxis(const Segment& segment);

  double Along(Vec2 p) const { return is_x_ ? p.x : p.y; }
  // The sign of (position of p) - (position of q) in the direction of the segment.
  int Compare(Vec2 p, Vec2 q) const {
    const double a = Along(p);
    const double b = Along(q);
    return a == b ? 0 : ((a < b) == forward_ ? -1 : 1);
  }

 private:
  bool is_x_;
  bool forward_;
};

// A parameter in [0, 1]. It refers to no segment: the functions below are given the same one.
class Fraction {
 public:
  static Fraction Zero() { return Fraction(Kind::kZero, {}, {}, 0, 0); }
  static Fraction One() { return Fraction(Kind::kOne, {}, {}, 1, 1); }
  // Of a point that lies on the segment: 0 and 1 for its ends.
  static Fraction OfVertex(const Segment& segment, const DominantAxis& axis, Vec2 vertex);
  // Of the crossing with `edge`, whose line strictly parts the segment's ends and the other way.
  static Fraction OfCrossing(const Segment& segment, const Segment& edge);

  double low() const { return low_; }
  double high() const { return high_; }
  bool is_zero() const { return kind_ == Kind::kZero; }
  bool is_one() const { return kind_ == Kind::kOne; }
  // Whether it is that of a vertex on the segment, other than the segment's ends.
  bool is_vertex() const { return kind_ == Kind::kVertex; }

  // The sign of a - b. Exact.
  static int Compare(const Segment& segment, const Fraction& a, const Fraction& b);
  // The nearest double, ties to even. Exact.
  double Rounded(const Segment& segment) const;
  // The point there: exact for an end or a vertex, else as `PointAt` of the rounded fraction.
  Vec2 Point(const Segment& segment, double rounded) const;

 private:
  enum class Kind : uint8_t { kZero, kOne, kVertex, kCrossing };

  Fraction(Kind kind, Vec2 v, Vec2 w, double low, double high)
      : v_(v), w_(w), low_(low), high_(high), kind_(kind) {}

  bool SameSource(const Fraction& other) const;
  template <class Use>
  auto WithExact(const Segment& segment, Use use) const;

  Vec2 v_, w_;  // the vertex, or the edge
  double low_, high_;
  Kind kind_;
};

}  // namespace carom::internal
