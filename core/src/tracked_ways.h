// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do trackers touch first on their ways? For moves that are sweeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/rotating_sweep.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"
#include "tracked_shape.h"

namespace carom::internal {

// The ways of a batch of moves. Not thread-safe.
class TrackedWays {
 public:
  // Forgets all; there are to be `count` ways, clear but for those that follow.
  void Clear(size_t count);
  // Way `item` is to be swept. The poses are accepted, the shape outlives the sweep; the tolerance
  // is for one that turns.
  void Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
           double tolerance);
  void Refuse(const ItemError& error) { ways_[error.index].error = error; }

  // Sweeps what was added, in batches. Returns false once the meter stops.
  bool Sweep(const Scene& scene, WorkMeter& meter);

  const FirstTouch& first_touch(size_t item) const { return ways_[item].first_touch; }
  // Which names the columns of moves.
  const std::optional<ItemError>& error(size_t item) const { return ways_[item].error; }

  bool IsModest(size_t most) const { return ways_.capacity() + swept_.capacity() <= most; }

 private:
  struct Way {
    FirstTouch first_touch;
    std::optional<ItemError> error;
  };
  struct Swept {
    uint64_t mask;
    bool turns;
    uint32_t item;
    const Shape* shape;
    Pose from, to;
    double tolerance;
  };

  // Of one mask, all of which turn or none.
  bool SweepBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter);
  template <class Answers, class TouchOf>
  void Take(std::span<const Swept> batch, const Answers& answers, const TouchOf& touch_of);

  std::vector<Way> ways_;
  std::vector<Swept> swept_;
  std::vector<Shape> shapes_;
  std::vector<double> x_, y_, c_, s_, to_x_, to_y_, to_c_, to_s_, tolerance_;
  SweepAnswers straight_;
  RotatingSweepAnswers turning_;
};

}  // namespace carom::internal
