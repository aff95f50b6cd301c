// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a moving shape can overlap an obstacle in more than touch?
//
// Two sets overlap in more than touch where the interior of one meets the other. A moving shape
// under the blocking policies is a simple ring with an interior, or an axis with a radius above 0.
// Either shape M is the closure of its interior, for which
//
//   (1) int(M) meets P, or M meets int(P), exactly if int(M) meets P.
//
// So a fixed polygon counts by its points, above all by its edges; and the shape counts by its
// inside: the inner side of each edge and the inner sector at each vertex.
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

// The exact vector `to` - `from`.
struct Direction {
  Vec2 from;
  Vec2 to;

  Direction operator-() const { return {to, from}; }
};

// Returns the sign of a x b; `DotSign` returns the sign of a . b. Exact.
int CrossSign(const Direction& a, const Direction& b);
int DotSign(const Direction& a, const Direction& b);

// The open sector counter-clockwise from `first` to `last`.
struct Sector {
  Direction first;
  Direction last;
  int turn = 1;  // 1 for less than half a turn, 0 for half a turn, -1 for more

  bool Contains(const Direction& u) const;
};

// A shape that moves under a blocking policy. Reused from pose to pose. Not thread-safe.
class BlockingMover {
 public:
  // Sets the shape, as it stands, and keeps a reference to it. Returns the shape's fault, if any:
  // NO_INTERIOR, or NOT_SIMPLE for several rings or a ring that touches itself. O(n) for a strictly
  // convex ring, else O(n^2).
  std::optional<ItemFault> Take(const PlacedShape& shape, WorkMeter& meter);

  const PlacedShape& shape() const { return *shape_; }
  bool is_round() const { return shape_->radius() > 0; }

  // The members below are for rings. Edge i runs from vertex i to the next vertex.
  size_t vertex_count() const { return shape_->edge_count(); }
  Vec2 vertex(size_t i) const { return shape_->edge(i).a; }
  // Returns the side of an edge on which the interior is: 1 left, -1 right, 0 for an edge of length
  // 0.
  int inner_side(size_t edge) const { return IsPointEdge(edge) ? 0 : turn_; }
  // Returns the sector at a vertex that is inside the ring.
  Sector SectorAt(size_t vertex) const;

 private:
  bool IsPointEdge(size_t edge) const;
  bool IsSimple(WorkMeter& meter) const;
  // Returns the nearest vertex after `vertex` that has another position; `Before` returns the
  // nearest one before it.
  Vec2 After(size_t vertex) const;
  Vec2 Before(size_t vertex) const;

  const PlacedShape* shape_ = nullptr;
  int turn_ = 1;  // 1 if the ring is counter-clockwise, else -1
};

}  // namespace carom::internal
