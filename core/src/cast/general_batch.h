// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many lines hit? Any question, about any polygons. Of the commonest one, plain_batch.h
// leaves only what it cannot decide to this.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "shape/line.h"

namespace carom::internal {

// `line_of(i, line)` sets the line of item i, or records an error and returns false.
using LineOf = absl::FunctionRef<bool(size_t, Line&)>;

// Casts lines [0, count), read in order, once each. Clears `out` first. Returns false once the
// meter stops; `out` is then meaningless.
bool CastInGeneral(const Scene& scene, const CastOptions& options, size_t count,
                   const LineOf& line_of, CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
