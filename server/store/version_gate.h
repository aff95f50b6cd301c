// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a frame wait for a version of a scene?
//
// A frame with a group whose `min_version` is not there is parked here, off every thread, and goes
// back to the executor when the version comes or the frame's budget ends.
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

// One group's wait.
struct VersionWait {
  std::string scene;
  uint64_t min_version = 0;
};

// Thread-safe. A parked task is submitted to the executor exactly once: by the first of a change
// that satisfies one of its waits (deletion of the scene does), its deadline, and `Wake`.
class VersionGate final : public SceneListener {
 public:
  using Ticket = uint64_t;  // never 0

  // Listens to `store`. All three outlive the gate's last call.
  VersionGate(SceneStore& store, Executor& executor, Timer& timer);

  // Parks `task`, or submits it at once if a wait is satisfied already.
  Ticket Park(const std::vector<VersionWait>& waits, Clock::time_point deadline, Task* task);

  // Ends a wait early. No effect if it has ended.
  void Wake(Ticket ticket);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
  struct Parked {
    Task* task;
    Timer::Id timer;
    std::vector<std::string> scenes;  // where `waiters_` lists it
  };
  void WakeLocked(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSatisfied(const VersionWait& wait) const;

  SceneStore& store_;
  Executor& executor_;
  Timer& timer_;

  absl::Mutex mu_;  // taken before the locks of the store's readers, the executor and the timer
  Ticket last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<Ticket, Parked> parked_ ABSL_GUARDED_BY(mu_);
  // By scene, the least version that each parked task waits for: one entry a task and scene.
  absl::flat_hash_map<std::string, absl::flat_hash_map<Ticket, uint64_t>> waiters_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
