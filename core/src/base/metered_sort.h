// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sorting that a meter can stop.
//
// Once the meter has stopped, the items are left in some order: whoever sorts checks the meter
// next. Between two questions of the meter there are at most some hundred comparisons.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/work_meter.h"

namespace carom::internal {

// Sorts a heap (std::push_heap with the same `before`).
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
  constexpr size_t kFew = 32;
  if (items.size() <= kFew) {
    // A comparison or two more than its logarithm for each item.
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
