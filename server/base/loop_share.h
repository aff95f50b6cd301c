// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Whose frames are answered where they arrive?
//
// The event loop takes calls and frames in the order in which they come, and answers small ones at
// once. A peer with very many of them, each of which may turn out to be a large one, would be in
// front of everybody. A `LoopShare` counts what each peer takes of the loop's threads: who takes
// most, beside others, goes to the executor (server/transport/executor.h), which is fair by peer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/base/timer.h"

namespace carom::server {

// Time of the loop's threads that somebody has taken, half of which is forgotten every 64 ms.
// Thread-safe; nothing that is added is lost, so that what one peer alone has taken is all there
// is.
class LoopUse {
 public:
  static constexpr int64_t kHalfNs = 64000000;

  void Add(int64_t ns, int64_t now_ns);
  // What is left of it, in nanoseconds.
  int64_t At(int64_t now_ns) const;
  // At least that, without a look at the clock.
  int64_t most() const;

 private:
  // Since which multiple of kHalfNs, modulo 2^27 (100 days), in the upper bits; nanoseconds below.
  std::atomic<uint64_t> since_and_ns_{0};
};

// Thread-safe; `now` is of one clock, and about the same for all threads.
class LoopShare {
 public:
  explicit LoopShare(size_t threads)
      : little_ns_(static_cast<int64_t>(threads) * LoopUse::kHalfNs / 8) {}

  // Whether a peer that has taken `use` may take more: unless it has had an eighth of the threads'
  // time lately, and more than three times what all others had, who are there. Peers that ask alike
  // may, and so may one that is alone.
  bool MayTake(const LoopUse& use, Clock::time_point now) const;
  // Whether it may at any time, as it has had so little: most peers.
  bool IsLittle(const LoopUse& use) const { return use.most() < little_ns_; }
  // It has taken so much.
  void Take(LoopUse& use, Clock::duration time, Clock::time_point now);

 private:
  const int64_t little_ns_;  // an eighth of the threads' time
  LoopUse all_;
};

}  // namespace carom::server
