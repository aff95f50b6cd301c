// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are latencies spread? Counts in buckets whose width grows with the value.
//
// A value below 128 has a bucket of its own; above, each power of two is cut into 128 buckets, so
// that a bucket is at most 1/128 of its values wide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace carom::load {

// Not thread-safe. 58 KiB.
class Histogram {
 public:
  // Of a quantile: at most the exact one times (1 + kRelativeError).
  static constexpr double kRelativeError = 1.0 / 128;

  void Add(uint64_t value) {
    ++buckets_[BucketOf(value)];
    ++count_;
    sum_ += static_cast<double>(value);
    if (value > max_) max_ = value;
  }
  // As if the values of `other` had been added.
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }  // exact; 0 without values
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // At least the value of rank max(1, ceil(share * count)) in ascending order, and at most that
  // times (1 + kRelativeError). `share` in [0, 1]; 0 without values.
  uint64_t Quantile(double share) const;

 private:
  static constexpr int kBits = 7;
  static constexpr size_t kLinear = size_t{1} << kBits;
  static constexpr size_t kBuckets = (64 - kBits + 1) * kLinear;

  static size_t BucketOf(uint64_t value);
  static uint64_t GreatestOf(size_t bucket);

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace carom::load
