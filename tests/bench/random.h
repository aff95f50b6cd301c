// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The same numbers on every machine, from a seed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace carom::bench {

class Random : public testing::SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  // In [0, n).
  uint64_t Below(uint64_t n) { return Next() % n; }
  // In [low, high).
  double Between(double low, double high) { return low + (high - low) * Unit(); }

  template <class T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Below(i)]);
  }
};

}  // namespace carom::bench
