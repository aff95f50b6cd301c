// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who waits for the next version of a scene?
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

// Is notified of every change of one scene, on the writer's thread, under the hub's lock; so it
// only notes what is to be done.
class SceneWatcher {
 public:
  // `change` is null if it made the scene; `version` of 0: the scene is deleted.
  virtual void OnChange(uint64_t version, const SceneChange::Ptr& change) = 0;

 protected:
  ~SceneWatcher() = default;
};

// The watchers of all scenes. Thread-safe; outlives its watchers.
class WatchHub final : public SceneListener {
 public:
  // Listens to `store`.
  explicit WatchHub(SceneStore& store) { store.AddListener(this); }

  // From here on `watcher` is notified.
  void Add(const std::string& scene, SceneWatcher* watcher);
  // No more, once this returns. Of what was added.
  void Remove(const std::string& scene, SceneWatcher* watcher);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override;

 private:
  absl::Mutex mu_;  // taken before those of watchers
  absl::flat_hash_map<std::string, absl::flat_hash_set<SceneWatcher*>> watchers_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
