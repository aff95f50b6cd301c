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

// Receives every change of one scene. `OnChange` runs on the thread that makes the change, while
// that thread holds the lock of the `WatchHub`. So `OnChange` must do no more than record the
// change and submit a task.
class SceneWatcher {
 public:
  // Receives `version`, the number of the version that the scene has after the change (0: the scene
  // was deleted), and `change`, the difference from the preceding version (null: the scene was
  // created or deleted, or the store does not have the difference).
  virtual void OnChange(uint64_t version, const SceneChange::Ptr& change) = 0;

 protected:
  ~SceneWatcher() = default;
};

// Notifies the watchers of a scene of every change of the scene. Thread-safe. Must outlive the
// watchers that are added to it.
class WatchHub final : public SceneListener {
 public:
  // Adds the hub to the listeners of `store`.
  explicit WatchHub(SceneStore& store) { store.AddListener(this); }

  // Adds `watcher`: from now on, the hub notifies it of every change of the scene `scene`.
  void Add(const std::string& scene, SceneWatcher* watcher);
  // Removes `watcher`, which `Add` has added for `scene`. After `Remove` has returned, the hub does
  // not call `watcher` for `scene`.
  void Remove(const std::string& scene, SceneWatcher* watcher);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
  absl::Mutex mu_;  // acquired before any lock of a watcher
  absl::flat_hash_map<std::string, absl::flat_hash_set<SceneWatcher*>> watchers_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
