// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who evaluates frames?
//
// A fixed number of threads and one queue. gRPC's own threads only move messages; everything that
// costs more runs here.
#pragma once

#include <cstddef>
#include <deque>
#include <thread>
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
};

// Runs tasks in the order of `Submit`. A task that has more to do submits itself again, behind all
// others: that is what shares the threads fairly between streams. Its queue is as long as there are
// calls, since each has at most one task. Thread-safe.
class Executor {
 public:
  // `threads` of 0: one for each hardware thread.
  explicit Executor(size_t threads);
  // Runs what is queued, then joins.
  ~Executor();

  void Submit(Task* task);

  size_t thread_count() const { return threads_.size(); }

 private:
  void Loop();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stopping_ || !queue_.empty(); }

  absl::Mutex mu_;
  std::deque<Task*> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // written by the constructor only
};

}  // namespace carom::server
