// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many lines hit first, what do they all hit, or do they hit anything?
//
// The commonest questions, about polygons of one ring: lines, hits and measures take a fast path
// (plain_line.h), and lines that it leaves undecided go through `CastInGeneral`, together. Its
// answers are the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "cast/general_batch.h"

namespace carom::internal {

// Whether `CastPlain` answers with these options.
inline bool IsPlainQuestion(const CastOptions& options) {
  return options.mode != CastMode::kAllPassages && !IsBlocking(options.inside_policy) &&
         options.target == CastTarget::kPolygons;
}

// The lines of a batch.
struct PlainSource {
  size_t count;
  LineOf line_of;
  // Where the lines are segments, their columns: then `line_of` is asked about those alone that are
  // not accepted, or left to `CastInGeneral`.
  const SegmentColumns* segments = nullptr;
  // Grows by the number of lines that are left to `CastInGeneral`, unless it is null.
  size_t* hard_count = nullptr;
  // Whether to try the fast path however many lines were left of late: for tests.
  bool tries_all = false;
};

// As `CastInGeneral`. Lines that are left to that count their work twice, as they cause it.
bool CastPlain(const Scene& scene, const CastOptions& options, const PlainSource& source,
               CastAnswers& out, WorkMeter& meter);

// How a single line ended: with an answer, unless the meter has stopped; undecided, so
// that `CastInGeneral` is to be asked; or where cells do not help, so that trees are.
enum class SingleEnd : uint8_t { kAnswered, kHard, kByTrees };

// One line in a scene that has a grid.
SingleEnd CastPlainSingle(const Scene& scene, const CastOptions& options, const PlainSource& source,
                          CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
