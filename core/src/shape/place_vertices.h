// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The vertices of a moving shape at a pose, both coordinates at once, and where they may be.
#pragma once

#include <cmath>
#include <span>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// The range of the factor sqrt(c^2 + s^2) by which an accepted rotation stretches lengths. From
// |c^2 + s^2 - 1| <= 1e-6 follows |factor - 1| <= 5.1e-7; the rest is for the rounding of the
// check.
inline constexpr double kMostStretch = 1 + 6e-7;
inline constexpr double kLeastStretch = 1 - 6e-7;

// Bounds how far placing errs in each coordinate, beside its stretch, for a shape of this extent
// whose reference point has coordinates of at most `magnitude`. In (c u - s v) + x, two products
// and their difference err by 2^-53 times 4 extents at most, the sum by 2^-53 times the magnitude
// and 2 extents; a result below 2^-140 is read as 0. The bound has 8 times 2^-53 for all of them,
// which covers its own rounding too.
inline double PlacingError(double magnitude, double extent) {
  return 0x1p-50 * (magnitude + 2 * extent) + 0x1p-139;
}

// Writes the `Placed` of each vertex to `out` and returns the box of the results; the position is
// normalised. Bit by bit the same: c*x - s*y is c*x + (-s)*y, and a sum does not depend on the
// order of its two terms.
inline Box PlaceVertices(const Pose& pose, std::span<const Vec2> vertices, Vec2* out) {
  const Double2 c{pose.c, pose.c};
  const Double2 s{-pose.s, pose.s};
  const Double2 position{pose.position.x, pose.position.y};
  Double2 min{HUGE_VAL, HUGE_VAL};
  Double2 max{-HUGE_VAL, -HUGE_VAL};
  for (const Vec2 v : vertices) {
    const Double2 straight{v.x, v.y};
    const Double2 crossed{v.y, v.x};
    const Double2 sum = (c * straight + s * crossed) + position;
    // As `Normalized`.
    const Long2 kept = reinterpret_cast<Long2>(sum) & (Abs(sum) >= kSmallestMagnitude);
    const auto placed = reinterpret_cast<Double2>(kept);
    *out++ = {placed[0], placed[1]};
    min = Min(placed, min);
    max = Max(placed, max);
  }
  return {{min[0], min[1]}, {max[0], max[1]}};
}

// A box that holds `Placed` of every point of `box`, likewise. Each operation of `Placed` is
// monotonic in each of its terms, rounding included, so the ends of the intervals of its terms lead
// to those of its result.
inline Box ReachOf(const Pose& pose, const Box& box) {
  const auto interval = [](double factor, double a, double b) {
    const double x = factor * a;
    const double y = factor * b;
    return x < y ? Vec2{x, y} : Vec2{y, x};  // from, to
  };
  const Vec2 cx = interval(pose.c, box.min.x, box.max.x);
  const Vec2 cy = interval(pose.c, box.min.y, box.max.y);
  const Vec2 sx = interval(pose.s, box.min.x, box.max.x);
  const Vec2 sy = interval(pose.s, box.min.y, box.max.y);
  return {Normalized(Vec2{(cx.x - sy.y) + pose.position.x, (sx.x + cy.x) + pose.position.y}),
          Normalized(Vec2{(cx.y - sy.x) + pose.position.x, (sx.y + cy.y) + pose.position.y})};
}

}  // namespace carom::internal
