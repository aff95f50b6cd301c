// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A `GridCell` has up to seven boxes of polygons in lanes, and the numbers of these polygons.
// Writes the numbers of selected lanes to consecutive elements of an array, without a branch.
//
// Highway compiles some .cc files once for each instruction set (target). These files include this
// header after hwy/foreach_target.h, once per target; the macro of the guard toggles between
// defined and undefined, so that the guard lets the header through each time.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "index/grid_block.h"

#ifndef CAROM_CORE_SRC_SET_ITEMS_ONCE_H_  // shared by all instruction sets
#define CAROM_CORE_SRC_SET_ITEMS_ONCE_H_
namespace carom::internal {

// A table with an entry for each 8-bit mask: entry `bits` starts with the positions of the bits
// that are set in `bits`, in ascending order.
struct alignas(64) SetLanes {
  std::array<std::array<uint8_t, 8>, 256> indices{};
};
inline constexpr SetLanes kSetLanes = [] {
  SetLanes table;
  for (size_t bits = 0; bits < table.indices.size(); ++bits) {
    size_t count = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) != 0) table.indices[bits][count++] = lane;
    }
  }
  return table;
}();

}  // namespace carom::internal
#endif

#if defined(CAROM_CORE_SRC_SET_ITEMS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_SET_ITEMS_H_
#undef CAROM_CORE_SRC_SET_ITEMS_H_
#else
#define CAROM_CORE_SRC_SET_ITEMS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A cell of the scene's grid lists the numbers of up to seven polygons. For each bit i that is set
// in `bits`, appends the polygon number `cell.items[i]` to the array at `items`, and `owner` (the
// number of the walk or cell that the polygons are found for) to the array at `owners`. Returns the
// number of polygons. Vector stores may overwrite the first eight elements of each array, even if
// fewer are appended.
HWY_INLINE size_t WriteItems(const GridCell& cell, unsigned bits, uint16_t owner, uint32_t* items,
                             uint16_t* owners) {
  const hn::CappedTag<uint32_t, GridCell::kWidth> d;
  const hn::CappedTag<uint16_t, GridCell::kWidth> shorts;
  const auto* const from = reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(&cell) +
                                                             offsetof(GridCell, items));
  for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(shorts)) {
    hn::StoreU(hn::Set(shorts, owner), shorts, owners + i);
  }
  if constexpr (hn::MaxLanes(d) == GridCell::kWidth) {
    const hn::Rebind<uint8_t, decltype(d)> bytes;
    const auto lanes = hn::PromoteTo(d, hn::LoadU(bytes, kSetLanes.indices[bits].data()));
    const auto set = hn::TableLookupLanes(hn::LoadU(d, from), hn::IndicesFromVec(d, lanes));
    hn::StoreU(set, d, items);
    return static_cast<size_t>(std::popcount(bits));
  } else {
    size_t count = 0;
    for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(d)) {
      const uint8_t part[8] = {static_cast<uint8_t>(bits >> i)};
      count += hn::CompressBitsStore(hn::LoadU(d, from + i), part, d, items + count);
    }
    return count;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
