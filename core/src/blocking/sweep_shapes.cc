// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `SweepShapes` calls one of two searches: for the first touch (sweep/sweep.cc), or for the
// obstacles that block a shape (blocking_batch.h).
#include "blocking/blocking_batch.h"
#include "carom/sweep.h"
#include "sweep/sweep_batch.h"

namespace carom {

bool SweepShapes(const World& world, const SweepColumns& columns, const SweepOptions& options,
                 SweepAnswers& out, WorkMeter& meter) {
  if (!IsBlocking(options.inside_policy)) {
    return internal::RunSweeps({world, columns, options}, out, meter);
  }
  out.Clear();
  out.counts.assign(columns.size(), 0);
  return internal::SweepBlocking(world, columns, options, out, meter);
}

}  // namespace carom
