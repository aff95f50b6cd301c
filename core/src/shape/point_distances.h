// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from up to eight edges at once, within error bounds?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Bounds the squared distances of a point from up to eight edges, computed in plain doubles.
//
// All coordinates are differences from the point. Let u = 2^-53, and R the largest magnitude of a
// coordinate of an edge's end. Each coordinate errs by uR and each edge vector e by 4uR. The foot
// of the perpendicular has a parameter t in [0, 1] along the edge; the error of t moves the foot
// along the edge, by |e| at most and by 8uR^2 / |e| + 25uR at most, which adds at most some 8uR^2
// to the squared distance. The foot itself errs by 12uR. In all, the squared distance errs by less
// than 64uR^2; `Measure` sets `error_` to twice this bound.
class PointDistances {
 public:
  PointDistances(const Polygon& polygon, Vec2 p) : polygon_(polygon), p_(p) {}

  // Measures the edges [first, last) of the polygon, at most eight, one in each lane. Lanes beyond
  // `last` repeat the last edge or its end, or have an infinite distance.
  void Measure(size_t first, size_t last) {
    const size_t count = last - first;
    extent_ = Double2{};
    const Vec2* const vertices = polygon_.vertices().data();
    if (polygon_.is_one_closed_ring() && first + kLanes < polygon_.vertex_count()) {
      Double2 a = From(vertices[first]);
      for (size_t i = 0; i < kLanes; i += 2) {
        const Double2 b = From(vertices[first + i + 1]);
        const Double2 c = From(vertices[first + i + 2]);
        Measure(i, Double2{a[0], b[0]}, Double2{a[1], b[1]}, Double2{b[0], c[0]},
                Double2{b[1], c[1]});
        a = c;
      }
    } else if (polygon_.is_one_closed_ring()) {
      squares_.pair[1] = squares_.pair[2] = squares_.pair[3] = Double2{HUGE_VAL, HUGE_VAL};
      const size_t end = polygon_.vertex_count();
      Double2 a = From(vertices[first]);
      for (size_t i = 0; i < count; i += 2) {
        const size_t next = first + i + 1;
        const Double2 b = From(vertices[next == end ? 0 : next]);
        const Double2 c = i + 1 == count ? b : From(vertices[next + 1 == end ? 0 : next + 1]);
        Measure(i, Double2{a[0], b[0]}, Double2{a[1], b[1]}, Double2{b[0], c[0]},
                Double2{b[1], c[1]});
        a = c;
      }
    } else {
      for (size_t i = 0; i < kLanes; i += 2) {
        const Segment one = polygon_.edge(first + std::min(i, count - 1));
        const Segment other = polygon_.edge(first + std::min(i + 1, count - 1));
        const Double2 a = From(one.a), b = From(one.b), c = From(other.a), d = From(other.b);
        Measure(i, Double2{a[0], c[0]}, Double2{a[1], c[1]}, Double2{b[0], d[0]},
                Double2{b[1], d[1]});
      }
    }
    const Double2 least =
        Min(Min(squares_.pair[0], squares_.pair[1]), Min(squares_.pair[2], squares_.pair[3]));
    least_ = std::min(least[0], least[1]);
    const double extent = std::max(extent_[0], extent_[1]);
    error_ = 128 * kFilterUnit * extent * extent;
  }

  // Return a lower and an upper bound of the squared distance from the point to the nearest of the
  // edges that `Measure` measured.
  double lower() const { return least_ - error_; }
  double upper() const { return least_ + error_; }
  // Returns the edges that `Measure` measured with a squared distance that may be at most `limit2`:
  // bit i stands for the edge with the index first + i. Bits beyond the last edge are meaningless.
  LaneBits Within(double limit2) const { return ~Above(squares_, limit2 + error_) & 0xff; }

 private:
  Double2 From(const Vec2& v) const { return LoadLanes(&v.x) - Double2{p_.x, p_.y}; }

  // Measures two edges, in the lanes `lane` and `lane` + 1: each from (ax, ay) to (bx, by),
  // relative to the point.
  void Measure(size_t lane, Double2 ax, Double2 ay, Double2 bx, Double2 by) {
    extent_ = Max(Max(extent_, Max(Abs(ax), Abs(ay))), Max(Abs(bx), Abs(by)));
    const Double2 ex = bx - ax;
    const Double2 ey = by - ay;
    // For an edge of length 0 the quotient is NaN, and `Max` makes t 0.
    const Double2 t =
        Min(Max(-(ax * ex + ay * ey) / (ex * ex + ey * ey), Double2{}), Double2{1, 1});
    const Double2 x = ax + t * ex;
    const Double2 y = ay + t * ey;
    squares_.pair[lane / 2] = x * x + y * y;
  }

  const Polygon& polygon_;
  const Vec2 p_;
  double error_ = 0;
  Double2 extent_{};
  Doubles squares_;
  double least_ = 0;
};

}  // namespace carom::internal
