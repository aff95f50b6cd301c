// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which versions of a scene can be read?
//
// Of each scene of a store the current version and some before it are kept in memory, on the pages
// that they share; forks keep the version that they began with. Reading one waits for no change.
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
  size_t max_versions = 16;          // of a scene, with the current one; at least 1
  uint64_t max_bytes = 16ull << 20;  // of a scene, beside the current one; of all, 1/16 of what
                                     // scenes may take
};

// A version of a scene that somebody keeps. Scenes of a store count by themselves until the last
// reader is done (server/store/scene_snapshot.h); what is not in a store brings its charge.
class KeptVersion {
 public:
  explicit KeptVersion(Scene::Ptr scene, MemoryCharge charge = {})
      : scene_(std::move(scene)), peer_(charge.shared_peer()), charge_(std::move(charge)) {}

  const Scene::Ptr& scene() const { return scene_; }

 private:
  friend class KeptVersions;

  // The scene is `current` after `change`. By the writer of the scene alone.
  void Outdate(const Scene& current, const SceneChange& change);

  const Scene::Ptr scene_;
  const std::shared_ptr<MemoryPeer> peer_;  // of the charge: forks of other peers may be its last
  const MemoryCharge charge_;
  std::atomic<uint64_t> bytes_{0};  // that it takes beside the current version, about
  // Of the scene's writer.
  uint64_t polygon_bytes_ = 0;          // of polygons that the scene has no more
  absl::flat_hash_set<uint64_t> gone_;  // their ids
};

// Thread-safe. `scenes` and `account` outlive it. A thread that looks a version up waits for other
// look-ups of the same scene at most: what a change costs, its writer works out without a lock.
class KeptVersions final : public SceneListener {
 public:
  // Listens to `scenes`, and gives versions up where `account` has no memory left for scenes.
  KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits);
  ~KeptVersions() override;

  // Takes note of the scenes that are there by now. Of others it hears.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_);

  // The version, or null if it is not kept.
  std::shared_ptr<KeptVersion> Find(absl::string_view name, uint64_t version) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // The same for a fork, 0 for the current version: later forks find it as long as one has it.
  std::shared_ptr<KeptVersion> Share(absl::string_view name, uint64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);
  // A version that is not kept, for a fork that has read it elsewhere, and for later forks.
  void Add(absl::string_view name, const std::shared_ptr<KeptVersion>& version)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Lets go of old versions that take so many bytes, about, if there are so many. True if some
  // went.
  bool GiveUp(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  void OnSceneChanged(absl::string_view name, uint64_t version,
                      const SceneChange::Ptr& change) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using KeptPtr = std::shared_ptr<KeptVersion>;

  // Of one scene.
  struct Past {
    absl::Mutex mu;                                // after the table's
    std::deque<KeptPtr> kept ABSL_GUARDED_BY(mu);  // ascending; the last one is current
    std::vector<std::weak_ptr<KeptVersion>> shared ABSL_GUARDED_BY(mu);  // by forks
    uint64_t bytes ABSL_GUARDED_BY(mu) = 0;                              // of `kept`
  };
  using PastPtr = std::shared_ptr<Past>;

  // What is kept of the scene; null if nothing is.
  PastPtr FindPast(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // The same, begun with the current version; null if there is no scene.
  PastPtr MakePast(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // The scene is deleted.
  void Forget(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  static KeptPtr FindIn(const Past& past, uint64_t version) ABSL_SHARED_LOCKS_REQUIRED(past.mu);
  // Moves the oldest versions that are too much to `dropped`.
  void Prune(Past& past, std::vector<KeptPtr>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(past.mu);
  // The past takes so many bytes.
  void Count(Past& past, uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(past.mu);

  SceneStore& scenes_;
  MemoryAccount& account_;
  const KeptLimits limits_;

  mutable absl::Mutex mu_;  // of the table alone; before the locks of the store's readers
  absl::flat_hash_map<std::string, PastPtr> pasts_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> kept_bytes_{0};  // of all pasts
};

}  // namespace carom::server
