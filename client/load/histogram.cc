// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace carom::load {

// A value below 128 has its own bucket. A value with the bit width 8 + e, e >= 0, is in the bucket
// that e (`shift`) and the 8 highest bits of the value select. The highest bit is 1, so there are
// 128 buckets for each e.
size_t Histogram::BucketOf(uint64_t value) {
  if (value < kLinear) return static_cast<size_t>(value);
  const int shift = std::bit_width(value) - kBits - 1;
  return static_cast<size_t>(shift) * kLinear + static_cast<size_t>(value >> shift);
}

uint64_t Histogram::GreatestOf(size_t bucket) {
  if (bucket < 2 * kLinear) return bucket;
  const size_t shift = bucket / kLinear - 1;
  const uint64_t leading = bucket - shift * kLinear;
  return (leading << shift) + ((uint64_t{1} << shift) - 1);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

// Returns the greatest value of the bucket that contains the value with the rank `rank` in
// ascending order. So the result is at least this value, but never more than the largest value
// added.
uint64_t Histogram::Quantile(double share) const {
  if (count_ == 0) return 0;
  const double exact_rank = std::ceil(share * static_cast<double>(count_));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(exact_rank), 1, count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::min(GreatestOf(i), max_);
  }
  return max_;
}

}  // namespace carom::load
