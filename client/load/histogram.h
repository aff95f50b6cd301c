// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are latencies distributed?
//
// A `Histogram` counts values in buckets whose width grows with the value. Each value below 128 has
// its own bucket. From 128 on, the range from each power of two to the next one is divided into 128
// buckets, so the width of a bucket is at most 1/128 of each value in the bucket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace carom::load {

// Counts values and returns their quantiles. Not thread-safe. Takes 58 KiB.
class Histogram {
 public:
  // The largest relative error of a quantile.
  static constexpr double kRelativeError = 1.0 / 128;

  void Add(uint64_t value) {
    ++buckets_[BucketOf(value)];
    ++count_;
    sum_ += static_cast<double>(value);
    if (value > max_) max_ = value;
  }
  // Adds all values of `other`.
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }  // the exact maximum; 0 if no value was added
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // Returns an upper bound of the value v of rank max(1, ceil(share * count)) in ascending order;
  // the bound is at most v * (1 + kRelativeError). `share` must be in [0, 1]. Returns 0 without
  // values.
  uint64_t Quantile(double share) const;

 private:
  static constexpr int kBits = 7;
  static constexpr size_t kLinear = size_t{1} << kBits;
  static constexpr size_t kBuckets = (64 - kBits + 1) * kLinear;

  // `BucketOf` returns the bucket of `value`, `GreatestOf` the greatest value of `bucket`.
  static size_t BucketOf(uint64_t value);
  static uint64_t GreatestOf(size_t bucket);

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace carom::load
