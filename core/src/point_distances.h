// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is a point from up to eight edges at once, to within a bound?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "exact.h"
#include "lanes.h"

namespace carom::internal {

// Bounds of the squared distances of a point from up to eight edges, by plain doubles.
//
// All is relative to the point: with R the largest distance from it in a coordinate, each
// coordinate errs by uR and an edge e by 4uR. What the place on the edge, t in [0, 1], errs moves
// the point along the edge, by |e| at most and by 8uR^2 / |e| + 25uR at most: that adds at most
// some 8uR^2 to the squared distance. The point itself errs by 12uR. In all that is less than
// 64uR^2.
class PointDistances {
 public:
  PointDistances(const Polygon& polygon, Vec2 p) : polygon_(polygon), p_(p) {
    const Box& box = polygon.bounds();
    const double extent = std::max({std::abs(box.min.x - p.x), std::abs(box.max.x - p.x),
                                    std::abs(box.min.y - p.y), std::abs(box.max.y - p.y)});
    error_ = 128 * kFilterUnit * extent * extent;
  }

  // Of edges [first, last), at most eight. Lanes beyond repeat the last edge, or its end.
  void Measure(size_t first, size_t last) {
    const size_t count = last - first;
    if (polygon_.is_one_closed_ring()) {
      const std::span<const Vec2> ring = polygon_.vertices();
      for (size_t i = 0; i < count; ++i) {
        ax_[i] = ring[first + i].x - p_.x;
        ay_[i] = ring[first + i].y - p_.y;
      }
      const Vec2 end = ring[last == ring.size() ? 0 : last];
      for (size_t i = count; i <= kLanes; ++i) {
        ax_[i] = end.x - p_.x;
        ay_[i] = end.y - p_.y;
      }
      Measure(ax_ + 1, ay_ + 1);
      return;
    }
    double bx[kLanes];
    double by[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      const Segment edge = polygon_.edge(std::min(first + i, last - 1));
      ax_[i] = edge.a.x - p_.x;
      ay_[i] = edge.a.y - p_.y;
      bx[i] = edge.b.x - p_.x;
      by[i] = edge.b.y - p_.y;
    }
    Measure(bx, by);
  }

  // Bounds of the least of them.
  double lower() const { return least_ - error_; }
  double upper() const { return least_ + error_; }
  // Those that may be at most `limit2`: bit i for edge first + i, and further bits beyond the last.
  LaneBits Within(double limit2) const { return ~Above(squares_, limit2) & 0xff; }

 private:
  void Measure(const double* bx, const double* by) {
    Double2 least{HUGE_VAL, HUGE_VAL};
    for (size_t i = 0; i < kLanes; i += 2) {
      const Double2 ax = LoadLanes(&ax_[i]);
      const Double2 ay = LoadLanes(&ay_[i]);
      const Double2 ex = LoadLanes(bx + i) - ax;
      const Double2 ey = LoadLanes(by + i) - ay;
      // Of an edge of length 0 the quotient is no number, and t is 0.
      const Double2 t =
          Min(Max(-(ax * ex + ay * ey) / (ex * ex + ey * ey), Double2{}), Double2{1, 1});
      const Double2 x = ax + t * ex;
      const Double2 y = ay + t * ey;
      const Double2 square = x * x + y * y;
      squares_.pair[i / 2] = square - error_;
      least = Min(square, least);
    }
    least_ = std::min(least[0], least[1]);
  }

  const Polygon& polygon_;
  const Vec2 p_;
  double error_;
  double ax_[kLanes + 1], ay_[kLanes + 1];
  Doubles squares_;
  double least_ = 0;
};

}  // namespace carom::internal
