// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the process really hold?
//
// The account counts what clients make the server hold; what the process holds beyond that shrinks
// what the account has to give. And memory that is free goes back to the system: the allocator
// keeps what was freed, arena by arena, for the next to ask, which after a burst of large messages
// is most of what the process holds.
#pragma once

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/executor.h"
#include "server/memory_account.h"
#include "server/timer.h"

namespace carom::server {

// Looks every half second, more often when memory is scarce, on a thread of the executor. All
// outlive it. Thread-safe.
class MemoryWatch final : public Task {
 public:
  // `drop_caches` frees what is held for speed alone.
  MemoryWatch(Timer& timer, Executor& executor, MemoryAccount& account,
              std::function<void()> drop_caches);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  void Run() override;

 private:
  void Schedule(Clock::duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_running_; }
  // Gives free memory back, if much of what is held is free.
  void Trim(uint64_t held_bytes);

  Timer& timer_;
  Executor& executor_;
  MemoryAccount& account_;
  const std::function<void()> drop_caches_;
  Clock::time_point next_trim_;  // of the run alone
  absl::Mutex mu_;
  Timer::Id id_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_running_ ABSL_GUARDED_BY(mu_) = false;  // submitted, and not over
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
