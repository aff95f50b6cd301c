// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do trackers touch first on the paths of moves that are sweeps?
//
// A path that stays in the quiet ball of its tracker (the disc about the last position in which the
// tracker's answer does not change) is clear without a query if that answer is empty. All other
// paths are swept together: the path of a shape that is one point is cast as a segment, if the
// point does not turn and its two placed positions are the exact ends of the path; all other paths
// are linear or rotating sweeps.
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

// Sweeps the paths of a batch of moves, and stores the results by item (the index of the move).
// Reused from batch to batch. Not thread-safe.
class TrackerSweeps {
 public:
  // What a path that is not clear touches first, or the error because of which the path was not
  // swept.
  struct SweepResult {
    uint32_t item = 0;
    FirstTouch first_touch;
    std::optional<ItemError> error = std::nullopt;  // the error names columns of `MoveColumns`
  };

  // Finds which paths of `moves`, all of which must be sweeps, are clear (touch nothing), and what
  // each other path touches first. Returns false once the meter stops. An item without a tracker
  // counts as clear.
  bool Run(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
           WorkMeter& meter);

  // Returns whether the path of the item touches nothing.
  bool IsClear(size_t item) const { return (hit_bits_[item / 64] >> (item % 64) & 1) == 0; }
  // Returns whether a segment cast found that the path touches nothing and ends exactly at the pose
  // of the item, so that the shape touches nothing at this pose either.
  bool IsClearToEnd(size_t item) const { return (clear_bits_[item / 64] >> (item % 64) & 1) != 0; }
  // Returns the result of an item with a path that is not clear. O(log n) for n results.
  const SweepResult& result(size_t item) const;

  bool IsWorthCaching(size_t most) const {
    return results_.capacity() + paths_.capacity() + segments_.capacity() <= most;
  }

 private:
  struct Path {
    // mask of the categories of polygons that the path may touch
    uint64_t mask;
    // whether the shape turns on the path
    bool turns;
    uint32_t item;
    const Shape* shape;
    Pose from, to;
    double tolerance;
    // Whether the shape is a point, its tracker counts only polygons that it meets as touched (the
    // option `within` is 0), and the path is a segment that ends exactly at the point as placed at
    // `to`.
    bool ends_at_pose = false;
  };

  // Collects the paths to sweep: all paths but those that stay in the quiet ball (the disc in which
  // the last answer holds) of a tracker that touches nothing. Returns false once the meter stops.
  bool Collect(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
               WorkMeter& meter);
  // Adds the path of a shape from one pose to another, both of which must be accepted. The shape
  // must outlive the sweep. `tolerance` is how near to a contact the sweep of a turning shape
  // stops; it does not matter for other paths. `item` must ascend from call to call.
  void Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
           double tolerance);
  // Sweeps the added paths in batches. Returns false once the meter stops.
  bool Sweep(const Scene& scene, WorkMeter& meter);
  // `CastBatch` casts segments, the paths of points that do not turn; all paths of its batch have
  // one category mask. `SweepBatch` sweeps all other paths; the paths of its batch have one
  // category mask, and either all turn their shapes or none does. Both return false once the meter
  // stops.
  bool CastBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  bool SweepBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter);
  template <class TouchOf>
  void Take(std::span<const Path> batch, const std::vector<uint32_t>& counts,
            const std::vector<ItemError>& errors, const TouchOf& touch_of);
  void Refuse(const ItemError& error) { AddResult({error.index, {}, error}); }
  void AddResult(const SweepResult& result);

  // One bit for each item (move), set in `hit_bits_` if the path touches something or has an error,
  // and in `clear_bits_` if a segment cast found that the path is clear (touches nothing) up to its
  // end (`IsClearToEnd`).
  std::vector<uint64_t> hit_bits_, clear_bits_;
  std::vector<SweepResult> results_;  // sorted by item after `Run`
  std::vector<Path> paths_;           // paths for linear or rotating sweeps
  std::vector<Path> segments_;        // paths of points, for segment casts
  std::vector<Shape> shapes_;
  std::vector<double> x_, y_, c_, s_, to_x_, to_y_, to_c_, to_s_, tolerance_;
  SweepAnswers straight_;
  RotatingSweepAnswers turning_;
  CastAnswers casts_;
};

}  // namespace carom::internal
