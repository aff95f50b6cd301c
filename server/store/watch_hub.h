// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which WatchScene calls must be notified of a change of a scene?
#pragma once

#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/store/scene_store.h"

namespace carom::server {

// Receives every change of one scene. `OnChange` runs on the thread of the scene's writer and under
// the lock of the `WatchHub`, so it must only record the change.
class SceneWatcher {
 public:
  // Receives the version that the scene has after the change; 0: the scene was deleted. `change` is
  // null if the scene was created, or if the store does not have the difference.
  virtual void OnChange(uint64_t version, const SceneChange::Ptr& change) = 0;

 protected:
  ~SceneWatcher() = default;
};

// Notifies the watchers of each scene of the scene's changes. Thread-safe; outlives its watchers.
class WatchHub final : public SceneListener {
 public:
  // Adds the hub to the listeners of `store`.
  explicit WatchHub(SceneStore& store) { store.AddListener(this); }

  // Notifies `watcher` of every change of `scene` from this call on.
  void Add(const std::string& scene, SceneWatcher* watcher);
  // Removes a watcher that was added; once this returns, the watcher receives no more changes.
  void Remove(const std::string& scene, SceneWatcher* watcher);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
  absl::Mutex mu_;  // acquired before the locks of watchers
  absl::flat_hash_map<std::string, absl::flat_hash_set<SceneWatcher*>> watchers_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
