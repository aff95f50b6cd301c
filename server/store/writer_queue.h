// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which writer of a scene runs next?
//
// A writer is a task that changes a scene. The writers of one scene run one after the other, and a
// waiting writer holds no thread.
#pragma once

#include <deque>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/executor.h"

namespace carom::server {

// Holds a queue of writers for each scene. A writer is a task that changes the scene. Thread-safe.
// Must outlive the tasks that are submitted to it. The queue's memory is proportional to the number
// of running and waiting writers.
class WriterQueue {
 public:
  explicit WriterQueue(Executor& executor) : executor_(executor) {}

  // Submits `task` to the executor once all tasks that were submitted earlier for `scene` are done.
  void Submit(const std::string& scene, Task* task);
  // Called by every task for `scene` at its end. Submits the next waiting task for `scene`, if
  // there is one, to the executor.
  void Done(const std::string& scene);

 private:
  Executor& executor_;
  absl::Mutex mu_;  // acquired before the lock of `executor_`
  // Has an entry for each scene with a running writer: the tasks that wait until that writer is
  // done, in the order in which `Submit` was called for them.
  absl::flat_hash_map<std::string, std::deque<Task*>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
