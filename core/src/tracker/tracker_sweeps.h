// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do trackers touch first on their ways? For moves that are sweeps.
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

// The ways of a batch of moves. Not thread-safe.
class TrackerSweeps {
 public:
  // What a way that is not clear strikes, or why it was not swept.
  struct SweepResult {
    uint32_t item = 0;
    FirstTouch first_touch;
    std::optional<ItemError> error = std::nullopt;  // names the columns of moves
  };

  // Forgets all; there are to be `count` ways, clear but for those that follow.
  void Clear(size_t count);
  // Way `item` is to be swept; items ascend. The poses are accepted, the shape outlives the sweep;
  // the tolerance is for one that turns.
  void Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
           double tolerance);
  void Refuse(const ItemError& error) { AddResult({error.index, {}, error}); }

  // Sweeps what was added, in batches. Returns false once the meter stops.
  bool Sweep(const Scene& scene, WorkMeter& meter);

  bool IsClear(size_t item) const { return (hit_bits_[item / 64] >> (item % 64) & 1) == 0; }
  // Whether it was found to be clear up to the pose at its end, whose answer that is then.
  bool IsClearToEnd(size_t item) const { return (clear_bits_[item / 64] >> (item % 64) & 1) != 0; }
  // Of one that is not clear. Cost O(log n).
  const SweepResult& result(size_t item) const;

  bool IsWorthCaching(size_t most) const {
    return results_.capacity() + swept_.capacity() + points_.capacity() <= most;
  }

 private:
  struct Swept {
    uint64_t mask;
    bool turns;
    uint32_t item;
    const Shape* shape;
    Pose from, to;
    double tolerance;
    bool ends_at_pose = false;  // to the bit
  };

  // A batch is of one mask; all of the last kind turn or none.
  bool CastBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter);
  bool SweepBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter);
  template <class TouchOf>
  void Take(std::span<const Swept> batch, const std::vector<uint32_t>& counts,
            const std::vector<ItemError>& errors, const TouchOf& touch_of);
  void AddResult(const SweepResult& result);

  std::vector<uint64_t> hit_bits_, clear_bits_;
  std::vector<SweepResult> results_;   // ascending by item after `Sweep`
  std::vector<Swept> swept_, points_;  // points go by casts
  std::vector<Shape> shapes_;
  std::vector<double> x_, y_, c_, s_, to_x_, to_y_, to_c_, to_s_, tolerance_;
  SweepAnswers straight_;
  RotatingSweepAnswers turning_;
  CastAnswers casts_;
};

}  // namespace carom::internal
