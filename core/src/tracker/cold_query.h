// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracked shape touch at a pose, found without memory?
//
// The same question as an overlap, or with a `within` as a query of distances, and answered by
// them. Trackers ask it under Coherence::kOff and where a mask does not pay; what a mask answers
// (tracker/tracker_memory.h) is compared with it.
#pragma once

#include <cstddef>

#include "carom/distance.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
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
    return overlaps_.polygon_ids.capacity() + overlaps_.edges.capacity() <= most;
  }

 private:
  bool Overlap(const Scene& scene, const OverlapOptions& options, const PosedShape& posed,
               WorkMeter& meter);
  bool Measure(const Scene& scene, const PosedShape& posed, WorkMeter& meter);
  void TakeOverlaps(Touched& touched) const;
  void TakeDistances(const Scene& scene, OverlapDetail detail, PosedShape& posed, Touched& touched,
                     WorkMeter& meter) const;

  OverlapAnswers overlaps_;
  DistanceAnswers distances_;
};

}  // namespace carom::internal
