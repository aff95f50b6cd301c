// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracked shape touch at a pose, found without memory?
//
// The same question as an overlap, or with a `within` as a query of distances, and answered by
// their kernels. Trackers ask it under Coherence::kOff and where a mask does not pay; what a mask
// answers (tracker/tracker_memory.h) is compared with it.
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

// Reused from move to move. Not thread-safe.
class ColdQuery {
 public:
  // Fills `touched`, which is empty. Once the meter has stopped it is meaningless.
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
