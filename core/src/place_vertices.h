// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The vertices of a moving shape at a pose, both coordinates at once.
#pragma once

#include <span>

#include "carom/geometry.h"
#include "lanes.h"

namespace carom::internal {

// Writes the `Placed` of each vertex to `out` and returns the box of the results. Bit by bit the
// same: c*x - s*y is c*x + (-s)*y, and a sum does not depend on the order of its two terms.
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
    min = placed < min ? placed : min;
    max = placed > max ? placed : max;
  }
  return {{min[0], min[1]}, {max[0], max[1]}};
}

}  // namespace carom::internal
