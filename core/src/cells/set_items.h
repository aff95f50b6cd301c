// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes the polygons of some lanes of a cell side by side, without a branch.
//
// Files that are compiled once for each instruction set include this header after
// hwy/foreach_target.h, each time.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "index/grid_block.h"

#ifndef CAROM_CORE_SRC_SET_ITEMS_ONCE_H_  // shared by all instruction sets
#define CAROM_CORE_SRC_SET_ITEMS_ONCE_H_
namespace carom::internal {

// A table: entry `bits` starts with the numbers of the bits that are set in `bits`.
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

// Writes the items of the cell's lanes in `bits` from `items` on, and for each item `owner` from
// `owners` on. Returns how many items; the entries after them, up to eight in all, may be
// overwritten.
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
