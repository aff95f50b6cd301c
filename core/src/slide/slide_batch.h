// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `SlideShapes`, and the exact search alone, for whoever compares the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/slide.h"
#include "carom/work_meter.h"

namespace carom::internal {

// GENERAL takes the exact search alone.
enum class SlideSearch : uint8_t { kShort, kGeneral };

// How many legs were answered by which.
struct SlideCounts {
  size_t free = 0;  // met nothing, without the exact search
  size_t hits = 0;  // met something, likewise
  size_t left = 0;  // to the exact search
};

// What is asked, and how.
struct SlideRun {
  const World world;
  const SlideColumns& columns;
  const SlideOptions& options;
  SlideSearch search = SlideSearch::kShort;
};

// Returns false once `meter` stops; `out` is then meaningless.
bool RunSlides(const SlideRun& run, SlideAnswers& out, WorkMeter& meter,
               SlideCounts* counts = nullptr);

}  // namespace carom::internal
