// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who writes to a scene next?
//
// Writers of one scene come one after the other, and none of them holds a thread while it waits.
#pragma once

#include <deque>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/executor.h"

namespace carom::server {

// Thread-safe; outlives its tasks. Memory: by the scenes that somebody writes to or waits for.
class WriterQueue {
 public:
  explicit WriterQueue(Executor& executor) : executor_(executor) {}

  // Runs `task` on the executor once those before it of the same scene are done.
  void Submit(const std::string& scene, Task* task);
  // At the end of a task's run.
  void Done(const std::string& scene);

 private:
  Executor& executor_;
  absl::Mutex mu_;  // taken before the executor's
  // Scenes with a writer, and who waits for it.
  absl::flat_hash_map<std::string, std::deque<Task*>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
