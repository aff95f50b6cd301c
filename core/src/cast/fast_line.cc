// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/fast_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/fast_line.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/fast_visit.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Tests pairs of a line and a polygon that the bounding-box trees of the scene found, in groups:
// prefetches the entries (`IndexedPolygon`) of a group of pairs, then the polygons of the group,
// then tests the pairs.
void VisitPairs(const Frontier& pairs, const FastVisit& visit) {
  constexpr size_t kGroup = 32;
  std::array<const IndexedPolygon*, kGroup> entries;
  for (size_t begin = 0; begin < pairs.count; begin += kGroup) {
    const size_t count = std::min(pairs.count - begin, kGroup);
    for (size_t i = 0; i < count; ++i) {
      const auto slot = Slot::Of(pairs.targets[begin + i]);
      entries[i] = &visit.scene.tile(slot.tile).entries()[slot.index];
      __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; ++i) PrefetchPolygon(entries[i]->polygon().memory());
    size_t units = count;
    for (size_t i = 0; i < count; ++i) {
      units += Visit(LineInTrees{visit, pairs.lines[begin + i]}, entries[i]->polygon());
    }
    if (!visit.meter.Spend(units)) return;
  }
}

// Tests pairs of a line and a polygon that the cells of the scene's grid list, in small groups:
// prefetches the polygons of the next group while it tests one group.
void VisitCellPairs(const GridPairs& pairs, const FastCells& visit) {
  constexpr size_t kGroup = 8;
  std::array<const void*, GridPairs::kCapacity> polygons;
  size_t fetched = 0;
  for (size_t at = 0; at < pairs.count;) {
    const size_t look_to = fetched;
    const size_t fetch_to = std::min(fetched + kGroup, pairs.count);
    for (; fetched < fetch_to; ++fetched) {
      polygons[fetched] = visit.walks[pairs.walks[fetched]].polygons.MemoryOf(pairs.items[fetched]);
      PrefetchPolygon(polygons[fetched]);
    }
    size_t units = look_to - at;
    for (; at < look_to; ++at) {
      units += Visit(LineInCells{visit, pairs.walks[at]}, Unowned<Polygon>(polygons[at]).get());
    }
    if (!visit.meter.Spend(units)) return;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(VisitPairs);
HWY_EXPORT(VisitCellPairs);

}  // namespace

void FastPassages::Sort(WorkMeter& meter) {
  meter.Spend(entries_.size());
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    if (a.line != b.line) return a.line < b.line;
    const double a_low = a.found.passage.begin.low;
    const double b_low = b.found.passage.begin.low;
    return a_low != b_low ? a_low < b_low : a.found.polygon->id() < b.found.polygon->id();
  });
  const auto last = std::unique(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
    return a.line == b.line && a.found.polygon->id() == b.found.polygon->id();
  });
  entries_.erase(last, entries_.end());
}

std::span<const FastPassages::Entry> FastPassages::Of(const FastLine& line, size_t& at) const {
  const size_t first = at;
  while (at < entries_.size() && entries_[at].line == &line) ++at;
  return std::span(entries_).subspan(first, at - first);
}

bool AreInOrder(std::span<const FastPassages::Entry> passages) {
  // An upper bound of the line's parameters at which the previous passages (intervals inside a
  // polygon) begin.
  double last = -HUGE_VAL;
  for (const auto& [line, found] : passages) {
    const bool is_inside = found.passage.entry == kNoEdge;
    if (!is_inside && found.passage.begin.low <= last) return false;
    last = std::max(last, found.passage.begin.high);
  }
  return true;
}

void VisitFastPairs(const Frontier& pairs, const FastVisit& visit) {
  HWY_DYNAMIC_DISPATCH(VisitPairs)(pairs, visit);
}

void VisitFastPairs(const GridPairs& pairs, const FastCells& visit) {
  HWY_DYNAMIC_DISPATCH(VisitCellPairs)(pairs, visit);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
