// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the candidate edges that a filter leaves gives the contact axis of two small convex
// polygons? The decision is exact.
//
// The axis is the normal of the edge with the least depth: how far the other polygon reaches past
// the edge. In tile maps, edges often run along one another, so ties and touches are common. Two
// antiparallel edges, one of each polygon, are equally deep. So only one of the two is compared,
// and its support vertices are the ends of the other edge.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "contact/fast_mover.h"

namespace carom::internal {

enum class AxisVerdict : uint8_t { kUncertain, kApart, kFound };

// The contact axis of two polygons: the normal of an edge of one of them, the reference polygon.
// `edge` and `support` are indices into the polygons as given.
struct FastAxis {
  AxisVerdict verdict = AxisVerdict::kUncertain;
  bool fixed_is_reference = false;
  uint8_t edge = 0;     // index of an edge of the reference polygon
  uint8_t support = 0;  // index of the vertex of the other polygon that is deepest past `edge`
};

// A set of edges of two polygons, one of which gives their contact axis: bit k for edge k of the
// fixed polygon, bit 8 + k for edge k of the mover.
struct CandidateEdges {
  uint32_t edges;
  // If true, the polygons may be apart or only touch, and `edges` are the edges that may have a
  // depth of 0 or less (the other polygon reaches at most to their line). If false, `edges` are the
  // edges that may be the least deep (past which the other polygon may reach least).
  bool may_touch;
};

// Returns the axis that `ContactAxis` (separating_axis.h) chooses, decided exactly among the
// candidate edges `near`. `is_clockwise` is whether `fixed` winds clockwise. The verdict is
// kUncertain only if `near.may_touch` is set and no candidate edge has a depth of 0 or less.
FastAxis ResolveTies(const CandidateEdges& near, std::span<const Vec2> fixed, bool is_clockwise,
                     const FastMover& mover);

}  // namespace carom::internal
