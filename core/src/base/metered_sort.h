// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sorts items under a meter that can stop the sort.
//
// Once the meter has stopped, the items are in an arbitrary order: the caller checks the meter
// after a sort. The meter may ask whether to stop at least every few hundred comparisons.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/work_meter.h"

namespace carom::internal {

// Sorts a heap that was built by std::push_heap with `before`.
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

template <class T, class Before>
void Sort(std::vector<T>& items, WorkMeter& meter, const Before& before) {
  constexpr size_t kSmallSize = 32;
  if (items.size() <= kSmallSize) {
    // Each item costs a comparison or two more than the logarithm of the number of items.
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
