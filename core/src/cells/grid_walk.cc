// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cells/grid_walk.h"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cells/grid_walk.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cells/grid_step.h"
#include "cells/set_items.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// A walk is a line that moves from cell to cell of the scene's grid, and an active walk has further
// cells. Performs one step of each active walk: lists the polygons of the walk's cell that its line
// may meet, and moves the walk to its next cell. `WriteItems` may write a few pairs beyond
// `pairs.count`, which the pairs of the next walk overwrite.
void StepAll(GridWalks& walks, GridPairs& pairs) {
  for (size_t i = 0; i < walks.count; ++i) {
    const uint16_t at = walks.active[i];
    GridWalk& walk = walks.walks[at];
    const GridCell& cell = *walk.cell;
    pairs.count +=
        WriteItems(cell, Meeting(walk), at, &pairs.items[pairs.count], &pairs.walks[pairs.count]);
    Step(walk);
    __builtin_prefetch(walk.cell);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(StepAll);

}  // namespace

void StepWalks(GridWalks& walks, GridPairs& pairs) { HWY_DYNAMIC_DISPATCH(StepAll)(walks, pairs); }

}  // namespace carom::internal
#endif  // HWY_ONCE
