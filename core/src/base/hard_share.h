// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a fast path pay, going by what this thread was asked of late?
//
// A fast path that leaves most of its items to the general one costs more than it saves. A large
// batch finds that out by itself; small ones have too few items, so each thread keeps the share of
// items that were left. Both paths have the same answers: only the time depends on it.
#pragma once

#include <cstddef>

namespace carom::internal {

// Not thread-safe: to be kept by thread.
class HardShare {
 public:
  // `limit`: the share of items beyond which the fast path does not pay.
  explicit constexpr HardShare(double limit) noexcept : limit_(limit) {}

  // Whether the next items are to be left untried. While the share is high, every 16th time they
  // are tried all the same.
  bool LeavesNext() { return is_high() && ++untried_ % 16 != 0; }
  bool is_high() const { return share_ > limit_; }
  // Of so many items that were tried so many were left. What was before counts as 32 items.
  void Add(size_t left, size_t tried) {
    const auto count = static_cast<double>(tried);
    share_ += (static_cast<double>(left) - share_ * count) / (count + 32);
  }

 private:
  double limit_;
  double share_ = 0;
  unsigned untried_ = 0;
};

}  // namespace carom::internal
