// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/loop_share.h"

#include <algorithm>

namespace carom::server {
namespace {

int64_t Nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

int64_t Nanoseconds(Clock::time_point time) { return Nanoseconds(time.time_since_epoch()); }

constexpr int kNsBits = 37;  // bits for the nanoseconds in a `LoopUse`, up to 137 s
constexpr uint64_t kMaxNs = (uint64_t{1} << kNsBits) - 1;
constexpr uint64_t kMaxHalves = ~uint64_t{0} >> kNsBits;
// A thread may call a function of `LoopUse` with a time that is up to this many half-lives, about
// one minute, earlier than the time of the last decay.
constexpr uint64_t kMaxLate = 1024;

// Returns the number of half-lives from the epoch of the clock to `now_ns`.
uint64_t Half(int64_t now_ns) { return static_cast<uint64_t>(now_ns / LoopUse::kHalfLifeNs); }

// Returns the state `since_and_ns` of a `LoopUse` (upper bits: number of the half-life of the last
// decay, lower `kNsBits` bits: used nanoseconds) after further decay: the nanoseconds are halved
// once for each half-life from the last decay to the half-life `half`. Returns `since_and_ns`
// unchanged if its last decay is later than `half`: another thread, with a later time, has decayed
// it.
uint64_t AsOf(uint64_t half, uint64_t since_and_ns) {
  const uint64_t halves = (half - (since_and_ns >> kNsBits)) & kMaxHalves;
  if (halves > kMaxHalves - kMaxLate) return since_and_ns;
  return half << kNsBits | (since_and_ns & kMaxNs) >> std::min<uint64_t>(halves, kNsBits);
}

}  // namespace

int64_t LoopUse::upper_bound() const {
  return static_cast<int64_t>(since_and_ns_.load(std::memory_order_relaxed) & kMaxNs);
}

int64_t LoopUse::At(int64_t now_ns) const {
  const uint64_t before = since_and_ns_.load(std::memory_order_relaxed);
  return static_cast<int64_t>(AsOf(Half(now_ns), before) & kMaxNs);
}

void LoopUse::Add(int64_t ns, int64_t now_ns) {
  const auto added = static_cast<uint64_t>(std::clamp<int64_t>(ns, 0, kMaxNs));
  uint64_t before = since_and_ns_.load(std::memory_order_relaxed);
  uint64_t after = 0;
  do {
    const uint64_t left = AsOf(Half(now_ns), before);
    after = left + std::min(added, kMaxNs - (left & kMaxNs));
  } while (!since_and_ns_.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

// Also returns true if all other peers together have used at most 1/1024 of the time that the peer
// with the use `use` has used: the function then takes this peer to be alone.
bool LoopShare::MayTake(const LoopUse& use, Clock::time_point now) const {
  const int64_t now_ns = Nanoseconds(now);
  const int64_t taken = use.At(now_ns);
  if (taken < small_ns_) return true;
  const int64_t others = all_.At(now_ns) - taken;
  return others <= taken / 1024 || taken <= 3 * others;
}

void LoopShare::Take(LoopUse& use, Clock::duration time, Clock::time_point now) {
  const int64_t now_ns = Nanoseconds(now);
  use.Add(Nanoseconds(time), now_ns);
  all_.Add(Nanoseconds(time), now_ns);
}

}  // namespace carom::server
