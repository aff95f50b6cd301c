// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/executor.h"

#include <algorithm>

#include "server/host_limits.h"

namespace carom::server {
namespace {

// The work that a first submission is charged: that of a frame of about a thousand bullets. Its own
// is not known before it has run.
constexpr uint64_t kNewcomersWork = 1 << 16;

}  // namespace

Executor::Executor(size_t threads) {
  if (threads == 0) threads = ReadHostLimits().threads;
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Executor::~Executor() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void Executor::Submit(Task* task, uint64_t work) {
  absl::MutexLock lock(&mu_);
  // An idle task starts at the clock: it saves up no time.
  if (task->is_known_) {
    task->served_ = std::max(task->served_ + work, clock_);
  } else {
    task->is_known_ = true;
    task->served_ = std::max(newcomers_, clock_);
    newcomers_ = task->served_ + kNewcomersWork;
  }
  queue_.emplace(task->served_, ++last_number_, task);
}

void Executor::Loop() {
  while (true) {
    Task* task = nullptr;
    {
      absl::MutexLock lock(&mu_, absl::Condition(this, &Executor::HasWork));
      if (queue_.empty()) return;
      std::tie(clock_, std::ignore, task) = queue_.extract(queue_.begin()).value();
    }
    task->Run();
  }
}

}  // namespace carom::server
