// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which writer of a scene runs next?
//
// The writers of one scene run one after the other, and a waiting writer holds no thread.
#pragma once

#include <deque>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/executor.h"

namespace carom::server {

// A queue of writers for each scene. A writer is a task that changes the scene. Thread-safe;
// outlives its tasks. Its memory grows with the number of running and waiting writers.
class WriterQueue {
 public:
  explicit WriterQueue(Executor& executor) : executor_(executor) {}

  // Runs `task` on the executor once all earlier tasks for `scene` are done.
  void Submit(const std::string& scene, Task* task);
  // Starts the next task for `scene`. Every task calls `Done` at the end of its run.
  void Done(const std::string& scene);

 private:
  Executor& executor_;
  absl::Mutex mu_;  // acquired before the lock of `executor_`
  // For each scene with a running writer, the tasks that wait for that writer, in the order of
  // `Submit`.
  absl::flat_hash_map<std::string, std::deque<Task*>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
