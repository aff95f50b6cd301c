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

// How the direction of a contact axis (along which the least translation separates two shapes) is
// given. A core is a shape without its radius. kEdge: the direction is the normal of an edge of one
// core, the reference core. kVertices: the cores are apart, and the direction leads from a vertex
// of one core to a vertex of the other. kNone: both cores are one and the same point.
enum class AxisKind : uint8_t { kEdge, kVertices, kNone };

// Whether the cores (the shapes without their radii) meet, are apart by less than the sum of the
// radii, or are apart by exactly this sum.
enum class Cores : uint8_t { kMeet, kApart, kTouchingRadii };

// A contact axis: a direction along which the least translation separates two shapes, a fixed one
// and a mover. A core is a shape without its radius. If the direction is the normal of an edge, the
// core with this edge is the reference core.
struct Axis {
  AxisKind kind = AxisKind::kNone;
  bool fixed_is_reference = true;
  // The index of an edge of the reference core; under kVertices, the index of the vertex of the
  // fixed core at which the axis begins.
  size_t edge = 0;
  // The index of the vertex of the other core that is deepest past the edge; under kVertices, of
  // the vertex of the mover's core at which the axis ends.
  size_t support = 0;
  Cores cores = Cores::kMeet;
};

// Returns the sign of the difference of two distances: of the point u from the line through `a`,
// minus of the point v from the line through `b`. Exact.
int CompareDepths(const Segment& a, Vec2 u, const Segment& b, Vec2 v);

// Returns the contact axis of two convex shapes; nullopt if the shapes share no point (exact).
//
// If the cores (the shapes without their radii) meet, the axis is the normal of the face of the
// Minkowski difference of the cores that is nearest to the origin. The faces are the edges of
// `fixed` and of `mover`, each with the supporting vertex of the other core. The nearest boundary
// point of a convex set lies within its face, so this edge and this vertex touch once the cores are
// separated. Ties are broken by these criteria, in this order: edges of `fixed` by index, then
// edges of `mover` by index; of the two sides of a segment, the side towards the mover's centre;
// then the lexicographically positive normal. If the cores are apart, but not farther than the sum
// of the radii, the axis is the direction of their least distance.
//
// The choice is exact. O(n + m) for n and m vertices, or O(n m) where the cores are apart. Charges
// its work to `meter`; the result is meaningless once `meter` has stopped.
std::optional<Axis> ContactAxis(const ConvexCore& fixed, const ConvexCore& mover, WorkMeter& meter);

}  // namespace carom::internal
