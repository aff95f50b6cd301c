// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes in this process's memory, gone when it ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"
#include "server/keyed_mutex.h"
#include "server/memory_account.h"
#include "server/scene_store.h"

namespace carom::server {

// What a polygon of a scene takes, about, its part of the index included.
uint64_t BytesOf(const Polygon& polygon);

// A SceneStore without a disk. Versions are those of one counter.
//
// Thread-safe. Readers hold a shared lock for the lookup of a name and no longer; a new version is
// built under the lock of its own scene's writers alone.
class MemoryStore final : public SceneStore {
 public:
  // What scenes take is counted on `account`, which outlives the store.
  MemoryStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account)
      : max_scenes_(max_scenes), limits_(limits), account_(account) {}

  Scene::Ptr Find(absl::string_view name) const override;
  ScenePage List(absl::string_view after, size_t limit) const override;
  absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                    std::vector<Polygon> polygons,
                                    absl::FunctionRef<bool()> abandoned) override;
  absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                    std::vector<SceneEdit> edits) override;
  absl::Status Delete(absl::string_view name, uint64_t version) override;
  void AddListener(SceneListener* listener) override;

 private:
  struct Entry {
    Scene::Ptr scene;
    MemoryCharge charge;
  };

  uint64_t NextVersion() { return last_version_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Whether a scene of this name may be registered.
  absl::Status CheckImport(absl::string_view name, ImportMode mode) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void Notify(absl::string_view name, uint64_t version);

  const size_t max_scenes_;
  const SceneLimits limits_;
  MemoryAccount& account_;
  std::atomic<uint64_t> last_version_{0};

  KeyedMutex writers_;  // locked by name around every change; before mu_

  mutable absl::Mutex mu_;
  absl::btree_map<std::string, Entry> scenes_ ABSL_GUARDED_BY(mu_);

  mutable absl::Mutex listeners_mu_;
  std::vector<SceneListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace carom::server
