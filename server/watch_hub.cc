// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/watch_hub.h"

#include "server/rpc_status.h"

namespace carom::server {

// Counted by the peer's own object, which lives as long as one of its calls.
absl::Status WatchHub::Add(const std::string& scene, const MemoryPeer* peer,
                           SceneWatcher* watcher) {
  absl::MutexLock lock(&mu_);
  size_t& of_peer = of_peer_[peer];
  if (of_peer >= max_of_peer_) return TooManyCalls(max_of_peer_, "watches of you");
  ++of_peer;
  watchers_[scene].insert(watcher);
  return absl::OkStatus();
}

void WatchHub::Remove(const std::string& scene, const MemoryPeer* peer, SceneWatcher* watcher) {
  absl::MutexLock lock(&mu_);
  const auto it = watchers_.find(scene);
  it->second.erase(watcher);
  if (it->second.empty()) watchers_.erase(it);
  const auto of_peer = of_peer_.find(peer);
  if (--of_peer->second == 0) of_peer_.erase(of_peer);
}

// Watchers wake by being submitted to an executor, about a microsecond each.
void WatchHub::OnSceneChanged(absl::string_view name, uint64_t version,
                              const SceneChange::Ptr& change) {
  absl::MutexLock lock(&mu_);
  const auto it = watchers_.find(name);
  if (it == watchers_.end()) return;
  for (SceneWatcher* watcher : it->second) watcher->OnChange(version, change);
}

}  // namespace carom::server
