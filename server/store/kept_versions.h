// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which versions of a scene can be read?
//
// Memory keeps the current version of each scene, and some older versions that share polygons and
// pages of the index with the current version; forks (server/store/fork.h) keep the version that
// they began as. A reader of a kept version does not wait for a writer of the scene.
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

struct KeptLimits {
  // maximum number of versions that memory keeps of a scene, including the current one; at least 1
  size_t max_versions = 16;
  // maximum bytes of the polygons and index pages of a scene's kept versions that the current
  // version does not share; the kept versions of all scenes together may take 1/16 of the memory
  // that scenes may take (MemoryShare::kScenes)
  uint64_t max_bytes = 16ull << 20;
};

// A version of a scene that `KeptVersions` or a fork keeps. For a version of a scene in a
// `SceneStore`, a `SceneSnapshot` (server/store/scene_snapshot.h) accounts for the memory until the
// version's last reader is done. For a version that a fork has loaded from the journal, `charge`
// accounts for the memory.
class KeptVersion {
 public:
  explicit KeptVersion(Scene::Ptr scene, MemoryCharge charge = {})
      : scene_(std::move(scene)), peer_(charge.shared_peer()), charge_(std::move(charge)) {}

  const Scene::Ptr& scene() const { return scene_; }

 private:
  friend class KeptVersions;

  // Updates `bytes_` after `change` has made `current` the current version of the scene, in place
  // of this version or of a later one. Called only by the scene's writer.
  void MarkSuperseded(const Scene& current, const SceneChange& change);

  const Scene::Ptr scene_;
  // keeps the peer of `charge_` alive, because forks of other peers may hold this version after the
  // peer has disconnected
  const std::shared_ptr<MemoryPeer> peer_;
  const MemoryCharge charge_;
  std::atomic<uint64_t> bytes_{0};  // approximate bytes not shared with the current version
  // Only the thread that changes the scene uses the members below.
  uint64_t polygon_bytes_ = 0;                 // bytes of polygons that later versions do not have
  absl::flat_hash_set<uint64_t> removed_ids_;  // ids of polygons counted in `polygon_bytes_`
};

// The versions of scenes that memory keeps. Thread-safe. `scenes` and `account` outlive the
// `KeptVersions`. A lookup of a version waits at most for other lookups in the same scene: a writer
// computes the bytes of the kept versions without a lock.
class KeptVersions final : public SceneListener {
 public:
  // Adds itself to the listeners of `scenes`, and drops versions when `account` has no memory left
  // for scenes.
  KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits);
  ~KeptVersions() override;

  // Begins the version history of every scene that exists. A scene that is created later is added
  // by `OnSceneChanged`.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns version `version` of the scene; null if memory does not keep it.
  std::shared_ptr<KeptVersion> Find(absl::string_view name, uint64_t version) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns version `version` of the scene (0: the current one) for a fork that begins as that
  // version; null if memory does not contain the version. While any fork holds the version, later
  // calls find it, too.
  std::shared_ptr<KeptVersion> Acquire(absl::string_view name, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Adds a version that memory does not keep and that a fork has loaded from the journal, so that
  // later forks of the version find it while the fork holds it.
  void Add(absl::string_view name, const std::shared_ptr<KeptVersion>& version)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Drops old versions of about `bytes` bytes in total, if the kept old versions have that many
  // bytes. Returns true if it dropped any.
  bool Release(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using KeptPtr = std::shared_ptr<KeptVersion>;

  // The kept versions of one scene.
  struct VersionHistory {
    absl::Mutex mu;                                // acquired after `KeptVersions::mu_`
    std::deque<KeptPtr> kept ABSL_GUARDED_BY(mu);  // ascending; the last version is current
    std::vector<std::weak_ptr<KeptVersion>> shared ABSL_GUARDED_BY(mu);  // versions that forks hold
    uint64_t bytes ABSL_GUARDED_BY(mu) = 0;  // bytes of the old versions in `kept`
  };
  using HistoryPtr = std::shared_ptr<VersionHistory>;

  // Returns the history of the scene; null if it has none.
  HistoryPtr FindHistory(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the history of the scene, and creates one with the current version if the scene has
  // none; null if the scene does not exist.
  HistoryPtr FindOrMakeHistory(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // Removes the version history of a scene that was deleted from `histories_`.
  void Forget(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  static KeptPtr FindIn(const VersionHistory& history, uint64_t version)
      ABSL_SHARED_LOCKS_REQUIRED(history.mu);
  // While the history exceeds the limits `limits_`, moves its oldest version to `dropped`.
  void Prune(VersionHistory& history, std::vector<KeptPtr>& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(history.mu);
  // Sets `history.bytes`, and changes `kept_bytes_`, the total of all histories, accordingly.
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
