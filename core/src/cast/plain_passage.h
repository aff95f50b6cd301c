// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is a line inside a small polygon, if a few filters can decide?
//
// The plain case of passages.h: one closed ring of few edges, solid, that the line crosses twice or
// not at all, away from all vertices and from both ends of the line. `FindPlain` finds it without a
// branch for each edge, or says that it cannot decide. It decides nothing by a tolerance: what it
// answers is what `PassageFinder` answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "shape/fraction.h"
#include "shape/line.h"

namespace carom::internal {

// The sides of up to 64 points: bit i of `left` or `right` is set if point i is certainly left or
// right of the line; of neither where rounding might decide, or the point is on the line. The other
// bits are 0.
struct CertainSides {
  uint64_t left = 0;
  uint64_t right = 0;

  // Whether those of the first `count` points, at least one, are all certain.
  bool AreCertain(size_t count) const { return (left | right) == (uint64_t{2} << (count - 1)) - 1; }
  // Bit i: edge i of the ring of these `count` points, all certain, passes from one side to the
  // other. An even number of edges does.
  uint64_t Crossings(size_t count) const { return left ^ (left >> 1 | (left & 1) << (count - 1)); }
};

// Of `count` points, 1 to 8.
CertainSides SidesOf(const Line& line, const Vec2* points, size_t count);

// One closed ring, solid.
inline bool IsPlain(const Polygon& polygon) {
  return polygon.is_one_closed_ring() && polygon.solidity() == Solidity::kSolid;
}

enum class PlainVerdict : uint8_t { kNoPassage = 0, kPassage = 1, kUncertain = 2 };

// One passage. Where the line starts inside, `entry` is no edge; where it ends inside, `exit` is
// none, and the interval means nothing.
struct PlainPassage {
  uint32_t entry;
  uint32_t exit;
  Interval begin;
  Interval end;
};

// The largest ring that `FindPlain` takes.
inline constexpr size_t kMaxPlainEdges = 64;

// The passages of `line` in the solid polygon of one closed ring, edge i from vertex i to vertex
// i + 1. Fills `passage` where the verdict is kPassage; `begin` and `end` are then strictly between
// t_min and t_max. Cannot decide for more than `kMaxPlainEdges`.
PlainVerdict FindPlain(const Line& line, std::span<const Vec2> ring, PlainPassage& passage);

// Where a line passes one edge of a ring.
struct PlainCrossing {
  Interval at;
  uint32_t edge;
  int8_t winding_change;  // +1 where the edge runs from the left of the line to its right
};

// All crossings of a line and a ring, away from vertices and from the line's ends.
struct PlainCrossings {
  static constexpr size_t kMaxEdges = kMaxPlainEdges;
  static constexpr size_t kMaxCount = 16;

  std::array<PlainCrossing, kMaxCount> crossings;  // in order along the line
  size_t count = 0;
  int winding_at_start = 0;
};

// The crossings strictly between t_min and t_max. Returns false where it cannot decide: of more
// edges or crossings than there is room for, or where rounding might decide about one.
bool FindPlainCrossings(const Line& line, std::span<const Vec2> ring, PlainCrossings& found);

// The same, given the sides of all vertices, which are certain.
bool FindPlainCrossings(const Line& line, std::span<const Vec2> ring, const CertainSides& sides,
                        PlainCrossings& found);

// The first passage, filled by `rule`, of those that crossings bound.
PlainVerdict FirstPassage(const PlainCrossings& found, FillRule rule, PlainPassage& passage);

}  // namespace carom::internal
