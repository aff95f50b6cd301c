// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/watch_hub.h"

namespace carom::server {

void WatchHub::Add(const std::string& scene, SceneWatcher* watcher) {
  absl::MutexLock lock(&mu_);
  watchers_[scene].insert(watcher);
}

void WatchHub::Remove(const std::string& scene, SceneWatcher* watcher) {
  absl::MutexLock lock(&mu_);
  const auto it = watchers_.find(scene);
  it->second.erase(watcher);
  if (it->second.empty()) watchers_.erase(it);
}

// Calls the watchers while it holds `mu_`. A call takes only about a microsecond, because a watcher
// only records the change and submits a task to an executor.
void WatchHub::OnSceneChanged(absl::string_view name, uint64_t version,
                              const SceneChange::Ptr& change) {
  absl::MutexLock lock(&mu_);
  const auto it = watchers_.find(name);
  if (it == watchers_.end()) return;
  for (SceneWatcher* watcher : it->second) watcher->OnChange(version, change);
}

}  // namespace carom::server
