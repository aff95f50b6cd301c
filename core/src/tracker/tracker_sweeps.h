// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do trackers touch first on the paths of moves that are sweeps?
//
// A path inside a quiet ball that touches nothing is clear without a query. All other paths are
// swept together: paths of points that are exactly segments by segment casts, the rest by linear or
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

// Sweeps the paths of a batch of moves, and keeps the results by item. Reused from batch to batch.
// Not thread-safe.
class TrackerSweeps {
 public:
  // What a path that is not clear touches first, or why the path was not swept.
  struct SweepResult {
    uint32_t item = 0;
    FirstTouch first_touch;
    std::optional<ItemError> error = std::nullopt;  // refers to the columns of moves
  };

  // Finds which paths of `moves`, all of them sweeps, are clear, and what each other path touches
  // first. Returns false once the meter stops. An item without a tracker counts as clear.
  bool Run(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
           WorkMeter& meter);

  bool IsClear(size_t item) const { return (hit_bits_[item / 64] >> (item % 64) & 1) == 0; }
  // Returns whether a cast found the path clear up to the pose at its end, so that the shape
  // touches nothing at its end either.
  bool IsClearToEnd(size_t item) const { return (clear_bits_[item / 64] >> (item % 64) & 1) != 0; }
  // Returns the result of a path that is not clear. O(log n).
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
    bool ends_at_pose = false;  // whether the end of a segment is exactly the placed point
  };

  // Collects the paths that no quiet ball proves clear. Returns false once the meter stops.
  bool Collect(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
               WorkMeter& meter);
  // Adds a path. Both poses are accepted, and the shape outlives the sweep. The tolerance applies
  // if the path turns. Items ascend from call to call.
  void Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
           double tolerance);
  // Sweeps the added paths in batches. Returns false once the meter stops.
  bool Sweep(const Scene& scene, WorkMeter& meter);
  // Cast or sweep a batch of paths that have one mask, and that all turn or all do not turn. Return
  // false once the meter stops.
  bool CastBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  bool SweepBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  template <class TouchOf>
  void Take(std::span<const Path> batch, const std::vector<uint32_t>& counts,
            const std::vector<ItemError>& errors, const TouchOf& touch_of);
  void Refuse(const ItemError& error) { AddResult({error.index, {}, error}); }
  void AddResult(const SweepResult& result);

  std::vector<uint64_t> hit_bits_, clear_bits_;
  std::vector<SweepResult> results_;  // ascending by item after `Run`
  std::vector<Path> paths_;           // paths to sweep as shapes
  std::vector<Path> segments_;        // paths to cast as segments
  std::vector<Shape> shapes_;
  std::vector<double> x_, y_, c_, s_, to_x_, to_y_, to_c_, to_s_, tolerance_;
  SweepAnswers straight_;
  RotatingSweepAnswers turning_;
  CastAnswers casts_;
};

}  // namespace carom::internal
