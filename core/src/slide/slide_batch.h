// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `RunSlides` runs `SlideShapes` with or without its fast path, so that tests can compare both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/bodies.h"
#include "carom/slide.h"
#include "carom/work_meter.h"

namespace carom::internal {

// kFastPath tries the fast path (`FastSlide`) first and falls back to the exact search; kGeneral
// runs the exact search alone.
enum class SlideSearch : uint8_t { kFastPath, kGeneral };

// The number of legs (straight moves) of slides that each search answered.
struct SlideCounts {
  // legs without a hit that the fast path answered
  size_t free = 0;
  // legs with a hit that the fast path answered
  size_t hits = 0;
  size_t fallbacks = 0;  // legs that the exact search answered
};

// The input of `RunSlides`: the world, the batch and its options, and which search answers.
struct SlideRun {
  const World world;
  const SlideColumns& columns;
  const SlideOptions& options;
  SlideSearch search = SlideSearch::kFastPath;
};

// Answers a batch of slides. Returns false once `meter` stops; `out` is then meaningless.
bool RunSlides(const SlideRun& run, SlideAnswers& out, WorkMeter& meter,
               SlideCounts* counts = nullptr);

}  // namespace carom::internal
