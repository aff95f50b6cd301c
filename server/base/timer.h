// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Call me at that time.
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

// One thread that calls functions when their time has come, in the order of their times. The
// functions are short and do not wait. Thread-safe; a function that is never due is never called.
class Timer {
 public:
  using Id = uint64_t;  // never 0

  Timer();
  // Joins; what is not due by then is dropped.
  ~Timer();

  Id Schedule(Clock::time_point when, absl::AnyInvocable<void()> call);

  // True: the function is dropped and was never called. False: it was, or is about to be.
  bool Cancel(Id id);

  // As Cancel, and waits for the function's end where it runs. Not from within a function, nor
  // while holding a lock that the function takes.
  void CancelAndWait(Id id);

 private:
  void Loop();
  // Waits for the first call that is due; false when stopping.
  bool AwaitDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Drop(Id id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  absl::CondVar changed_;
  absl::CondVar ran_;
  std::map<std::pair<Clock::time_point, Id>, absl::AnyInvocable<void()>> calls_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Id, Clock::time_point> times_ ABSL_GUARDED_BY(mu_);
  Id last_id_ ABSL_GUARDED_BY(mu_) = 0;
  // Until when the thread sleeps; the least time while it does not.
  Clock::time_point wakes_at_ ABSL_GUARDED_BY(mu_) = Clock::time_point::min();
  Id running_ ABSL_GUARDED_BY(mu_) = 0;  // the call outside of the lock, if any
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
