// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from up to eight edges at once, to within a bound?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Bounds of the squared distances of a point from up to eight edges, by plain doubles.
//
// All is relative to the point: with R the largest distance of an end from it in a coordinate, each
// coordinate errs by uR and an edge e by 4uR. What the place on the edge, t in [0, 1], errs moves
// the point along the edge, by |e| at most and by 8uR^2 / |e| + 25uR at most: that adds at most
// some 8uR^2 to the squared distance. The point itself errs by 12uR. In all that is less than
// 64uR^2.
class PointDistances {
 public:
  PointDistances(const Polygon& polygon, Vec2 p) : polygon_(polygon), p_(p) {}

  // Of edges [first, last), at most eight. Lanes beyond repeat the last edge, or its end, or are as
  // far as can be.
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

  // Bounds of the least of them.
  double lower() const { return least_ - error_; }
  double upper() const { return least_ + error_; }
  // Those that may be at most `limit2`: bit i for edge first + i; bits beyond the
  // last mean nothing.
  LaneBits Within(double limit2) const { return ~Above(squares_, limit2 + error_) & 0xff; }

 private:
  Double2 From(const Vec2& v) const { return LoadLanes(&v.x) - Double2{p_.x, p_.y}; }

  // Lanes `lane` and the next: two edges from a to b, about the point.
  void Measure(size_t lane, Double2 ax, Double2 ay, Double2 bx, Double2 by) {
    extent_ = Max(Max(extent_, Max(Abs(ax), Abs(ay))), Max(Abs(bx), Abs(by)));
    const Double2 ex = bx - ax;
    const Double2 ey = by - ay;
    // Of an edge of length 0 the quotient is no number, and t is 0.
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
