// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Where does a made-up case take its choices from? From the bytes of a fuzzer, or from a generator
// of our own: the same choices on every machine, since no distribution of the standard library
// takes part.
#pragma once

#include <cstddef>
#include <cstdint>

namespace carom::testing {

// Bytes that run out read as 0, so every case ends.
class Choices {
 public:
  // Endless; splitmix64 (Steele, Lea and Flood 2014).
  explicit Choices(uint64_t seed) : state_(seed) {}
  // `data` outlives the object.
  Choices(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  // `count` random bytes, 1 to 8, as a number.
  uint64_t Bytes(int count) {
    if (data_ == nullptr) return Next() >> (64 - 8 * count);
    uint64_t value = 0;
    for (; count > 0 && left_ > 0; --count, --left_) value = value << 8 | *data_++;
    return value;
  }
  // In [0, n); n is in [1, 65536].
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(Bytes(n > 256 ? 2 : 1) % n); }
  // True once in n; false where the bytes ran out, n > 1.
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  // In [0, 1), with all bits of the mantissa.
  double Unit() { return static_cast<double>(Bytes(8) >> 11) * 0x1p-53; }

 private:
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  const uint8_t* data_ = nullptr;
  size_t left_ = 0;
  uint64_t state_ = 0;
};

}  // namespace carom::testing
