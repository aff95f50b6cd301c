// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Why does the client not use std::mutex or absl::Mutex?
//
// `Mutex` works with both the compiler's thread-safety analysis and the thread sanitizer.
// std::mutex has no annotations for the analysis; absl::Mutex comes from a shared library that is
// not built with the thread sanitizer, so the sanitizer reports every access that it guards as a
// race.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace carom {

// A std::mutex with annotations for the thread-safety analysis.
class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Locks a mutex in its constructor and unlocks it in its destructor.
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

// A condition variable for `Mutex`. A thread that makes a waited-for condition true must call
// `NotifyAll`.
class ConditionVariable {
 public:
  // Unlocks `mutex`, which the caller holds, waits for `NotifyAll`, and locks `mutex` again. The
  // wait may end spuriously, so the caller waits in a loop.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { variable_.wait(mutex); }
  // Waits as `Wait` does, but at most until `time`.
  void WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    variable_.wait_until(mutex, time);
  }
  void NotifyAll() { variable_.notify_all(); }

 private:
  std::condition_variable_any variable_;
};

}  // namespace carom
