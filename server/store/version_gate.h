// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a query frame wait for a version of a scene?
//
// A query frame, a client's message of queries for one tick, is a list of groups of queries; a
// group can require that its scene has at least version `min_version`. While the scene's current
// version is less than `min_version`, the task of the frame is parked in a `VersionGate` and holds
// no thread. The gate submits the task to the executor when the version has become visible or the
// frame's time budget ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/base/timer.h"
#include "server/store/scene_store.h"
#include "server/transport/executor.h"

namespace carom::server {

// A scene, and the least version of the scene that a group of queries in a query frame (a client's
// message of queries for one tick) waits for.
struct VersionWait {
  std::string scene;
  uint64_t min_version = 0;
};

// Holds tasks that wait for versions of scenes. Thread-safe. The gate submits a parked task to the
// executor exactly once, at the first of three events: a scene that the task waits for reaches the
// version or is deleted, the task's deadline passes, or `Wake` is called.
class VersionGate final : public SceneListener {
 public:
  using Ticket = uint64_t;  // never 0

  // Adds the gate to the listeners of `store`. `store`, `executor` and `timer` must exist until the
  // last call of a function of the gate has returned.
  VersionGate(SceneStore& store, Executor& executor, Timer& timer);

  // Holds `task` until one of `waits` is satisfied or `deadline` passes; submits it at once if one
  // of `waits` is already satisfied. Returns the ticket for `Wake`.
  Ticket Park(const std::vector<VersionWait>& waits, Clock::time_point deadline, Task* task);

  // Submits the task with the ticket `ticket` at once. Has no effect if the gate has already
  // submitted the task.
  void Wake(Ticket ticket);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
  // A task that waits for versions of scenes, and the timer of its deadline.
  struct Parked {
    Task* task;
    Timer::Id timer;
    // scenes under which `waiters_` contains the task's ticket
    std::vector<std::string> scenes;
  };
  void WakeLocked(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSatisfied(const VersionWait& wait) const;

  SceneStore& store_;
  Executor& executor_;
  Timer& timer_;

  absl::Mutex mu_;  // acquired before the locks of `store_`, `executor_` and `timer_`
  Ticket last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<Ticket, Parked> parked_ ABSL_GUARDED_BY(mu_);
  // Maps the name of a scene, and then the ticket of a parked task, to the least version of the
  // scene that the task waits for.
  absl::flat_hash_map<std::string, absl::flat_hash_map<Ticket, uint64_t>> waiters_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
