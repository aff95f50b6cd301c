// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/plain_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/plain_line.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/plain_visit.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Of a few pairs at a time the memory of the entries is asked for, then that of the polygons.
void VisitPairs(const Frontier& pairs, const PlainVisit& visit) {
  constexpr size_t kGroup = 32;
  std::array<const IndexedPolygon*, kGroup> entries;
  for (size_t begin = 0; begin < pairs.count; begin += kGroup) {
    const size_t count = std::min(pairs.count - begin, kGroup);
    for (size_t i = 0; i < count; ++i) {
      const auto slot = Slot::Of(pairs.targets[begin + i]);
      entries[i] = &visit.scene.tile(slot.tile).entries()[slot.index];
      __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; ++i) Fetch(entries[i]->polygon().memory());
    size_t units = count;
    for (size_t i = 0; i < count; ++i) {
      units += Visit(OfTrees{visit, pairs.lines[begin + i]}, entries[i]->polygon());
    }
    if (!visit.meter.Spend(units)) return;
  }
}

// The same in small groups: while one is looked at, the memory of the next one is asked for.
void VisitCellPairs(const GridPairs& pairs, const PlainCells& visit) {
  constexpr size_t kGroup = 8;
  std::array<const void*, GridPairs::kCapacity> polygons;
  size_t fetched = 0;
  for (size_t at = 0; at < pairs.count;) {
    const size_t look_to = fetched;
    const size_t fetch_to = std::min(fetched + kGroup, pairs.count);
    for (; fetched < fetch_to; ++fetched) {
      polygons[fetched] = visit.walks[pairs.walks[fetched]].polygons.MemoryOf(pairs.items[fetched]);
      Fetch(polygons[fetched]);
    }
    size_t units = look_to - at;
    for (; at < look_to; ++at) {
      units += Visit(OfCells{visit, pairs.walks[at]}, Unowned<Polygon>(polygons[at]).get());
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

void PlainPassages::Sort(WorkMeter& meter) {
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

std::span<const PlainPassages::Entry> PlainPassages::Of(const PlainLine& line, size_t& at) const {
  const size_t first = at;
  while (at < entries_.size() && entries_[at].line == &line) ++at;
  return std::span(entries_).subspan(first, at - first);
}

bool AreInOrder(std::span<const PlainPassages::Entry> passages) {
  double last = -HUGE_VAL;  // where those before begin at the latest
  for (const auto& [line, found] : passages) {
    const bool is_inside = found.passage.entry == kNoEdge;
    if (!is_inside && found.passage.begin.low <= last) return false;
    last = std::max(last, found.passage.begin.high);
  }
  return true;
}

void VisitPlainPairs(const Frontier& pairs, const PlainVisit& visit) {
  HWY_DYNAMIC_DISPATCH(VisitPairs)(pairs, visit);
}

void VisitPlainPairs(const GridPairs& pairs, const PlainCells& visit) {
  HWY_DYNAMIC_DISPATCH(VisitCellPairs)(pairs, visit);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
