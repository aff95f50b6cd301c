// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Counts exact arithmetic as work.
//
// Callers count one unit of work for an edge, whether a filter decides it or exact arithmetic does,
// which takes a thousand times as long. Therefore each exact product counts itself on the
// `WorkMeter` of the current evaluation.
#pragma once

#include <cstdint>
#include <utility>

#include "carom/work_meter.h"

namespace carom::internal {

// The number of products of expansions and dyadic numbers that this thread has computed.
inline thread_local uint64_t exact_count = 0;
// The meter of the current evaluation; null outside of an evaluation.
inline thread_local WorkMeter* exact_meter = nullptr;

// An exact product takes some 100 ns, as long as 16 edges that filters decide. The meter is charged
// for 32 products at once, so that it checks for a stop every few microseconds of exact arithmetic.
inline constexpr uint64_t kUnitsPerProduct = 16;
inline constexpr uint64_t kProductsPerCharge = 32;

inline void CountExact() {
  if (++exact_count % kProductsPerCharge != 0 || exact_meter == nullptr) return;
  exact_meter->SpendAndAsk(kUnitsPerProduct * kProductsPerCharge);
}

// While an `ExactCountScope` exists, exact products of this thread count on `meter`.
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
