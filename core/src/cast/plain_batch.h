// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many lines hit first, or do they hit anything?
//
// The commonest questions, about polygons of one ring: lines, hits and measures take a short way
// (plain_line.h), and lines that it leaves undecided go through `CastInGeneral`, together. Its
// answers are the same to the bit.
#pragma once

#include <cstddef>

#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "cast/general_batch.h"

namespace carom::internal {

// Whether `CastPlain` answers with these options.
bool IsPlainQuestion(const CastOptions& options);

// The lines of a batch.
struct PlainSource {
  size_t count;
  LineOf line_of;
  // Where the lines are segments, their columns: then `line_of` is asked about those alone that are
  // not accepted, or left to `CastInGeneral`.
  const SegmentColumns* segments = nullptr;
};

// As `CastInGeneral`. Lines that are left to that count their work twice, as they cause it. Adds
// their number to `hard_count` unless it is null.
bool CastPlain(const Scene& scene, const CastOptions& options, const PlainSource& source,
               CastAnswers& out, WorkMeter& meter, size_t* hard_count = nullptr);

}  // namespace carom::internal
