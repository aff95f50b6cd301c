// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which versions of a scene can be read?
//
// Of each scene of a store the current version and some before it are kept in memory, on the pages
// that they share; forks keep the version that they began with. Reading one waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "carom/scene.h"
#include "server/memory_account.h"
#include "server/scene_change.h"
#include "server/scene_store.h"

namespace carom::server {

struct KeptLimits {
  size_t max_versions = 16;          // of a scene, with the current one; at least 1
  uint64_t max_bytes = 16ull << 20;  // of a scene, beside the current one; of all, 1/16 of what
                                     // scenes may take
};

// A version of a scene that somebody keeps. What it takes beside the current version is counted.
class KeptVersion {
 public:
  KeptVersion(Scene::Ptr scene, MemoryCharge charge)
      : scene_(std::move(scene)), charge_(std::move(charge)) {}

  const Scene::Ptr& scene() const { return scene_; }

 private:
  friend class KeptVersions;

  // The scene has changed by `change` and is `current`, null where nothing is shared any more.
  void Outdate(const Scene* current, const SceneChange* change);

  const Scene::Ptr scene_;
  // By `KeptVersions`, under its lock.
  MemoryCharge charge_;
  uint64_t polygon_bytes_ = 0;          // of polygons that the scene has no more
  absl::flat_hash_set<uint64_t> gone_;  // their ids
  bool is_alone_ = false;               // it shares nothing
};

// Thread-safe. `scenes` and `account` outlive it.
class KeptVersions final : public SceneListener {
 public:
  // Listens to `scenes`.
  KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits);

  // Takes note of the scenes that are there by now. Of others it hears.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_);

  // The version, 0 for the current one, or null if it is not kept.
  std::shared_ptr<KeptVersion> Find(absl::string_view name, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The same for a fork: what it takes is counted for as long as somebody has it.
  std::shared_ptr<KeptVersion> Share(absl::string_view name, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Past {
    std::deque<std::shared_ptr<KeptVersion>> kept;  // ascending; the last one is current
    std::vector<std::weak_ptr<KeptVersion>> shared;
    uint64_t bytes = 0;  // of `kept`
  };

  // What is kept of the scene, whose current version is added if it is not there yet.
  Past* PastOf(absl::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<KeptVersion> FindLocked(Past* past, uint64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds up what the past takes, and lets go of the oldest versions that are too much.
  void Prune(Past& past, std::vector<std::shared_ptr<KeptVersion>>& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  SceneStore& scenes_;
  MemoryAccount& account_;
  const KeptLimits limits_;

  absl::Mutex mu_;  // taken before the locks of the store's readers
  absl::flat_hash_map<std::string, Past> pasts_ ABSL_GUARDED_BY(mu_);
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of all pasts
};

}  // namespace carom::server
