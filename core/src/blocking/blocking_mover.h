// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a moving shape can overlap an obstacle in more than touch?
//
// Two sets overlap in more than touch if the interior of one meets the other. A moving shape under
// the blocking policies is a simple ring with an interior, or a capsule with a radius above 0. Such
// a shape M is the closure of its interior int(M), so for every obstacle P
//
//   (1) int(M) meets P, or M meets int(P), exactly if int(M) meets P.
//
// For an obstacle, all points count, so that testing its edges is the main work; for the moving
// shape, only its interior counts: the inner side of each edge and the inner sector at each vertex.
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

// The vector from the point `from` to the point `to`, kept unevaluated and hence exact.
struct Direction {
  Vec2 from;
  Vec2 to;

  Direction operator-() const { return {to, from}; }
};

// `CrossSign` returns the sign of the cross product a x b, `DotSign` the sign of the dot product a
// . b. Exact.
int CrossSign(const Direction& a, const Direction& b);
int DotSign(const Direction& a, const Direction& b);

// A sector: the open set of directions that a counter-clockwise turn from `first` to `last` passes
// through.
struct Sector {
  Direction first;
  Direction last;
  int turn = 1;  // 1 if the sector is less than half a turn, 0 if half a turn, -1 if more

  bool Contains(const Direction& u) const;
};

// A moving shape at one pose: a ring of edges with an interior, or a capsule with a radius, and the
// tests for its interior. It is the mover under the inside policies BLOCKING and BLOCKING_LEAVE: a
// shape may touch obstacles, but its interior must not meet one. An object is reused for many
// poses. Not thread-safe.
class BlockingMover {
 public:
  // Sets the placed shape, of which it keeps a reference. Returns the shape's fault, if any:
  // NO_INTERIOR, or NOT_SIMPLE for several rings or a ring that touches itself. O(n) for a strictly
  // convex ring of n vertices, else O(n^2).
  std::optional<ItemFault> Take(const PlacedShape& shape, WorkMeter& meter);

  const PlacedShape& shape() const { return *shape_; }
  bool is_round() const { return shape_->radius() > 0; }

  // The members below are for rings, not for capsules. Edge i runs from vertex i to the next
  // vertex.
  size_t vertex_count() const { return shape_->edge_count(); }
  Vec2 vertex(size_t i) const { return shape_->edge(i).a; }
  // Returns the side of an edge, seen along the edge, on which the interior is: 1 for left, -1 for
  // right, 0 for an edge of length 0.
  int inner_side(size_t edge) const { return IsPointEdge(edge) ? 0 : turn_; }
  // Returns the directions from a vertex that lead into the interior of the ring.
  Sector SectorAt(size_t vertex) const;

 private:
  bool IsPointEdge(size_t edge) const;
  bool IsSimple(WorkMeter& meter) const;
  // `After` returns the position of the first vertex after `vertex`, along the ring, that is not at
  // the position of `vertex`; `Before` returns the position of the last vertex before `vertex` that
  // is not at the position of `vertex`.
  Vec2 After(size_t vertex) const;
  Vec2 Before(size_t vertex) const;

  const PlacedShape* shape_ = nullptr;
  int turn_ = 1;  // 1 if the ring is counter-clockwise, else -1
};

}  // namespace carom::internal
