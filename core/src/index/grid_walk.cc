// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/grid_walk.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#ifndef CAROM_CORE_SRC_GRID_WALK_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_GRID_WALK_CC_
namespace carom::internal {
namespace {

// For each eight bits the lanes that are set, in front.
struct alignas(64) SetLanes {
  std::array<std::array<uint8_t, 8>, 256> of{};
};
constexpr SetLanes kSetLanes = [] {
  SetLanes table;
  for (size_t bits = 0; bits < table.of.size(); ++bits) {
    size_t count = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) != 0) table.of[bits][count++] = lane;
    }
  }
  return table;
}();

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/index/grid_walk.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "index/grid_step.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes the pairs of `bits` behind those that are there; what is written beyond the count is
// overwritten by the next ones.
HWY_INLINE void AddPairs(const GridCell& cell, unsigned bits, uint16_t at, GridPairs& pairs) {
  const hn::CappedTag<uint32_t, GridCell::kWidth> d;
  const hn::CappedTag<uint16_t, GridCell::kWidth> walks;
  const auto* const items = reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(&cell) +
                                                              offsetof(GridCell, items));
  for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(walks)) {
    hn::StoreU(hn::Set(walks, at), walks, &pairs.walks[pairs.count + i]);
  }
  if constexpr (hn::MaxLanes(d) == GridCell::kWidth) {
    const hn::Rebind<uint8_t, decltype(d)> bytes;
    const auto lanes = hn::PromoteTo(d, hn::LoadU(bytes, kSetLanes.of[bits].data()));
    const auto set = hn::TableLookupLanes(hn::LoadU(d, items), hn::IndicesFromVec(d, lanes));
    hn::StoreU(set, d, &pairs.items[pairs.count]);
    pairs.count += static_cast<size_t>(std::popcount(bits));
  } else {
    for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(d)) {
      const uint8_t part[8] = {static_cast<uint8_t>(bits >> i)};
      pairs.count +=
          hn::CompressBitsStore(hn::LoadU(d, items + i), part, d, &pairs.items[pairs.count]);
    }
  }
}

void StepAll(GridWalks& walks, GridPairs& pairs) {
  for (size_t i = 0; i < walks.count; ++i) {
    const uint16_t at = walks.live[i];
    GridWalk& walk = walks.walks[at];
    const GridCell& cell = *walk.cell;
    AddPairs(cell, Meeting(walk), at, pairs);
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
