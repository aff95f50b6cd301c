// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs a test once for each instruction set that the vector code of this build has a path for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "numeric/vector_targets.h"
// after vector_targets.h
#include "hwy/highway.h"

namespace carom::testing {

// Calls run() with each path of the vector code that this machine can take, then restores the
// choice among all paths.
template <class Run>
void ForEachVectorPath([[maybe_unused]] const Run& run) {
#ifdef HWY_COMPILE_ONLY_STATIC
  run();
#else
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    run();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

}  // namespace carom::testing
