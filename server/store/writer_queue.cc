// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/writer_queue.h"

namespace carom::server {

// The first writer of a scene starts at once; later writers wait in the scene's queue and hold no
// thread.
void WriterQueue::Submit(const std::string& scene, Task* task) {
  absl::MutexLock lock(&mu_);
  const auto [it, is_first] = waiting_.try_emplace(scene);
  if (is_first) {
    executor_.Submit(task);
  } else {
    it->second.push_back(task);
  }
}

// Starts the next writer of `scene`, if one waits; a scene without writers has no queue.
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
