// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape begin to overlap one polygon, or one round body, in more than touch?
//
// O denotes the set of times t at which the shape and the polygon (or body) overlap in more than
// touch: the interior of one meets the other. O is open. Suppose they do not overlap so at some
// time. If the shape or the body has a radius, O begins after that time when an edge of one comes
// closer to an edge of the other than the sum of the radii. For a ring and a polygon O begins when
// one of these happens:
//   (1) an edge of the polygon and an edge of the ring begin to cross;
//   (2) two parallel edges share more than a point, and the ring moves so that the polygon's edge
//       is about to pass to the inner side of the ring's edge;
//   (3) a vertex of the ring meets a vertex of the polygon, and -d, the direction from which the
//       ring's vertex comes, is in the inner sector at that vertex: the polygon's vertex is in the
//       interior from then on.
// Nothing else begins O. Just after O begins, a piece of an edge of the polygon is in the interior
// of the ring. The piece ends where the edge crosses an edge of the ring, case (1), or at a vertex
// of the polygon. That vertex of the polygon entered the interior through an edge of the ring,
// cases (1) and (2), or through a vertex, case (3); or, if its edge is parallel to the path and
// slides through a vertex of the ring, the polygon's vertex was in the interior before.
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

// Finds when one shape, moving by t * d for t in [0, 1], overlaps an obstacle in more than touch
// (the interior of one meets the other). The obstacle `fixed` is a polygon, or the axis of a round
// body (the body is all points within a radius of its axis). An object is reused for many
// obstacles. Not thread-safe.
class BlockingPair {
 public:
  // Sets the shape of later calls, to which it keeps a reference, and its motion. If `motion.d` is
  // 0, no overlap begins. `margin` is the distance, in each coordinate, by which obstacles must be
  // off the path for `axes` to prove them clear. `motion.fixed_radius` is the radius of the body if
  // later calls pass the axis of a body as `fixed`.
  void Start(const BlockingMover& mover, const Motion& motion, double margin);

  const BlockingMover& mover() const { return *mover_; }
  const Motion& motion() const { return motion_; }
  const Box& bounds() const { return bounds_; }
  // Returns the separating axes. They prove obstacles clear of the path: the moving shape neither
  // meets such an obstacle nor comes closer to it than the sum of the radii.
  SweepAxes& axes() { return axes_; }
  const SweepAxes& axes() const { return axes_; }

  // Returns the first time in [`after`, 1) at which an overlap in more than touch begins, if the
  // shapes do not overlap in more than touch at `after`. May return nothing if that time is above
  // `limit`. `first_edge` of the event is the least index of an edge of `fixed` that begins to
  // overlap at that time (if the shape or the body has a radius: at a time that rounds up to the
  // same double).
  std::optional<SweepEvent> Entry(const IndexedPolygon& fixed, double limit, const SweepTime& after,
                                  WorkMeter& meter);

  // Returns when the overlap in more than touch at the start of the path first ends, or nothing if
  // it lasts to the end of the path.
  std::optional<SweepTime> EndOfOverlap(const IndexedPolygon& fixed, WorkMeter& meter);

 private:
  // Two edges that touch until the time `end`. In the open interval `crossing` the two edges alone
  // prove that the shapes overlap in more than touch.
  struct Contact {
    SweepTime end;
    std::optional<SweepInterval> crossing;
  };

  // An edge of the obstacle and an edge of the moving shape, with their indices.
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
  // Properties of the ring that depend on its displacement d, computed on demand.
  bool is_ring_prepared_ = false;
  // for each vertex: whether the direction -d is in the inner sector at the vertex (the directions
  // that lead from the vertex into the ring's interior)
  std::vector<bool> is_back_in_sector_;
  // for each edge: the sign of the component of d towards the inner side of the edge
  std::vector<int> advance_;
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
