// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/writer_queue.h"

namespace carom::server {

// If no writer of `scene` is running, submits `task` to the executor at once; else adds `task` to
// the scene's queue, where it waits without a thread.
void WriterQueue::Submit(const std::string& scene, Task* task) {
  absl::MutexLock lock(&mu_);
  const auto [it, is_first] = waiting_.try_emplace(scene);
  if (is_first) {
    executor_.Submit(task);
  } else {
    it->second.push_back(task);
  }
}

// Submits the next waiting writer of `scene` to the executor. If none waits, erases the scene's
// queue, which means that no writer of the scene is running.
void WriterQueue::Done(const std::string& scene) {
  absl::MutexLock lock(&mu_);
  const auto it = waiting_.find(scene);
  if (it->second.empty()) {
    waiting_.erase(it);
    return;
  }
  executor_.Submit(it->second.front());
  it->second.pop_front();
}

}  // namespace carom::server
