// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which versions of a scene can be read?
//
// The server keeps in memory the current version of each scene, and some older versions that share
// polygons and pages of the spatial index with the current version. A fork (server/store/fork.h)
// keeps the version that the fork began as. A reader of a kept version does not wait for a writer
// of the scene.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "carom/scene.h"
#include "server/base/memory_account.h"
#include "server/store/scene_change.h"
#include "server/store/scene_store.h"

namespace carom::server {

// Limits of the versions that `KeptVersions` keeps in memory. Versions of a scene share the
// polygons and the pages of the spatial index (index pages) that no edit has changed.
struct KeptLimits {
  // maximum number of versions of a scene that are kept in memory, including the current version;
  // at least 1
  size_t max_versions = 16;
  // maximum bytes of the polygons and index pages of a scene's kept versions that the current
  // version does not share; the kept versions of all scenes together may take 1/16 of the memory
  // that scenes may take (MemoryShare::kScenes)
  uint64_t max_bytes = 16ull << 20;
};

// A version of a scene that `KeptVersions` or a fork keeps. The memory of a version of a scene in a
// `SceneStore` is charged to a `SceneSnapshot` (server/store/scene_snapshot.h) until the version's
// last reader is done, and `charge` is empty. The memory of a version that was loaded from the
// journal for a fork is charged to `charge`.
class KeptVersion {
 public:
  explicit KeptVersion(Scene::Ptr scene, MemoryCharge charge = {})
      : scene_(std::move(scene)), peer_(charge.shared_peer()), charge_(std::move(charge)) {}

  const Scene::Ptr& scene() const { return scene_; }

 private:
  friend class KeptVersions;

  // Updates `bytes_` after `change` has made `current` the current version of the scene. Before the
  // change, this version or a later one was current. Called only by the thread that changes the
  // scene.
  void MarkSuperseded(const Scene& current, const SceneChange& change);

  const Scene::Ptr scene_;
  // keeps the counters of the peer (client) that `charge_` refers to in memory: forks of other
  // peers may hold this version after that peer has disconnected
  const std::shared_ptr<MemoryPeer> peer_;
  const MemoryCharge charge_;
  // approximate bytes of this version's polygons, and of the pages of its spatial index, that the
  // scene's current version does not have
  std::atomic<uint64_t> bytes_{0};
  // Only the thread that changes the scene uses `polygon_bytes_`, the bytes of this version's
  // polygons that the current version does not have, and `removed_ids_`.
  uint64_t polygon_bytes_ = 0;
  absl::flat_hash_set<uint64_t> removed_ids_;  // ids of polygons counted in `polygon_bytes_`
};

// The versions of scenes that are kept in memory: of each scene, the current version and some old
// ones. A version is dropped when it is removed from the kept versions. Thread-safe. `scenes` and
// `account` must outlive the `KeptVersions`. A lookup of a version waits for other threads only
// briefly: no thread computes the bytes of kept versions, or destroys versions, while it holds a
// lock.
class KeptVersions final : public SceneListener {
 public:
  // Adds itself to the listeners of `scenes`, and drops old versions when `account` has no memory
  // left for scenes.
  KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits);
  ~KeptVersions() override;

  // Adds a version history to `histories_` for every scene that exists. For a scene that is created
  // later, `OnSceneChanged` adds the version history.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns version `version` of the scene `name`; null if the version is not kept in memory.
  std::shared_ptr<KeptVersion> Find(absl::string_view name, uint64_t version) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns version `version` of the scene (0: the current one) for a fork that begins as that
  // version; null if the version is not kept in memory. As long as a fork holds the version,
  // `Acquire` finds the version, even after `Find` no longer does.
  std::shared_ptr<KeptVersion> Acquire(absl::string_view name, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a version that was loaded from the journal for a fork, because it was not kept in memory.
  // As long as a fork holds the version, `Acquire` finds it for further forks.
  void Add(absl::string_view name, const std::shared_ptr<KeptVersion>& version)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Drops old versions until about `bytes` bytes are freed. Drops none if all kept old versions
  // together have fewer than `bytes` bytes. Returns whether a version was dropped.
  bool Release(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using KeptPtr = std::shared_ptr<KeptVersion>;

  // The kept versions of one scene.
  struct VersionHistory {
    absl::Mutex mu;                                // acquired after `KeptVersions::mu_`
    std::deque<KeptPtr> kept ABSL_GUARDED_BY(mu);  // ascending; the last version is current
    // versions that forks (temporary copies of scenes) have begun as and may still hold
    std::vector<std::weak_ptr<KeptVersion>> shared ABSL_GUARDED_BY(mu);
    uint64_t bytes ABSL_GUARDED_BY(mu) = 0;  // bytes of the old versions in `kept`
  };
  using HistoryPtr = std::shared_ptr<VersionHistory>;

  // Returns the version history of the scene `name`; null if `histories_` has none for the scene.
  HistoryPtr FindHistory(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the version history of the scene `name`; if `histories_` has none, adds one with the
  // scene's current version. Null if the scene does not exist.
  HistoryPtr FindOrMakeHistory(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // Removes the version history of the deleted scene `name` from `histories_`.
  void Forget(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  static KeptPtr FindIn(const VersionHistory& history, uint64_t version)
      ABSL_SHARED_LOCKS_REQUIRED(history.mu);
  // Moves the oldest versions of `history` to `dropped` until the other versions are within
  // `limits_` and the kept old versions of all scenes are within their common limit. Keeps the
  // current version in any case.
  void Prune(VersionHistory& history, std::vector<KeptPtr>& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(history.mu);
  // Sets `history.bytes` to `bytes`, and changes `kept_bytes_`, the sum over all histories, by the
  // difference.
  void Count(VersionHistory& history, uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(history.mu);

  SceneStore& scenes_;
  MemoryAccount& account_;
  const KeptLimits limits_;

  // guards only the table `histories_`; acquired before the locks of `scenes_`
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, HistoryPtr> histories_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> kept_bytes_{0};  // sum of `bytes` of all histories
};

}  // namespace carom::server
