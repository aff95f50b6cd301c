// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Gives memory back to the system once much of it is free.
//
// The allocator keeps what was freed, arena by arena, for the next to ask: after a burst of large
// messages that is most of what the process holds.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/executor.h"
#include "server/timer.h"

namespace carom::server {

// Looks every few seconds, on a thread of the executor. Both outlive it. Thread-safe.
class MemoryTrim final : public Task {
 public:
  MemoryTrim(Timer& timer, Executor& executor);
  ~MemoryTrim();
  MemoryTrim(const MemoryTrim&) = delete;
  MemoryTrim& operator=(const MemoryTrim&) = delete;

  void Run() override;

 private:
  void Schedule() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_running_; }

  Timer& timer_;
  Executor& executor_;
  absl::Mutex mu_;
  Timer::Id id_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_running_ ABSL_GUARDED_BY(mu_) = false;  // submitted, and not over
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
