// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `SweepShapes`, and the exact search alone, for whoever compares the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"

namespace carom::internal {

// GENERAL takes the exact search alone.
enum class SweepWay : uint8_t { kShort, kGeneral };

// How many items took which way.
struct SweepCounts {
  size_t touches = 0;   // answered without the exact search
  size_t overlaps = 0;  // at the start, of which only the point is searched for
  size_t left = 0;      // to the exact search
};

// What is asked, and how.
struct SweepRun {
  const World world;
  const SweepColumns& columns;
  const SweepOptions& options;
  SweepWay way = SweepWay::kShort;
};

// Returns false once `meter` stops; `out` is then meaningless.
bool RunSweeps(const SweepRun& run, SweepAnswers& out, WorkMeter& meter,
               SweepCounts* counts = nullptr);

}  // namespace carom::internal
