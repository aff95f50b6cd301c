// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a frame wait for a version of a scene?
//
// If the `min_version` of a group does not exist yet, the frame is parked in a `VersionGate` and
// holds no thread. The gate submits the frame to the executor when the version appears or the
// frame's budget ends.
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

// The scene and the version that one group of a frame waits for.
struct VersionWait {
  std::string scene;
  uint64_t min_version = 0;
};

// Holds tasks until the versions that they need exist. Thread-safe. The gate submits a parked task
// to the executor exactly once, at the first of: a change that satisfies one of its waits (deletion
// of the scene does), its deadline, and `Wake`.
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
    std::vector<std::string> scenes;  // the scenes under which `waiters_` lists the task
  };
  void WakeLocked(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSatisfied(const VersionWait& wait) const;

  SceneStore& store_;
  Executor& executor_;
  Timer& timer_;

  absl::Mutex mu_;  // acquired before the locks of the store's readers, the executor and the timer
  Ticket last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<Ticket, Parked> parked_ ABSL_GUARDED_BY(mu_);
  // For each scene, the least version that each parked task waits for: one entry for a task and a
  // scene.
  absl::flat_hash_map<std::string, absl::flat_hash_map<Ticket, uint64_t>> waiters_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
