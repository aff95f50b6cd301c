// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/version_gate.h"

#include <algorithm>
#include <utility>

namespace carom::server {

VersionGate::VersionGate(SceneStore& store, Executor& executor, Timer& timer)
    : store_(store), executor_(executor), timer_(timer) {
  store_.AddListener(this);
}

VersionGate::Ticket VersionGate::Park(const std::vector<VersionWait>& waits,
                                      Clock::time_point deadline, Task* task) {
  absl::MutexLock lock(&mu_);
  const Ticket ticket = ++last_ticket_;
  Parked parked{.task = task, .timer = 0, .scenes = {}};
  for (const VersionWait& wait : waits) {
    const auto [entry, is_first] = waiters_[wait.scene].emplace(ticket, wait.min_version);
    if (is_first) {
      parked.scenes.push_back(wait.scene);
    } else {
      entry->second = std::min(entry->second, wait.min_version);
    }
  }
  parked.timer = timer_.Schedule(deadline, [this, ticket] { Wake(ticket); });
  parked_.emplace(ticket, std::move(parked));
  // No change is missed. The store makes a change visible before it calls `OnSceneChanged`: if that
  // call came before `Park` acquired `mu_`, `IsSatisfied` finds the changed scene; if the call
  // comes later, `OnSceneChanged` finds the task in `waiters_` and wakes the task.
  if (std::any_of(waits.begin(), waits.end(),
                  [this](const VersionWait& wait) { return IsSatisfied(wait); })) {
    WakeLocked(ticket);
  }
  return ticket;
}

void VersionGate::Wake(Ticket ticket) {
  absl::MutexLock lock(&mu_);
  WakeLocked(ticket);
}

void VersionGate::OnSceneChanged(absl::string_view name, uint64_t version,
                                 const SceneChange::Ptr&) {
  absl::MutexLock lock(&mu_);
  const auto it = waiters_.find(name);
  if (it == waiters_.end()) return;
  std::vector<Ticket> woken;
  for (const auto& [ticket, min_version] : it->second) {
    // Deletion of the scene (`version` is 0) also wakes the task, which then fails because the
    // scene does not exist.
    if (version == 0 || version >= min_version) woken.push_back(ticket);
  }
  for (const Ticket ticket : woken) WakeLocked(ticket);
}

void VersionGate::WakeLocked(Ticket ticket) {
  // `OnSceneChanged`, the timer of the deadline and `Wake` can each call this function for a task
  // that another of the three has already submitted; `parked_` then does not contain the task.
  const auto it = parked_.find(ticket);
  if (it == parked_.end()) return;
  const Parked parked = std::move(it->second);
  parked_.erase(it);
  for (const std::string& scene : parked.scenes) {
    const auto waiters = waiters_.find(scene);
    if (waiters == waiters_.end()) continue;
    waiters->second.erase(ticket);
    if (waiters->second.empty()) waiters_.erase(waiters);
  }
  timer_.Cancel(parked.timer);
  executor_.Submit(parked.task);
}

bool VersionGate::IsSatisfied(const VersionWait& wait) const {
  const Scene::Ptr scene = store_.Find(wait.scene);
  return scene == nullptr ? store_.HasReached(wait.min_version)
                          : scene->version() >= wait.min_version;
}

}  // namespace carom::server
