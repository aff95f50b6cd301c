// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `RunSlides` runs `SlideShapes`, or the exact search alone, so that tests can compare the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/slide.h"
#include "carom/work_meter.h"

namespace carom::internal {

// kFastPath tries the fast path first; kGeneral runs the exact search alone.
enum class SlideSearch : uint8_t { kFastPath, kGeneral };

// The number of legs by the search that answered them.
struct SlideCounts {
  size_t free = 0;       // met nothing, answered without the exact search
  size_t hits = 0;       // met something, answered without the exact search
  size_t fallbacks = 0;  // answered by the exact search
};

// The world, the batch and the options of a run, and the search to use.
struct SlideRun {
  const World world;
  const SlideColumns& columns;
  const SlideOptions& options;
  SlideSearch search = SlideSearch::kFastPath;
};

// Runs a batch. Returns false once `meter` stops; `out` is then meaningless.
bool RunSlides(const SlideRun& run, SlideAnswers& out, WorkMeter& meter,
               SlideCounts* counts = nullptr);

}  // namespace carom::internal
