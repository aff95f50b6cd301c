// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which axis of two convex shapes has the minimum penetration?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/expansion.h"
#include "shape/convex_core.h"

namespace carom::internal {

// EDGE: the direction is the normal of an edge of one core, the reference. VERTICES: the cores are
// apart, and the direction joins a vertex of each. NONE: both cores are a single point, at one
// place.
enum class AxisKind : uint8_t { kEdge, kVertices, kNone };

// Whether the cores meet, are apart by less than the sum of the radii, or by exactly this sum.
enum class Cores : uint8_t { kMeet, kApart, kTouchingRadii };

struct Axis {
  AxisKind kind = AxisKind::kNone;
  bool fixed_is_reference = true;
  size_t edge = 0;     // an edge of the reference core; under VERTICES its vertex
  size_t support = 0;  // the vertex of the other core that is deepest past that edge
  Cores cores = Cores::kMeet;
};

// Returns the sign of the distance of u from the line of `a` minus the distance of v from the line
// of `b`. Exact.
int CompareDepths(const Segment& a, Vec2 u, const Segment& b, Vec2 v);

// Returns the axis of the contact; nullopt if the shapes share no point (exact).
//
// If the cores meet, the axis has the least distance to the faces of the Minkowski difference of
// the cores. The faces are the edges of `fixed` and of `mover`, each with the supporting vertex of
// the other core. The nearest boundary point of a convex set lies within its face, so this edge and
// this vertex touch once the cores are separated. Ties, in this order: edges of `fixed` as given,
// edges of `mover` as given; of the two sides of a segment, the side towards the mover's centre;
// then the lexicographically positive normal. If the cores are apart, but not farther than the sum
// of the radii, the axis is the direction of their least distance.
//
// The choice is exact. O(n + m), or O(n m) where the cores are apart. Charges its work to `meter`;
// the result is meaningless once `meter` has stopped.
std::optional<Axis> ContactAxis(const ConvexCore& fixed, const ConvexCore& mover, WorkMeter& meter);

}  // namespace carom::internal
