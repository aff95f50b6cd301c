// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which frames does the event loop answer itself?
//
// The event loop processes calls and frames (batches of queries, the messages of a stream) in the
// order of their arrival, and answers small ones at once. A peer (a client address or a tenant)
// that sends very many frames, some of which may be large, would delay all other peers. A
// `LoopShare` counts the time of the loop's threads that each peer uses. The frames of a peer that
// uses much more than all other peers go to the executor (server/transport/executor.h), which
// schedules peers fairly.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/base/timer.h"

namespace carom::server {

// Time of the event loop's threads that a peer, or all peers together, have used, with exponential
// decay: half of the time is dropped every 64 ms. Thread-safe. No concurrent `Add` is lost, so that
// the use of all peers together equals the use of a peer that is the only one to use the loop.
class LoopUse {
 public:
  static constexpr int64_t kHalfLifeNs = 64000000;

  // Adds `ns` nanoseconds of used time at the time `now_ns`.
  void Add(int64_t ns, int64_t now_ns);
  // Returns the used time at the time `now_ns`, after decay, in nanoseconds.
  int64_t At(int64_t now_ns) const;
  // Returns an upper bound of `At(now)` without reading the clock: the used time, in nanoseconds,
  // without decay since the last `Add`.
  int64_t upper_bound() const;

 private:
  // Upper 27 bits: time of the last decay, in multiples of kHalfLifeNs modulo 2^27 (100 days).
  // Lower 37 bits: the used time after that decay, in nanoseconds.
  std::atomic<uint64_t> since_and_ns_{0};
};

// Decides which peers (client addresses or tenants) may use the threads of the event loop. A
// half-life is the 64 ms in which the counted time halves. Thread-safe; all threads pass `now` of
// one clock.
class LoopShare {
 public:
  explicit LoopShare(size_t threads)
      : small_ns_(static_cast<int64_t>(threads) * LoopUse::kHalfLifeNs / 8) {}

  // Returns whether a peer may use more time of the event loop; `use` counts the time that the peer
  // has used. Returns false if `use` is at least an eighth of the threads' time in a half-life and
  // more than three times the time that all other peers together have used. Returns true for a peer
  // that uses the loop (almost) alone, and for peers with similar load.
  bool MayTake(const LoopUse& use, Clock::time_point now) const;
  // Returns true if `use` is so small that `MayTake` holds at any time. True for most peers; a fast
  // check, which does not read the clock.
  bool HasSmallShare(const LoopUse& use) const { return use.upper_bound() < small_ns_; }
  // Adds `time`, which a peer has used until `now`, to the peer's `use` and to the sum of all
  // peers.
  void Take(LoopUse& use, Clock::duration time, Clock::time_point now);

 private:
  // `MayTake` returns true for a peer that has used less than this: an eighth of the time of all
  // threads of the event loop in a half-life, in nanoseconds.
  const int64_t small_ns_;
  LoopUse all_;  // event loop time that all peers together have used
};

}  // namespace carom::server
