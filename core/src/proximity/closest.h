// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are two shapes nearest to each other?
//
// `FindClosest` finds the pair of edges of two cores that decides the distance of the shapes, or
// that one core lies inside the other.
#pragma once

#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "shape/approach.h"

namespace carom::internal {

// What decides the distance of two shapes a and b.
struct Closest {
  enum class Kind {
    kCrossing,  // edges of the cores share a point
    kApart,     // edges of the cores are nearest, as `approach` has it
    kBInA,      // ring `ring` of core b lies strictly inside core a
    kAInB,      // ring `ring` of core a lies strictly inside core b
  };

  Kind kind = Kind::kApart;
  size_t edge_a = 0;  // for kCrossing and kApart
  size_t edge_b = 0;
  size_t ring = 0;  // for kBInA and kAInB, the first one
  bool vertex_is_of_a = false;
  std::optional<Approach> approach = std::nullopt;
};

// What to look for. A distance of cores is that of their edges or, inside each other, 0.
struct ClosestQuery {
  LengthSum enough;          // any pair of edges this near will do
  double limit2 = HUGE_VAL;  // pairs above this squared distance do not count; >= enough^2
};

// By (edge of a, edge of b), the first pair within `enough`; where there is none, the first ring
// inside; where there is none, the first pair at the least distance. Within a pair, the first
// nearest of: the ends of b's edge, then those of a's. Nothing where all is beyond the limit (a
// pair slightly beyond it may be found), or once the meter has stopped.
std::optional<Closest> FindClosest(const PlacedShape& a, const PlacedShape& b,
                                   const ClosestQuery& query, WorkMeter& meter);

// Whether the cores are at most `sum` apart, whose `SquareBounds` are `square`.
inline bool IsCoreWithin(const Closest& closest, const LengthSum& sum, const Bounds2& square) {
  return closest.kind != Closest::Kind::kApart || IsWithin(*closest.approach, sum, square);
}

// Whether the shapes are at most `distance` apart. Exact; meaningless once the meter has stopped.
bool IsWithin(const PlacedShape& a, const PlacedShape& b, double distance, WorkMeter& meter);

}  // namespace carom::internal
