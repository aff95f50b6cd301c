// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is a line inside a small polygon, if floating-point filters can decide?
//
// Covers the simplest case of passages.h: one closed ring of few edges, solid, that the line
// crosses twice or not at all, away from all vertices and from both ends of the line. `FindFast`
// finds the passage without a branch for each edge, or reports that it cannot decide. It uses no
// tolerance: each decided answer equals that of `PassageFinder`.
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

// The sides of up to 64 points relative to a line. Bit i of `left` or of `right` is set if point i
// is certainly left or right of the line. Neither bit is set where rounding errors might decide, or
// where the point is on the line. Bits without a point are 0.
struct CertainSides {
  uint64_t left = 0;
  uint64_t right = 0;

  // Returns whether the sides of the first `count` points, at least one, are all certain.
  bool AreCertain(size_t count) const { return (left | right) == (uint64_t{2} << (count - 1)) - 1; }
  // The points are the vertices of a ring with `count` edges, all on certain sides of the line.
  // Returns bit i for each edge i that passes from one side of the line to the other. The number of
  // set bits is even.
  uint64_t Crossings(size_t count) const { return left ^ (left >> 1 | (left & 1) << (count - 1)); }
};

// Returns the sides of `count` points, 1 to 8, relative to the line.
CertainSides SidesOf(const Line& line, const Vec2* points, size_t count);

// Returns whether a polygon is solid and has one closed ring.
inline bool SuitsFastPath(const Polygon& polygon) {
  return polygon.is_one_closed_ring() && polygon.solidity() == Solidity::kSolid;
}

enum class FastVerdict : uint8_t { kNoPassage = 0, kPassage = 1, kUncertain = 2 };

// The passage of a line in a polygon (the interval of the line inside the polygon): the indices of
// the edges where the line enters and leaves, and intervals that contain the parameters t of the
// line at both edges. If the line starts inside, `entry` is kNoEdge and `begin` meaningless; if the
// line ends inside, `exit` is kNoEdge and `end` meaningless.
struct FastPassage {
  uint32_t entry;
  uint32_t exit;
  Interval begin;
  Interval end;
};

// The most edges of a ring for which `FindFast` can decide.
inline constexpr size_t kMaxFastEdges = 64;

// Finds the passage (interval) of `line` inside a solid polygon of one closed ring, in which edge i
// runs from vertex i to vertex i + 1. Sets `passage` if the verdict is kPassage; `passage.begin`
// and `passage.end` are then strictly between the line's t_min and t_max, unless the line starts or
// ends inside. Returns kUncertain for more than `kMaxFastEdges` edges.
FastVerdict FindFast(const Line& line, std::span<const Vec2> ring, FastPassage& passage);

// The crossing of a line and one edge of a ring.
struct FastCrossing {
  Interval at;
  uint32_t edge;
  int8_t winding_change;  // +1 if the edge runs from left to right of the line, else -1
};

// All crossings of a line and the edges of a ring, none of them at a vertex or at an end of the
// line.
struct FastCrossings {
  static constexpr size_t kMaxEdges = kMaxFastEdges;
  static constexpr size_t kMaxCount = 16;

  std::array<FastCrossing, kMaxCount> crossings;  // in order along the line
  size_t count = 0;
  int winding_at_start = 0;
};

// Finds the crossings of a line and a ring, strictly between the line's t_min and t_max. Returns
// false if the function cannot decide: if the ring has too many edges or crossings, or if rounding
// errors might change which edges the line crosses, or in which order.
bool FindFastCrossings(const Line& line, std::span<const Vec2> ring, FastCrossings& found);

// Finds the crossings as the overload without `sides` does. `sides` are the sides of all vertices
// of `ring` relative to the line, which must be certain.
bool FindFastCrossings(const Line& line, std::span<const Vec2> ring, const CertainSides& sides,
                       FastCrossings& found);

// Finds the first passage of a line (interval inside the polygon): the first interval between
// crossings, or between an end of the line and a crossing, in which the fill rule `rule` fills the
// winding number.
FastVerdict FirstPassage(const FastCrossings& found, FillRule rule, FastPassage& passage);

}  // namespace carom::internal
