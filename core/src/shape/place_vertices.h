// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the vertices of a moving shape at a pose, both coordinates of a vertex at once, and
// bounds of the placed points.
#pragma once

#include <cmath>
#include <span>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Bounds of the factor sqrt(c^2 + s^2) by which an accepted rotation (c, s) stretches lengths. A
// rotation is accepted if |c^2 + s^2 - 1| <= 1e-6, which implies |factor - 1| <= 5.1e-7; the bounds
// are wider to cover the rounding of that check.
inline constexpr double kMaxStretch = 1 + 6e-7;
inline constexpr double kMinStretch = 1 - 6e-7;

// Returns a bound of the error of `Placed` in each coordinate, apart from the stretch of the
// rotation (c, s). `extent` bounds the magnitudes of the coordinates of a point (u, v) in the frame
// of the shape, `magnitude` those of the pose's position (x, y). In (c u - s v) + x, the two
// products and their difference err by 2^-53 times 4 extents at most, and the sum errs by 2^-53
// times the magnitude and 2 extents; a result with a magnitude below 2^-140 becomes 0. The bound
// takes 8 times 2^-53 for all these errors, which also covers its own rounding.
inline double PlacingError(double magnitude, double extent) {
  return 0x1p-50 * (magnitude + 2 * extent) + 0x1p-139;
}

// Writes the vertices, each rotated and moved by `pose`, to `out`, with the same bits as
// `Placed(pose, v)` of each vertex v, and returns the smallest box around the written vertices. The
// pose's position must be normalised (a result of `Normalized`). The bits are equal because c*x -
// s*y is c*x + (-s)*y and a sum does not depend on the order of its two terms.
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
    // Replaces magnitudes below kSmallestMagnitude by 0, as `Normalized` does.
    const Long2 kept = reinterpret_cast<Long2>(sum) & (Abs(sum) >= kSmallestMagnitude);
    const auto placed = reinterpret_cast<Double2>(kept);
    *out++ = {placed[0], placed[1]};
    min = Min(placed, min);
    max = Max(placed, max);
  }
  return {{min[0], min[1]}, {max[0], max[1]}};
}

// Returns a box that contains `Placed(pose, p)` of every point p of `box`. The pose's position must
// be normalised (a result of `Normalized`). Each operation of `Placed` is monotonic in each of its
// terms, rounding included, so interval arithmetic with the same operations bounds its result.
inline Box PlacedBounds(const Pose& pose, const Box& box) {
  const auto interval = [](double factor, double a, double b) {
    const double x = factor * a;
    const double y = factor * b;
    return x < y ? Vec2{x, y} : Vec2{y, x};  // the lower and the upper end of the interval
  };
  const Vec2 cx = interval(pose.c, box.min.x, box.max.x);
  const Vec2 cy = interval(pose.c, box.min.y, box.max.y);
  const Vec2 sx = interval(pose.s, box.min.x, box.max.x);
  const Vec2 sy = interval(pose.s, box.min.y, box.max.y);
  return {Normalized(Vec2{(cx.x - sy.y) + pose.position.x, (sx.x + cy.x) + pose.position.y}),
          Normalized(Vec2{(cx.y - sy.x) + pose.position.x, (sx.y + cy.y) + pose.position.y})};
}

}  // namespace carom::internal
