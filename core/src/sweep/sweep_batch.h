// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `RunSweeps` runs `SweepShapes` with or without its fast path, so that tests can compare both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"

namespace carom::internal {

// kFastPath tries the SIMD fast path first and falls back to the exact search; kGeneral runs the
// exact search alone.
enum class SweepWay : uint8_t { kFastPath, kGeneral };

// The number of items of a batch that each search answered.
struct SweepCounts {
  // items with a touch that the fast path found, without the exact search
  size_t touches = 0;
  // items with an overlap at the start that the fast path found; the exact search computes only the
  // point of the overlap
  size_t overlaps = 0;
  size_t fallbacks = 0;  // items that the exact search answered
};

// The input of `RunSweeps`: the world, the batch and its options, and which search answers.
struct SweepRun {
  const World world;
  const SweepColumns& columns;
  const SweepOptions& options;
  SweepWay way = SweepWay::kFastPath;
};

// Answers a batch of sweeps. Returns false once `meter` stops; `out` is then meaningless.
bool RunSweeps(const SweepRun& run, SweepAnswers& out, WorkMeter& meter,
               SweepCounts* counts = nullptr);

}  // namespace carom::internal
