// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do calls wait while scenes are read?
//
// Calls that come before a server serves are admitted, and wait here, off every thread. Shortly
// before its deadline a call is UNAVAILABLE, so that its client does not take a server that is
// starting for one that is slow.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/base/timer.h"

namespace carom::server {

// Thread-safe. Open for good once `End` is called, which must come before it is destroyed.
class StartGate {
 public:
  // OK, or why there is no service.
  using Begin = absl::AnyInvocable<void(const absl::Status&)>;

  // The timer outlives the gate.
  explicit StartGate(Timer& timer) : timer_(timer) {}

  bool is_open() const { return is_open_.load(std::memory_order_acquire); }

  // Calls `begin` once: at once if the gate is open; else from `End`, or on the timer's thread when
  // a tenth of the time to `deadline`, 20 ms to a second of it, is left.
  void Wait(std::chrono::system_clock::time_point deadline, Begin begin);

  // Begins all that wait, on the calling thread, and whatever comes later.
  void End(const absl::Status& status);

 private:
  struct Waiting {
    Begin begin;
    Timer::Id timer = 0;  // 0: it has no deadline
  };

  void GiveUp(uint64_t number);

  Timer& timer_;
  std::atomic<bool> is_open_{false};
  absl::Mutex mu_;  // before the timer's
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);  // of the start, once it is over
};

}  // namespace carom::server
