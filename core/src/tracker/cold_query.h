// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracked shape touch at a pose, without the tracker's memory?
//
// A `ColdQuery` answers by the kernels of an overlap query or, if the tracker counts polygons
// within a distance `within` as touched, of a distance query. Trackers use it under
// Coherence::kOff, and where an influence mask (the edges near the shape, kept from move to move)
// does not pay. The answers of a mask (tracker/tracker_memory.h) must equal the answers of a
// `ColdQuery`.
#pragma once

#include <cstddef>
#include <vector>

#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "proximity/distance_query.h"
#include "proximity/overlap_query.h"
#include "tracker/posed_shape.h"
#include "tracker/touched.h"

namespace carom::internal {

// Evaluates cold queries: queries for a tracked shape at a pose that use nothing that the tracker
// remembers of earlier moves. Reuses its buffers from move to move. Not thread-safe.
class ColdQuery {
 public:
  // Adds the polygons that the shape touches, and under OverlapDetail::kEdges the edges that it
  // touches, to `touched`, which must be empty. `touched` is meaningless once the meter has stopped
  // the work.
  void Run(const Scene& scene, OverlapDetail detail, PosedShape& posed, Touched& touched,
           WorkMeter& meter);

  bool IsWorthCaching(size_t most) const {
    return overlaps_.capacity() + measured_.capacity() <= most;
  }

 private:
  void TakeOverlaps(Touched& touched) const;
  void TakeMeasured(OverlapDetail detail, PosedShape& posed, Touched& touched,
                    WorkMeter& meter) const;

  MovingShape mover_;
  OverlapRows overlaps_;
  std::vector<MeasuredPolygon> measured_;
};

}  // namespace carom::internal
