// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the edges that a filter leaves is the axis? Exact, for small convex polygons.
//
// In maps of tiles edges run along one another, so that ties and touches are the rule. An edge of
// one polygon that runs against an edge of the other is exactly as deep: so one of the two decides,
// and the other one's ends are the deepest vertices.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "contact/plain_mover.h"

namespace carom::internal {

enum class AxisVerdict : uint8_t { kUncertain, kApart, kFound };

// Edges and vertices as given.
struct PlainAxis {
  AxisVerdict verdict = AxisVerdict::kUncertain;
  bool fixed_is_reference = false;
  uint8_t edge = 0;     // of the reference
  uint8_t support = 0;  // the vertex of the other one that is deepest past that edge
};

// Edges that may be the least deep: bit k for edge k of the fixed polygon, bit 8 + k for that of
// the mover.
struct NearEdges {
  uint32_t edges;
  // Whether they are those that may be without depth or apart, not those that may be the least.
  bool may_touch;
};

// The axis of `ContactAxis`. Uncertain only where `may_touch` and no edge is without depth.
PlainAxis SettleTies(const NearEdges& near, std::span<const Vec2> fixed, bool is_clockwise,
                     const PlainMover& mover);

}  // namespace carom::internal
