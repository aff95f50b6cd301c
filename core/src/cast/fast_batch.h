// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many lines hit first, what do they all hit, or do they hit anything?
//
// Answers the most common queries, about polygons of one ring, on a fast path (fast_line.h).
// `CastGeneral` casts the lines that the fast path leaves undecided, all together. The answers are
// bit-identical to those of `CastGeneral`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "cast/general_batch.h"

namespace carom::internal {

// Returns whether `CastFast` supports these options.
inline bool IsFastQuestion(const CastOptions& options) {
  return options.mode != CastMode::kAllPassages && !IsBlocking(options.inside_policy) &&
         options.target == CastTarget::kPolygons;
}

// The lines of a batch.
struct FastSource {
  size_t count;
  LineOf line_of;
  // The columns of the lines if the lines are segments. Then `CastFast` calls `line_of` only for
  // segments that are not accepted or that `CastGeneral` casts.
  const SegmentColumns* segments = nullptr;
  // Unless null, `CastFast` adds the number of lines that `CastGeneral` casts to it.
  size_t* undecided_count = nullptr;
  // Whether to try the fast path however many lines were undecided recently: for tests.
  bool always_tries_fast_path = false;
};

// Sets `out` to what `CastGeneral` returns. A line that falls back to `CastGeneral` counts its work
// twice, since both paths search it.
bool CastFast(const Scene& scene, const CastOptions& options, const FastSource& source,
              CastAnswers& out, WorkMeter& meter);

// The result of a single line: answered (or the meter has stopped); undecided, so that the caller
// calls `CastGeneral`; or in a square without cells, so that the caller uses the trees.
enum class SingleEnd : uint8_t { kAnswered, kUndecided, kNeedsTrees };

// Casts the one line of `source` in a scene with a grid.
SingleEnd CastFastSingle(const Scene& scene, const CastOptions& options, const FastSource& source,
                         CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
