// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is a fast path worthwhile, judged by the recent items (such as the segments or rays of casts) of
// this thread?
//
// A fast path costs more than it saves if most of its items fall back to the general path. A large
// batch measures the share of its own items that fall back; small batches have too few items, so
// each thread keeps the share over recent batches. The fast and the general path give equal
// answers: only the time depends on the share.
#pragma once

#include <cstddef>

namespace carom::internal {

// The share of recent items (such as the rays of a batch) that the fast path could not decide, so
// that they fell back to the general path, which decides every item. Not thread-safe: each thread
// has its own.
class FallbackRate {
 public:
  // `limit`: the share of items above which the fast path does not pay.
  explicit constexpr FallbackRate(double limit) noexcept : limit_(limit) {}

  // Returns whether the next items should skip the fast path. While the share of items that fell
  // back exceeds `limit`, every 16th call returns false, so that the fast path is tried again.
  bool SkipsFastPath() { return is_high() && ++skipped_ % 16 != 0; }
  bool is_high() const { return rate_ > limit_; }
  // Records that `fallbacks` of `tried` items fell back to the general path. In the average
  // `rate_`, all earlier items together weigh as much as 32 items.
  void Add(size_t fallbacks, size_t tried) {
    const auto count = static_cast<double>(tried);
    rate_ += (static_cast<double>(fallbacks) - rate_ * count) / (count + 32);
  }

 private:
  double limit_;
  double rate_ = 0;
  unsigned skipped_ = 0;
};

}  // namespace carom::internal
