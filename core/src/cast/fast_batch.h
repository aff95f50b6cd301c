// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does each of many lines hit first, what are all its hits, or does it hit anything?
//
// Answers the most common queries, about polygons of one ring, on a fast path (fast_line.h). Where
// rounding errors could change the answer of a line, the fast path leaves the line undecided;
// `CastGeneral` casts the undecided lines, all together. The answers are bit-identical to the
// answers of `CastGeneral`.
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

// The lines of a batch, as arguments of `CastFast`. The fast path of `CastFast` decides by
// floating-point filters; `CastGeneral` casts the lines that the filters leave undecided.
struct FastSource {
  size_t count;
  LineOf line_of;
  // The columns of the lines if the lines are segments. Then `CastFast` calls `line_of` only for
  // segments that are not accepted or that `CastGeneral` casts.
  const SegmentColumns* segments = nullptr;
  // Unless the pointer is null, `CastFast` adds the number of lines that it passes to `CastGeneral`
  // to `*undecided_count`.
  size_t* undecided_count = nullptr;
  // Whether to try the fast path even if many recent lines were undecided: for tests.
  bool always_tries_fast_path = false;
};

// Sets `out` to the answers that `CastGeneral`, the general path, would give. A line that falls
// back to `CastGeneral` counts its work twice, since both paths search it. Returns false once the
// meter stops the work.
bool CastFast(const Scene& scene, const CastOptions& options, const FastSource& source,
              CastAnswers& out, WorkMeter& meter);

// The result of `CastFastSingle`. kAnswered: the line is answered, or the meter has stopped the
// work. kUndecided: rounding errors could change the answer, so the caller calls `CastGeneral`.
// kNeedsTrees: the line enters a square of the scene's grid that is not divided into cells, or
// begins too far away from the grid, so the caller searches the bounding-box trees.
enum class SingleEnd : uint8_t { kAnswered, kUndecided, kNeedsTrees };

// Casts the only line of `source` in a scene that has a grid (squares, most of which are divided
// into cells, which list polygons): the line moves from cell to cell.
SingleEnd CastFastSingle(const Scene& scene, const CastOptions& options, const FastSource& source,
                         CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
