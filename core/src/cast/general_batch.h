// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many lines hit? This is the general path: it supports all options and all polygons. For
// the most common options, fast_batch.h passes only those lines to the general path for which
// rounding errors could change the answer.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "shape/line.h"

namespace carom::internal {

// A function that sets the line of item i of a batch; or, if the item is invalid, records an error
// and returns false.
using LineOf = absl::FunctionRef<bool(size_t, Line&)>;

// Casts the lines with indices in [0, count). Reads the lines by `line_of` in order, once each.
// Clears `out` first. Returns false once the meter stops the work; `out` is then meaningless.
bool CastGeneral(const Scene& scene, const CastOptions& options, size_t count,
                 const LineOf& line_of, CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
