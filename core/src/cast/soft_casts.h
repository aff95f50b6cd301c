// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do lines hit that pass some soft walls? Soft walls are polygons and bodies of the categories
// in `CastOptions::soft_mask`.
//
// Each line is searched alone, in the scene and among the bodies, by the exact comparisons of the
// general path (cast/line_cast.h).
#pragma once

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/work_meter.h"
#include "shape/line.h"

namespace carom::internal {

// Returns whether an option of soft walls is set.
inline bool MentionsSoft(const CastOptions& options) {
  return options.soft_mask != 0 || options.soft_length;
}

// Returns whether the options ask for soft walls that plain casts cannot answer.
inline bool NeedsSoftCasts(const CastOptions& options) {
  return options.soft_mask != 0 && (options.soft_count != 0 || options.soft_length) &&
         (options.mode == CastMode::kClosest || options.mode == CastMode::kAny);
}

// The arguments of `CastSoft`: the lines of a batch, and what they are cast against.
struct SoftCasts {
  const World& world;
  const CastOptions& options;
  const Scope& scope;
  size_t count;
  // Sets `line` to line i of the batch; or, if line i is invalid, records an error and returns
  // false.
  absl::FunctionRef<bool(size_t i, Line& line, std::vector<ItemError>& errors)> line_of;
};

// Casts all lines. Clears `out` first. Returns false once the meter stops the work; `out` is then
// meaningless.
bool CastSoft(const SoftCasts& casts, CastAnswers& out, WorkMeter& meter);

// Adds the columns of soft walls to `out`, the answers of plain casts that pass no soft wall.
void AddSoftColumns(const CastOptions& options, CastAnswers& out);

}  // namespace carom::internal
