// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape begin to overlap one polygon, or one round body, in more than touch?
//
// O is the set of t at which it does (carom/sweep.h); it is open. From a t at which they do not
// overlap so, O begins at the first time at which, where either has a radius, an edge comes closer
// to another one than the sum of both; and for a ring and a polygon one of these happens:
//   (1) an edge of the polygon and one of the ring begin to cross;
//   (2) they are parallel, share more than a point, and the ring moves on towards the polygon's
//   edge
//       with its inner side;
//   (3) two vertices meet, and the ring's comes from within its own sector: the polygon's vertex is
//       in the interior from then on.
// Nothing else begins O: just after its beginning an edge of the polygon has a piece in the
// interior. That ends where the edge crosses one of the ring (1), or at a vertex of the polygon,
// which entered through an edge (1, 2) or through a vertex (3), or, where an edge slides along the
// path through a vertex of the ring, where it was in the interior before.
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

// Reused from polygon to polygon. Not thread-safe.
class BlockingPair {
 public:
  // The shape of the calls that follow; keeps a reference. `motion.d` may be 0: then nothing
  // begins. `margin` is that of the axes. A `motion.fixed_radius` is of the body whose axis `fixed`
  // is below.
  void Start(const BlockingMover& mover, const Motion& motion, double margin);

  const BlockingMover& mover() const { return *mover_; }
  const Motion& motion() const { return motion_; }
  const Box& bounds() const { return bounds_; }
  // What they are clear of the shape neither meets nor is closer to than its radius.
  SweepAxes& axes() { return axes_; }
  const SweepAxes& axes() const { return axes_; }

  // Where O begins, from `after` on, at which it does not hold: in [after, 1) and, but for ties,
  // not above `limit`. The edge is the least of those that begin to overlap at that time (for an
  // axis with a radius: at that time rounded up).
  std::optional<SweepEvent> Entry(const IndexedPolygon& fixed, double limit, const SweepTime& after,
                                  WorkMeter& meter);

  // For shapes that overlap so at the start: the end of that component of O; nothing if it lasts.
  std::optional<SweepTime> EndOfOverlap(const IndexedPolygon& fixed, WorkMeter& meter);

 private:
  // A pair of edges: while it touches, and while it overlaps in more than touch by itself.
  struct Contact {
    SweepTime end;
    std::optional<SweepInterval> crossing;
  };

  // Two edges, by their numbers too.
  struct Edges {
    Segment fixed;
    Segment moving;
    uint32_t fixed_edge;
    uint32_t moving_edge;
  };

  void LookAhead();
  void AddEntries(const Edges& edges, const SweepTime& after, double limit,
                  SweepEvent& first) const;
  void Add(const SweepTime& t, const SweepTime& after, const Edges& edges, SweepEvent& first) const;
  std::optional<Contact> ContactOf(const Segment& edge, const Segment& moving) const;

  const BlockingMover* mover_ = nullptr;
  Motion motion_;
  Box bounds_;
  SweepAxes axes_;
  // What the motion means to the ring, once it is asked.
  bool has_looked_ahead_ = false;
  std::vector<bool> comes_from_within_;  // of each vertex: -d is in its sector
  std::vector<int> advance_;  // of each edge: the sign of how d moves it towards its inner side
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
