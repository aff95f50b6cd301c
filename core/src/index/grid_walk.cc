// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/grid_walk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#ifndef CAROM_CORE_SRC_GRID_WALK_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_GRID_WALK_CC_
namespace carom::internal {
namespace {

// For each eight bits the lanes of 16 bits that are set, in front, as bytes.
struct alignas(64) SetLanes {
  using Bytes = std::array<uint8_t, 16>;
  std::array<Bytes, 256> of{};
};
constexpr SetLanes kSetLanes = [] {
  SetLanes table;
  for (size_t bits = 0; bits < table.of.size(); ++bits) {
    size_t count = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) == 0) continue;
      table.of[bits][count++] = static_cast<uint8_t>(2 * lane);
      table.of[bits][count++] = static_cast<uint8_t>(2 * lane + 1);
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
  uint16_t* const items = &pairs.items[pairs.count];
  uint16_t* const walks = &pairs.walks[pairs.count];
  const SetLanes::Bytes& lanes = kSetLanes.of[bits];
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < GridCell::kWidth; ++i) {
    items[i] = cell.items[lanes[2 * i] / 2];
    walks[i] = at;
  }
#else
  const hn::FixedTag<uint16_t, GridCell::kWidth> d;
  const hn::FixedTag<uint8_t, 2 * GridCell::kWidth> bytes;
  const auto all = hn::BitCast(bytes, hn::LoadU(d, cell.items.data()));
  hn::StoreU(hn::BitCast(d, hn::TableLookupBytes(all, hn::Load(bytes, lanes.data()))), d, items);
  hn::StoreU(hn::Set(d, at), d, walks);
#endif
  pairs.count += static_cast<size_t>(std::popcount(bits));
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
