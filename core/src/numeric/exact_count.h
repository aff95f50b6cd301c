// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Counts exact arithmetic as work units of a `WorkMeter`, which stops an evaluation that exceeds
// its budget.
//
// Callers count one unit of work for each polygon edge. A floating-point filter decides most edges,
// but an edge that exact arithmetic decides takes a thousand times as long. Therefore each exact
// product counts additional units on the `WorkMeter` of the current evaluation.
#pragma once

#include <cstdint>
#include <utility>

#include "carom/work_meter.h"

namespace carom::internal {

// The number of products of expansions and dyadic numbers that this thread has computed.
inline thread_local uint64_t exact_count = 0;
// The meter on which exact products of this thread count work units; null while the thread has no
// `ExactCountScope`.
inline thread_local WorkMeter* exact_meter = nullptr;

// An exact product takes some 100 ns, as long as 16 edges that filters decide, so it counts 16 work
// units. The meter is charged for 32 products at once, so that it checks whether to stop every few
// microseconds of exact arithmetic.
inline constexpr uint64_t kUnitsPerProduct = 16;
inline constexpr uint64_t kProductsPerCharge = 32;

inline void CountExact() {
  if (++exact_count % kProductsPerCharge != 0 || exact_meter == nullptr) return;
  exact_meter->SpendAndAsk(kUnitsPerProduct * kProductsPerCharge);
}

// While an `ExactCountScope` exists, the exact products that this thread computes count as work
// units on `meter`.
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
