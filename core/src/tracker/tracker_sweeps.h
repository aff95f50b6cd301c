// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do trackers touch first on their paths? For moves that are sweeps.
//
// A path inside a quiet ball that touches nothing is clear without a query. The others are swept
// together: paths of points that are segments to the bit by segment casts, the rest by linear or by
// rotating sweeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/cast.h"
#include "carom/rotating_sweep.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"
#include "tracker/tracked_shape.h"

namespace carom::internal {

// The paths of a batch of moves, by item. Reused from batch to batch. Not thread-safe.
class TrackerSweeps {
 public:
  // What a path that is not clear touches first, or why it was not swept.
  struct SweepResult {
    uint32_t item = 0;
    FirstTouch first_touch;
    std::optional<ItemError> error = std::nullopt;  // names the columns of moves
  };

  // Finds which paths of `moves`, all of them sweeps, are clear, and what the others touch first.
  // Returns false once the meter stops. An item without a tracker counts as clear.
  bool Run(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
           WorkMeter& meter);

  bool IsClear(size_t item) const { return (hit_bits_[item / 64] >> (item % 64) & 1) == 0; }
  // Whether the path was found to be clear up to the pose at its end: then nothing is touched there
  // either.
  bool IsClearToEnd(size_t item) const { return (clear_bits_[item / 64] >> (item % 64) & 1) != 0; }
  // Of a path that is not clear. Cost O(log n).
  const SweepResult& result(size_t item) const;

  bool IsWorthCaching(size_t most) const {
    return results_.capacity() + paths_.capacity() + segments_.capacity() <= most;
  }

 private:
  struct Path {
    uint64_t mask;
    bool turns;
    uint32_t item;
    const Shape* shape;
    Pose from, to;
    double tolerance;
    bool ends_at_pose = false;  // of a segment: its end is the placed point, to the bit
  };

  // Lists the paths that no quiet ball proves clear. Returns false once the meter stops.
  bool Collect(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
               WorkMeter& meter);
  // The poses are accepted, the shape outlives the sweep; the tolerance is for a path that turns.
  // Items ascend.
  void Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
           double tolerance);
  // Sweeps what was added, in batches. Returns false once the meter stops.
  bool Sweep(const Scene& scene, WorkMeter& meter);
  // The paths of a batch have one mask, and either all of them turn or none.
  bool CastBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  bool SweepBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  template <class TouchOf>
  void Take(std::span<const Path> batch, const std::vector<uint32_t>& counts,
            const std::vector<ItemError>& errors, const TouchOf& touch_of);
  void Refuse(const ItemError& error) { AddResult({error.index, {}, error}); }
  void AddResult(const SweepResult& result);

  std::vector<uint64_t> hit_bits_, clear_bits_;
  std::vector<SweepResult> results_;  // ascending by item after `Run`
  std::vector<Path> paths_;           // swept as shapes
  std::vector<Path> segments_;        // cast as segments
  std::vector<Shape> shapes_;
  std::vector<double> x_, y_, c_, s_, to_x_, to_y_, to_c_, to_s_, tolerance_;
  SweepAnswers straight_;
  RotatingSweepAnswers turning_;
  CastAnswers casts_;
};

}  // namespace carom::internal
