// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do calls wait while the server starts?
//
// Calls that arrive while the server reads its scenes are admitted and wait in the `StartGate`;
// they block no thread. Shortly before its deadline a waiting call ends with UNAVAILABLE, so that
// the status of the call distinguishes a starting server from a slow one.
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

// Delays calls until `End` opens the gate; the gate then stays open. `End` must be called before
// the gate is destroyed. Thread-safe.
class StartGate {
 public:
  // Begins a call. The argument is OK, or the reason for which the server cannot serve the call.
  using Begin = absl::AnyInvocable<void(const absl::Status&)>;

  // `timer` must outlive the gate.
  explicit StartGate(Timer& timer) : timer_(timer) {}

  bool is_open() const { return is_open_.load(std::memory_order_acquire); }

  // Calls `begin` exactly once: immediately if the gate is open, else in `End`. If the gate is not
  // open shortly before `deadline`, calls `begin` with UNAVAILABLE on the timer's thread. The time
  // left until `deadline` is then a tenth of the time from `Wait` to `deadline`, raised to 20 ms or
  // lowered to one second, but at most half of the time from `Wait` to `deadline`.
  void Wait(std::chrono::system_clock::time_point deadline, Begin begin);

  // Opens the gate. Begins all waiting calls with `status` on the calling thread; later calls begin
  // with `status`, too.
  void End(const absl::Status& status);

 private:
  struct Waiting {
    Begin begin;
    Timer::Id timer = 0;  // 0: the call has no deadline
  };

  // Begins the waiting call with the number `number` with UNAVAILABLE, if it still waits.
  void Expire(uint64_t number);

  Timer& timer_;
  std::atomic<bool> is_open_{false};
  absl::Mutex mu_;  // acquired before the timer's lock
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);  // argument of `End`; OK before `End` is called
};

}  // namespace carom::server
