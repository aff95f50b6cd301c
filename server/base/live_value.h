// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds settings that a reload (SIGHUP) replaces while other threads read them.
#pragma once

#include <atomic>
#include <list>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace carom::server {

// A value that threads read without a lock. A reference to the value stays valid after `Set`, which
// keeps the old values: an operator reloads settings a few times, so few values are kept.
// Thread-safe.
template <class T>
class LiveValue {
 public:
  explicit LiveValue(T value) { Set(std::move(value)); }
  LiveValue(const LiveValue&) = delete;
  LiveValue& operator=(const LiveValue&) = delete;

  const T& operator*() const { return *current_.load(std::memory_order_acquire); }
  const T* operator->() const { return &**this; }

  void Set(T value) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    values_.push_back(std::move(value));
    current_.store(&values_.back(), std::memory_order_release);
  }

 private:
  absl::Mutex mu_;
  std::list<T> values_ ABSL_GUARDED_BY(mu_);
  std::atomic<const T*> current_{nullptr};
};

}  // namespace carom::server
