// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are two shapes nearest to each other?
//
// A shape is all points within a radius of its core, which is a polygon or the axis of a capsule.
// `FindClosest` finds the pair of edges of two cores that determines the distance of the shapes, or
// finds that one core lies inside the other.
#pragma once

#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "shape/approach.h"

namespace carom::internal {

// The edges or rings of the cores that determine the distance of two shapes a and b.
struct Closest {
  enum class Kind {
    kCrossing,  // edges of the cores share a point
    kApart,     // the cores are apart, and `approach` has their nearest vertex and edge
    kBInA,      // ring `ring` of core b lies strictly inside core a
    kAInB,      // ring `ring` of core a lies strictly inside core b
  };

  Kind kind = Kind::kApart;
  size_t edge_a = 0;  // for kCrossing and kApart: the indices of the two edges
  size_t edge_b = 0;
  size_t ring = 0;  // for kBInA and kAInB: the first ring that lies inside
  // For kApart: whether the vertex of `approach` belongs to core a, and the edge of `approach` to
  // core b.
  bool vertex_is_of_a = false;
  std::optional<Approach> approach = std::nullopt;
};

// How far `FindClosest` searches. The distance of two cores is the least distance of their edges,
// or 0 if one core lies inside the other.
struct ClosestQuery {
  LengthSum enough;          // the search may stop at any pair of edges within this distance
  double limit2 = HUGE_VAL;  // the search ignores pairs above this squared distance; >= enough^2
};

// Returns the first pair of edges within `enough`, in the order of (edge of a, edge of b); if no
// pair is within `enough`, the first ring inside the other core; if no ring is, the first pair at
// the least distance. `enough` and the limit are those of `query`. Within a pair of edges, vertices
// at equal distances are taken in this order: the ends of b's edge, then the ends of a's edge.
// Returns nullopt if all pairs are beyond the limit `limit2` (a pair slightly beyond may be
// returned), or if `meter` has stopped the work.
std::optional<Closest> FindClosest(const PlacedShape& a, const PlacedShape& b,
                                   const ClosestQuery& query, WorkMeter& meter);

// Returns whether the two cores that `FindClosest` compared are at most `sum` apart. `square` is
// `SquareBounds(sum)`.
inline bool IsCoreWithin(const Closest& closest, const LengthSum& sum, const Bounds2& square) {
  return closest.kind != Closest::Kind::kApart || IsWithin(*closest.approach, sum, square);
}

// Returns whether the shapes are at most `distance` apart. The result is exact, but meaningless if
// `meter` has stopped the work.
bool IsWithin(const PlacedShape& a, const PlacedShape& b, double distance, WorkMeter& meter);

}  // namespace carom::internal
