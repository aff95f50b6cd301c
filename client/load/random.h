// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Generates pseudo-random numbers that are equal on every machine for a given seed (SplitMix64).
#pragma once

#include <cstdint>

namespace carom::load {

// A SplitMix64 generator. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, n).
  uint64_t Below(uint64_t n) { return Next() % n; }
  // Returns a number in [low, high).
  double Between(double low, double high) {
    return low + (high - low) * (static_cast<double>(Next() >> 11) * 0x1p-53);
  }

 private:
  uint64_t state_;
};

}  // namespace carom::load
