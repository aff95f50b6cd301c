// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sorts items under a `WorkMeter`, which counts the comparisons and can stop the sort.
//
// Once the meter has stopped, the items are in an arbitrary order: the caller checks
// `meter.stopped()` after a sort. A sort of at most 32 items counts its comparisons, at most 192,
// in advance; a longer sort counts each comparison, so that the meter can stop it early.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/work_meter.h"

namespace carom::internal {

// Sorts `items`, a heap that std::push_heap has built with the order `before`, until the meter
// stops.
template <class T, class Before>
void SortHeap(std::vector<T>& items, WorkMeter& meter, const Before& before) {
  const auto counted = [&](const T& a, const T& b) {
    meter.Spend(1);
    return before(a, b);
  };
  for (size_t n = items.size(); n > 1 && !meter.stopped(); --n) {
    std::pop_heap(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), counted);
  }
}

// Sorts `items` by the order `before`, until the meter stops.
template <class T, class Before>
void Sort(std::vector<T>& items, WorkMeter& meter, const Before& before) {
  constexpr size_t kSmallSize = 32;
  if (items.size() <= kSmallSize) {
    // Counts six comparisons for each item in advance: std::sort makes one or two comparisons per
    // item more than the base-2 logarithm of the number of items, which is at most 5.
    if (meter.Spend(items.size() * 6)) std::sort(items.begin(), items.end(), before);
    return;
  }
  const auto counted = [&](const T& a, const T& b) {
    meter.Spend(1);
    return before(a, b);
  };
  for (size_t n = 1; n <= items.size() && !meter.stopped(); ++n) {
    std::push_heap(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), counted);
  }
  SortHeap(items, meter, before);
}

}  // namespace carom::internal
