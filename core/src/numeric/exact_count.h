// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Counts exact arithmetic as work.
//
// Callers count a unit of work for an edge, whether filters decide about it or exact arithmetic has
// to, which takes a thousand times as long. So exact products count themselves, on the meter of the
// evaluation at hand.
#pragma once

#include <cstdint>
#include <utility>

#include "carom/work_meter.h"

namespace carom::internal {

// Products of expansions and dyadics by this thread.
inline thread_local uint64_t exact_count = 0;
// Of the evaluation at hand; null outside of any.
inline thread_local WorkMeter* exact_meter = nullptr;

// Some 100 ns a product, as much as 16 edges that filters decide. Counted by 32 products, so that
// the meter asks whether to stop every few microseconds of exact arithmetic.
inline constexpr uint64_t kUnitsOfProduct = 16;
inline constexpr uint64_t kProductsAtOnce = 32;

inline void CountExact() {
  if (++exact_count % kProductsAtOnce != 0 || exact_meter == nullptr) return;
  exact_meter->SpendAndAsk(kUnitsOfProduct * kProductsAtOnce);
}

// Exact products of this thread count on `meter` while it lives.
class ExactCountScope {
 public:
  explicit ExactCountScope(WorkMeter& meter) : outer_(std::exchange(exact_meter, &meter)) {}
  ~ExactCountScope() { exact_meter = outer_; }
  ExactCountScope(const ExactCountScope&) = delete;
  ExactCountScope& operator=(const ExactCountScope&) = delete;

 private:
  WorkMeter* const outer_;
};

}  // namespace carom::internal
