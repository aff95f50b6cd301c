// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who evaluates large frames?
//
// A fixed number of threads and one queue, ordered so that streams share them by the work they
// cause, whatever the size of their frames. Small frames are answered where they arrive, unless
// many of them wait (server/event_loop.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace carom::server {

// Something that runs on an executor and stays alive until its run ends.
class Task {
 public:
  virtual void Run() = 0;

 protected:
  ~Task() = default;

 private:
  friend class Executor;
  // Guarded by the executor's lock.
  uint64_t served_ = 0;  // its virtual time
  bool is_known_ = false;
};

// Start-time fair queueing (Goyal, Vin and Cheng, 1996): a virtual clock that counts work stands at
// the start of the task that was taken last; each task starts where its own earlier work ended, or
// at the clock if that is later, so that nobody saves up time by being idle; the earliest start is
// next, the earlier submission among equals. First submissions count as one flow, each with a
// fixed amount of work: calls that come once must not push aside those that stay. Its queue is as
// long as there are calls, since each has at most one task. Thread-safe.
class Executor {
 public:
  // `threads` of 0: one for each that can run at once (server/host_limits.h).
  explicit Executor(size_t threads);
  // Runs what is queued, then joins.
  ~Executor();

  // Queues `task`, which has caused `work` (of any unit, the same for all) since its last
  // submission.
  void Submit(Task* task, uint64_t work = 0);

  // Whether nobody waits.
  bool IsIdle() {
    absl::MutexLock lock(&mu_);
    return queue_.empty();
  }

  size_t thread_count() const { return threads_.size(); }

 private:
  void Loop();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stopping_ || !queue_.empty(); }

  absl::Mutex mu_;
  std::set<std::tuple<uint64_t, uint64_t, Task*>> queue_ ABSL_GUARDED_BY(mu_);  // start, number
  uint64_t clock_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t newcomers_ ABSL_GUARDED_BY(mu_) = 0;  // their virtual time
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // written by the constructor only
};

}  // namespace carom::server
