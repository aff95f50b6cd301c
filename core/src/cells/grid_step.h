// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Performs one step of a `GridWalk`, which moves a line from cell to cell within a square of the
// scene's grid.
//
// Highway compiles some .cc files once for each instruction set (target). These files include this
// header after hwy/foreach_target.h, once per target; the macro of the guard toggles between
// defined and undefined, so that the guard lets the header through each time.

#include <array>
#include <cstddef>
#include <cstdint>

#include "cells/grid_walk.h"
#include "hwy/highway.h"
#include "numeric/mask_bits.h"

#if defined(CAROM_CORE_SRC_GRID_STEP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_GRID_STEP_H_
#undef CAROM_CORE_SRC_GRID_STEP_H_
#else
#define CAROM_CORE_SRC_GRID_STEP_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Shorts = hn::CappedTag<int16_t, GridCell::kWidth>;
using V = hn::Vec<Shorts>;

HWY_INLINE V Column(const void* bytes, size_t lane) {
  const hn::Rebind<uint8_t, Shorts> d;
  return hn::PromoteTo(Shorts(), hn::LoadU(d, static_cast<const uint8_t*>(bytes) + lane));
}

// Returns a mask of the lanes of `values` in which the value exceeds entry `bound` of
// `walk.bounds`.
HWY_INLINE hn::Mask<Shorts> Above(V values, const GridWalk& walk, size_t bound) {
  return hn::Gt(values, hn::Set(Shorts(), walk.bounds[bound]));
}

// Returns |a| x + |b| y for the polygons' boxes in a cell of the scene's grid, from box `lane` on.
// x and y are the columns of the cell at the byte offsets `columns`, in units of 1/255 of the
// cell's side; `walk.normal` has |a| and |b| for the normal (a, b) of the walk's line. The result
// is in 1/16 of a unit.
HWY_INLINE V Along(const GridWalk& walk, const uint8_t* cell, std::array<uint8_t, 2> columns,
                   size_t lane) {
  const V x = hn::ShiftLeft<5>(Column(cell + columns[0], lane));
  const V y = hn::ShiftLeft<5>(Column(cell + columns[1], lane));
  return hn::Add(hn::MulHigh(x, hn::Set(Shorts(), walk.normal[0])),
                 hn::MulHigh(y, hn::Set(Shorts(), walk.normal[1])));
}

// Returns bit i for each polygon's box i, listed in the walk's current cell, that the walk's line
// may meet.
HWY_INLINE unsigned Meeting(const GridWalk& walk) {
  const GridCell& cell = *walk.cell;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&cell);
  unsigned beyond = 0;
  for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(Shorts())) {
    const auto x = hn::Or(Above(Column(&cell.min_x, i), walk, GridWalk::kMaxX),
                          Above(Column(&cell.below_x, i), walk, GridWalk::kBelowX));
    const auto y = hn::Or(Above(Column(&cell.min_y, i), walk, GridWalk::kMaxY),
                          Above(Column(&cell.below_y, i), walk, GridWalk::kBelowY));
    const auto line = hn::Or(Above(Along(walk, bytes, walk.upper, i), walk, GridWalk::kUpper),
                             Above(Along(walk, bytes, walk.lower, i), walk, GridWalk::kLower));
    beyond |= MaskBits(Shorts(), hn::Or(hn::Or(x, y), line)) << i;
  }
  return cell.present & ~beyond;
}

// Moves a walk (a line that moves from cell to cell of a square of the grid) to its next cell: to
// the linked cell (`GridCell::next`), if any, which lists further boxes in the area of the current
// cell, else to the adjacent cell that the line enters next.
HWY_INLINE void Step(GridWalk& walk) {
  const GridCell& cell = *walk.cell;
  if (cell.next != 0) {
    walk.cell = walk.block->cells() + cell.next;
    return;
  }
  const size_t axis = walk.next[1] < walk.next[0] ? 1 : 0;
  walk.at = walk.next[axis];
  walk.next[axis] += walk.pace[axis];
  walk.left[axis] = static_cast<int16_t>(walk.left[axis] - 1);
  walk.first += walk.stride[axis];
  walk.cell = walk.first;
  const Shorts d;
  for (size_t i = 0; i < GridWalk::kBoundCount; i += hn::Lanes(d)) {
    const V change = hn::Load(d, &walk.change[axis][i]);
    hn::Store(hn::SaturatedAdd(hn::Load(d, &walk.bounds[i]), change), d, &walk.bounds[i]);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
