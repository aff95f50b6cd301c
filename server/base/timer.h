// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Calls functions at given times.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace carom::server {

using Clock = std::chrono::steady_clock;

// Calls scheduled functions on one thread, in the order of their times. The functions must be short
// and must not block. Thread-safe.
class Timer {
 public:
  using Id = uint64_t;  // never 0

  Timer();
  // Waits until the function that is running, if any, returns, and drops the functions that have
  // not been called.
  ~Timer();

  // Schedules `call` for the time `when`; a time in the past means at once.
  Id Schedule(Clock::time_point when, absl::AnyInvocable<void()> call);

  // Cancels a scheduled function. Returns true if the timer has not called the function and will
  // not call it; false if the timer has called it, or is about to call it.
  bool Cancel(Id id);

  // Cancels a scheduled function, and waits until it returns if it is running. Must not be called
  // from a scheduled function, nor with a lock that the function acquires.
  void CancelAndWait(Id id);

 private:
  void Loop();
  // Waits until a scheduled function is due and returns true; returns false when the timer stops.
  bool AwaitDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes a scheduled function. Returns false if it is not scheduled.
  bool Drop(Id id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  absl::CondVar changed_;  // wakes `thread_` before `wakes_at_`
  absl::CondVar ran_;      // signaled when a scheduled function has returned
  std::map<std::pair<Clock::time_point, Id>, absl::AnyInvocable<void()>> calls_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Id, Clock::time_point> times_ ABSL_GUARDED_BY(mu_);
  Id last_id_ ABSL_GUARDED_BY(mu_) = 0;
  // time until which `thread_` sleeps; time_point::min() while the thread is awake
  Clock::time_point wakes_at_ ABSL_GUARDED_BY(mu_) = Clock::time_point::min();
  // id of the function that the thread calls at the moment, without holding `mu_`; 0: none
  Id running_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
