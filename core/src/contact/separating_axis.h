// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The axis of minimum penetration of two convex shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/expansion.h"
#include "shape/convex_core.h"

namespace carom::internal {

// EDGE: the direction is the normal of an edge of one core, the reference. VERTICES: it joins a
// vertex of each, where the cores are apart. NONE: the cores are one and the same point.
enum class AxisKind : uint8_t { kEdge, kVertices, kNone };

// Whether the cores meet, or are nearer than the radii reach, or exactly as far apart.
enum class Cores : uint8_t { kMeet, kApart, kTouchingRadii };

struct Axis {
  AxisKind kind = AxisKind::kNone;
  bool fixed_is_reference = true;
  size_t edge = 0;     // of the reference; under VERTICES its vertex
  size_t support = 0;  // the vertex of the other core that is deepest past that edge
  Cores cores = Cores::kMeet;
};

// The sign of the distance of u from the line of `a`, less that of v from the line of `b`. Exact.
int CompareDepths(const Segment& a, Vec2 u, const Segment& b, Vec2 v);

// The axis of the contact, or nothing if the shapes share no point (exact).
//
// Where the cores meet: the least of the distances to the faces of the Minkowski difference of the
// cores. Its faces are the edges of `fixed` and of `mover`, each with the farthest vertex of the
// other; since the nearest boundary point of a convex set lies within its face, that edge and that
// vertex meet once the cores are parted. Ties, in this order: edges of `fixed` as given, edges of
// `mover` as given; of the two sides of a segment the one towards the mover's centre; then the
// lexically positive normal. Where the cores are apart, but not farther than the radii: the
// direction of their least distance. Exact choice. O(n + m), or O(n m) where they are apart; counts
// on `meter` as it goes. Meaningless once that has stopped.
std::optional<Axis> ContactAxis(const ConvexCore& fixed, const ConvexCore& mover, WorkMeter& meter);

}  // namespace carom::internal
