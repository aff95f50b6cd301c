// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What of a moving shape can overlap in more than touch?
//
// Two sets overlap in more than touch where the interior of one meets the other. A shape that moves
// under the blocking policies is a simple ring with an interior, or an axis with a radius above 0.
// Either is the closure of its interior, for which
//
//   (1) int(M) meets P, or M meets int(P), exactly if int(M) meets P.
//
// So what counts of a fixed polygon are its points, its edges above all, and of the shape the side
// of each edge and the sector at each vertex that are inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"

namespace carom::internal {

// The vector to - from, exactly.
struct Direction {
  Vec2 from;
  Vec2 to;

  Direction operator-() const { return {to, from}; }
};

// The sign of a x b, respectively a . b. Exact.
int CrossSign(const Direction& a, const Direction& b);
int DotSign(const Direction& a, const Direction& b);

// The open sector counter-clockwise from `first` to `last`.
struct Sector {
  Direction first;
  Direction last;
  int turn = 1;  // 1 for less than half a turn, 0 for half a turn, -1 for more

  bool Contains(const Direction& u) const;
};

// Reused from pose to pose. Not thread-safe.
class BlockingMover {
 public:
  // Takes a shape where it stands, and keeps a reference to it. Returns what is wrong with it:
  // NO_INTERIOR, or NOT_SIMPLE for a ring that touches itself and for several rings. O(n) for a
  // strictly convex ring, else O(n^2).
  std::optional<ItemFault> Take(const PlacedShape& shape, WorkMeter& meter);

  const PlacedShape& shape() const { return *shape_; }
  bool is_round() const { return shape_->radius() > 0; }

  // The rest is of rings. Edge i runs from vertex i to the next one.
  size_t vertex_count() const { return shape_->edge_count(); }
  Vec2 vertex(size_t i) const { return shape_->edge(i).a; }
  // On which side of an edge the interior is: 1 for the left, 0 for an edge of length 0.
  int inner_side(size_t edge) const { return IsPointEdge(edge) ? 0 : turn_; }
  // The sector at a vertex that is inside.
  Sector SectorAt(size_t vertex) const;

 private:
  bool IsPointEdge(size_t edge) const;
  bool IsSimple(WorkMeter& meter) const;
  // The nearest vertex after, respectively before, that is at another place.
  Vec2 After(size_t vertex) const;
  Vec2 Before(size_t vertex) const;

  const PlacedShape* shape_ = nullptr;
  int turn_ = 1;  // 1 if the ring is counter-clockwise
};

}  // namespace carom::internal
