// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `RunSweeps` runs `SweepShapes`, or the exact search alone, so that tests can compare the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"

namespace carom::internal {

// kFastPath tries the fast path first; kGeneral runs the exact search alone.
enum class SweepWay : uint8_t { kFastPath, kGeneral };

// The number of items by the search that answered them.
struct SweepCounts {
  size_t touches = 0;    // answered without the exact search
  size_t overlaps = 0;   // at the start; the exact search finds only the point
  size_t fallbacks = 0;  // answered by the exact search
};

// The world, the batch and the options of a run, and the search to use.
struct SweepRun {
  const World world;
  const SweepColumns& columns;
  const SweepOptions& options;
  SweepWay way = SweepWay::kFastPath;
};

// Runs a batch. Returns false once `meter` stops; `out` is then meaningless.
bool RunSweeps(const SweepRun& run, SweepAnswers& out, WorkMeter& meter,
               SweepCounts* counts = nullptr);

}  // namespace carom::internal
