// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape begin to overlap one polygon, or one round body, in more than touch?
//
// O is the set of t at which they overlap in more than touch (carom/sweep.h); it is open. From a t
// on at which they do not overlap, O begins at the first time at which, where either has a radius,
// an edge comes closer to another edge than the sum of the radii. For a ring and a polygon O begins
// when one of these happens:
//   (1) an edge of the polygon and an edge of the ring begin to cross;
//   (2) two parallel edges share more than a point, and the ring moves on towards the polygon's
//       edge with its inner side;
//   (3) two vertices meet, and the ring's vertex comes from within its own sector: the polygon's
//       vertex is in the interior from then on.
// Nothing else begins O. Just after O begins, an edge of the polygon has a piece in the interior.
// The piece ends where the edge crosses an edge of the ring (1), or at a vertex of the polygon.
// That vertex entered through an edge (1, 2) or through a vertex (3), or, where an edge slides
// along the path through a vertex of the ring, it was in the interior before.
#pragma once

#include <optional>
#include <vector>

#include "blocking/blocking_mover.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_passage.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Finds when one moving shape overlaps polygons in more than touch. Reused from polygon to polygon.
// Not thread-safe.
class BlockingPair {
 public:
  // Sets the shape of later calls and keeps a reference to it. `motion.d` may be 0: then no overlap
  // begins. `margin` is the margin of `axes`. `motion.fixed_radius` is the radius of the body if
  // later calls pass the axis of a body as `fixed`.
  void Start(const BlockingMover& mover, const Motion& motion, double margin);

  const BlockingMover& mover() const { return *mover_; }
  const Motion& motion() const { return motion_; }
  const Box& bounds() const { return bounds_; }
  // Returns the separating axes. The shape neither meets, nor is closer than its radius to, what
  // they prove clear.
  SweepAxes& axes() { return axes_; }
  const SweepAxes& axes() const { return axes_; }

  // Returns the first time in [`after`, 1) at which an overlap in more than touch begins, if the
  // shapes do not overlap so at `after`. A time above `limit` may be left out. The event's edge is
  // the least edge that begins to overlap at that time (for an axis with a radius: at that time
  // rounded up).
  std::optional<SweepEvent> Entry(const IndexedPolygon& fixed, double limit, const SweepTime& after,
                                  WorkMeter& meter);

  // Returns when an overlap in more than touch at the start first ends, or nothing if it lasts to
  // the end of the path.
  std::optional<SweepTime> EndOfOverlap(const IndexedPolygon& fixed, WorkMeter& meter);

 private:
  // A contact of two edges, which touch until `end`. During `crossing` the two edges alone make the
  // shapes overlap in more than touch.
  struct Contact {
    SweepTime end;
    std::optional<SweepInterval> crossing;
  };

  // Two edges and their numbers.
  struct Edges {
    Segment fixed;
    Segment moving;
    uint32_t fixed_edge;
    uint32_t moving_edge;
  };

  void PrepareRing();
  void AddEntries(const Edges& edges, const SweepTime& after, double limit,
                  SweepEvent& first) const;
  void Add(const SweepTime& t, const SweepTime& after, const Edges& edges, SweepEvent& first) const;
  std::optional<Contact> ContactOf(const Segment& edge, const Segment& moving) const;

  const BlockingMover* mover_ = nullptr;
  Motion motion_;
  Box bounds_;
  SweepAxes axes_;
  // Properties of the ring under the motion, computed on demand.
  bool is_ring_prepared_ = false;
  std::vector<bool> is_back_in_sector_;  // of each vertex: whether -d is in its sector
  std::vector<int> advance_;  // of each edge: the sign of d's component towards its inner side
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
