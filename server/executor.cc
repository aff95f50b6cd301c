// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/executor.h"

#include <algorithm>

namespace carom::server {

Executor::Executor(size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
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

void Executor::Submit(Task* task) {
  absl::MutexLock lock(&mu_);
  queue_.push_back(task);
}

void Executor::Loop() {
  while (true) {
    Task* task = nullptr;
    {
      absl::MutexLock lock(&mu_, absl::Condition(this, &Executor::HasWork));
      if (queue_.empty()) return;
      task = queue_.front();
      queue_.pop_front();
    }
    task->Run();
  }
}

}  // namespace carom::server
