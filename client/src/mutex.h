// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A mutex that both the compiler's thread-safety analysis and the thread sanitizer understand.
//
// std::mutex has no annotations for the analysis; absl::Mutex comes from a shared library that is
// not built for the sanitizer, which then takes everything it guards for a race.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace carom {

// As std::mutex.
class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex for its own lifetime.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits for what a mutex guards to change; `NotifyAll` after every change that ends a wait.
class ConditionVariable {
 public:
  // Gives `mutex`, which the caller holds, to others until it is notified, or for no reason: the
  // caller waits in a loop.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { variable_.wait(mutex); }
  // Or until `time`.
  void WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    variable_.wait_until(mutex, time);
  }
  void NotifyAll() { variable_.notify_all(); }

 private:
  std::condition_variable_any variable_;
};

}  // namespace carom
