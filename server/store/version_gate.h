// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a query frame wait for a version of a scene?
//
// A query frame, a client's message of queries for one tick, is a list of groups of queries; a
// group can require that its scene has at least version `min_version`. If the scene does not have
// that version yet, the frame is parked in a `VersionGate` and holds no thread. The gate submits
// the frame to the executor when the version is visible or the frame's time budget ends.
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

// The scene and the version that one group of queries in a query frame waits for.
struct VersionWait {
  std::string scene;
  uint64_t min_version = 0;
};

// Holds tasks until the versions that they need exist. Thread-safe. The gate submits a parked task
// to the executor exactly once, at the first of three events: a change satisfies one of the task's
// waits (the deletion of the scene does, too), the task's deadline passes, or `Wake` is called.
class VersionGate final : public SceneListener {
 public:
  using Ticket = uint64_t;  // never 0

  // Adds the gate to the listeners of `store`. `store`, `executor` and `timer` outlive the gate's
  // last call.
  VersionGate(SceneStore& store, Executor& executor, Timer& timer);

  // Parks `task`, or submits it at once if one of `waits` is already satisfied.
  Ticket Park(const std::vector<VersionWait>& waits, Clock::time_point deadline, Task* task);

  // Submits a parked task early. Has no effect if the gate has already submitted the task.
  void Wake(Ticket ticket);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
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
  // For each scene and the ticket of each parked task: the least version of the scene that the task
  // waits for.
  absl::flat_hash_map<std::string, absl::flat_hash_map<Ticket, uint64_t>> waiters_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
