// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/loop_share.h"

#include <algorithm>

namespace carom::server {
namespace {

int64_t Nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

int64_t Nanoseconds(Clock::time_point time) { return Nanoseconds(time.time_since_epoch()); }

}  // namespace

int64_t LoopUse::At(int64_t now_ns) const {
  const int64_t halves = (now_ns - since_ns_.load(std::memory_order_relaxed)) / kHalfNs;
  return ns_.load(std::memory_order_relaxed) >> std::clamp<int64_t>(halves, 0, 62);
}

void LoopUse::Add(int64_t ns, int64_t now_ns) {
  const int64_t left = At(now_ns);
  since_ns_.store(now_ns - now_ns % kHalfNs, std::memory_order_relaxed);
  ns_.store(left + ns, std::memory_order_relaxed);
}

// Others who take less than a thousandth are not there.
bool LoopShare::MayTake(const LoopUse& use, Clock::time_point now) const {
  const int64_t now_ns = Nanoseconds(now);
  const int64_t taken = use.At(now_ns);
  if (taken < little_ns_) return true;
  const int64_t others = all_.At(now_ns) - taken;
  return others <= taken / 1024 || taken <= 3 * others;
}

void LoopShare::Take(LoopUse& use, Clock::duration time, Clock::time_point now) {
  const int64_t now_ns = Nanoseconds(now);
  use.Add(Nanoseconds(time), now_ns);
  all_.Add(Nanoseconds(time), now_ns);
}

}  // namespace carom::server
