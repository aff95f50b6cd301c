// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a server keep scenes in memory?
//
// A `MemoryStore` keeps the current version of every scene in memory, and writes changes to a
// `SceneJournal` if it has one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/synchronization/mutex.h"
#include "server/access/tenant.h"
#include "server/base/memory_account.h"
#include "server/base/metrics.h"
#include "server/base/scene_name.h"
#include "server/store/scene_snapshot.h"
#include "server/store/scene_store.h"
#include "server/transport/keyed_mutex.h"

namespace carom::server {

// Returns the error of a commit of `edits` to a scene whose current version is `current`, if the
// commit names another version as its base version: INVALID_ARGUMENT if `edits` are invalid for
// every scene, else the ABORTED error of `StaleVersion`.
absl::Status StaleCommit(uint64_t current, std::vector<SceneEdit> edits);

// A `SceneStore` in memory. One counter numbers the versions of all scenes, unless the journal
// numbers them (server/store/etcd/fleet_store.h). With a journal, the store makes a version visible
// once the journal has made the version durable. Without a journal, all scenes are lost when the
// process ends, and of a scene's older versions the store keeps only the summaries and, within a
// memory limit, the lists of polygons that small changes changed.
//
// Thread-safe. A reader holds `mu_`, as a shared lock, only while it looks a scene's name up. A
// writer of a scene holds the scene's mutex in `writers_`, but not `mu_`, while it builds a version
// and waits for the journal.
class MemoryStore : public SceneStore {
 public:
  // Charges the memory of scenes to `account`. `account` and `journal` must outlive the store. A
  // null `journal`: the store has no journal.
  MemoryStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account,
              SceneJournal* journal = nullptr)
      : max_scenes_(max_scenes), limits_(limits), account_(account), journal_(journal) {}

  // Makes the store charge scenes to the quotas of their tenants, too. Must be called before any
  // other function.
  void set_tenants(std::shared_ptr<Tenants> tenants) { tenants_ = std::move(tenants); }

  // Makes the store, its subclass and its journal count in `metrics` what they do, such as commits,
  // or retries of commits to etcd. Must be called before any other function.
  void set_metrics(Metrics& metrics) {
    metrics_ = &metrics;
    if (journal_ != nullptr) journal_->set_metrics(metrics);
  }

  // Loads all scenes from the journal. Must be called before the store is used. Calls `progress`
  // after each scene, with the numbers of scenes and vertices loaded so far. Charges every scene to
  // the account, even beyond the account's limit.
  absl::Status Recover(absl::FunctionRef<void(size_t scenes, uint64_t vertices)> progress);

  // Adds the read-only scene `scene`, which every tenant finds under the name `name`; its version
  // number is that of `scene`. No client can change a scene of that name. Must be called after
  // `Recover`, and before the first client call. ALREADY_EXISTS naming the tenant if a tenant has a
  // scene of that name.
  absl::Status Preload(absl::string_view name, const Scene::Ptr& scene, int64_t created_us);

  // Returns the key of a scene (the name that functions of the store take): that of the preloaded
  // scene `name` (a read-only scene from a file) if there is one, else that of the tenant's scene
  // `name`. Takes no lock.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return preloaded_.contains(name) ? std::string(name) : SceneKey(tenant, name);
  }
  // Returns the first `limit` preloaded scenes with names greater than `after`, by ascending name.
  ScenePage ListPreloaded(absl::string_view after, size_t limit) const;

  Scene::Ptr Find(absl::string_view name) const override;
  absl::Status WhyMissing(absl::string_view name, absl::string_view field) const override;
  std::vector<VersionSummary> Versions(absl::string_view name) const override;
  absl::StatusOr<std::vector<Polygon>> Load(absl::string_view name, uint64_t version,
                                            MemoryCharge& charge) const override;
  SceneChange::Ptr FindChange(absl::string_view name, uint64_t version) const override;
  absl::StatusOr<SceneChange::Ptr> LoadChange(absl::string_view name, uint64_t version,
                                              MemoryCharge charge) const override;
  ScenePage List(absl::string_view after, size_t limit,
                 absl::string_view prefix = "") const override;
  absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                    std::vector<Polygon> polygons,
                                    absl::FunctionRef<bool()> abandoned,
                                    absl::string_view note = "") override;
  absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                    std::vector<SceneEdit> edits,
                                    absl::string_view edit_id = "") override;
  absl::StatusOr<Scene::Ptr> Rollback(absl::string_view name, uint64_t version,
                                      uint64_t base_version) override;
  absl::Status Delete(absl::string_view name, uint64_t version) override;
  void AddListener(SceneListener* listener) override;

  // Returns whether a scene of this name exists, damaged or not.
  bool Contains(absl::string_view name) const;
  // Returns a version number that no version of any scene has, and that no later call returns.
  uint64_t NextVersion() { return last_version_.fetch_add(1, std::memory_order_relaxed) + 1; }
  const SceneLimits& limits() const { return limits_; }
  // Numbers of things of all scenes of a store together.
  struct Totals {
    uint64_t scenes = 0;
    uint64_t polygons = 0;  // polygons of the current versions
    uint64_t vertices = 0;  // vertices of the current versions
    uint64_t versions = 0;  // summaries of versions that the store keeps
  };
  // Visits all scenes, in time proportional to their number; holds `mu_` as a reader meanwhile.
  Totals totals() const ABSL_LOCKS_EXCLUDED(mu_);
  // Notifies the store's listeners of a change. A `ForkStore` (server/store/fork_store.h) calls it
  // for its forks, too, which are not in this store.
  void Notify(absl::string_view name, uint64_t version, const SceneChange::Ptr& change);

 protected:
  // A change of a scene that another process has made and written to the journal, which the
  // processes share. `versions` has the summaries of all versions that the journal keeps after the
  // change; the last one is current. `follows`: the last of `versions` directly follows the version
  // that is current in this store. A caller of a function with an `Adopted` argument must hold the
  // scene's mutex in `writers()`. These functions charge memory and quotas even beyond the limits.
  struct Adopted {
    std::vector<VersionSummary> versions;
    bool follows = false;
  };
  KeyedMutex& writers() { return writers_; }
  Metrics& metrics() const { return *metrics_; }
  // `AdoptEdits` and `AdoptPolygons` make the last version of `adopted` current and visible in this
  // store. `AdoptEdits` builds that version by applying `edits` to the version that is current in
  // this store, and returns an error if the edits cannot be applied; `AdoptPolygons` builds that
  // version of `polygons`.
  absl::Status AdoptEdits(absl::string_view name, const std::vector<SceneEdit>& edits,
                          Adopted adopted);
  absl::Status AdoptPolygons(absl::string_view name, std::vector<Polygon> polygons,
                             Adopted adopted);
  // Marks the scene as damaged and drops its polygons. Called if the stored data of the last
  // version of `adopted` is damaged.
  void AdoptDamage(absl::string_view name, const Adopted& adopted);
  // Removes the scene from this store, but not from the journal, and notifies listeners. Checks
  // neither the scene's version nor whether the scene is read-only.
  void AdoptDeletion(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // Raises the counter of versions, so that `NextVersion` returns numbers above `version`.
  void NoteVersion(uint64_t version);
  bool IsReadOnly(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_) {
    return !CheckWritable(name).ok();
  }

 private:
  // What the store has in memory of one scene.
  struct Entry {
    // the current version; null: the stored data of the current version is damaged
    Scene::Ptr scene;
    SceneSnapshot::Ptr snapshot;  // keeps the memory of `scene` charged
    std::deque<VersionSummary> versions;
    // The changes that the store keeps for WatchScene calls: changes that made some of the most
    // recent of `versions`, ascending. `change_bytes` is the sum of `SceneChange::bytes` over
    // `changes`.
    std::deque<SceneChange::Ptr> changes;
    uint64_t change_bytes = 0;
    // the change that made the current version, even if `changes` does not contain it; expires when
    // the last holder of the change releases it
    std::weak_ptr<const SceneChange> last_change;
    uint64_t bytes = 0;  // bytes charged to the tenant's quota
    bool is_read_only = false;
  };

  // Returns the summary of the version `scene`. The version's time of creation is the current time.
  static VersionSummary SummaryOf(const Scene& scene, absl::string_view edit_id);
  // Returns the snapshot of the scene's current version, or the error of `WhyMissing` if the scene
  // does not exist or its stored data is damaged.
  absl::StatusOr<SceneSnapshot::Ptr> FindBase(absl::string_view name) const;
  // A version that is durable, but not yet visible.
  struct DurableVersion {
    Scene::Ptr scene;  // `MakeCurrent` replaces its number if the journal numbers versions
    VersionSummary summary;
    // difference from the preceding version; null: there is no preceding version, or the difference
    // is unknown
    std::shared_ptr<SceneChange> change;
    // charge of the memory of the polygons of `scene` that `before` does not have
    MemoryCharge charge;
    // the preceding version of the scene if `scene` shares polygons with that version; else null
    SceneSnapshot::Ptr before;
    // edits that turn `before` into `scene`; empty if `before` is null
    std::span<const SceneEdit> edits;
    // summaries of all versions that the journal keeps, including `summary`; empty: the journal
    // keeps the versions in `Entry::versions` and the one of `summary`
    std::vector<VersionSummary> versions = {};
  };
  // Makes the version `made` visible as version `written.version`, notifies listeners, and returns
  // the version's scene. Removes the summaries of versions before `written.oldest`, which the
  // journal no longer keeps, and the oldest summaries beyond 1024.
  Scene::Ptr MakeCurrent(absl::string_view name, DurableVersion made,
                         const WriteResult& written) noexcept;
  // Charges the tenant's quota with the scene's size `bytes` in place of the scene's earlier size,
  // even beyond the quota. If `is_new`, also counts one more scene of the tenant.
  void SettlePastLimit(absl::string_view name, bool is_new, uint64_t bytes)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the bytes that the scene takes of its tenant's quota; 0 if the scene does not exist.
  uint64_t BytesOfScene(absl::string_view name) const;
  // Charges the tenant's quota with `scenes` additional scenes, and with the bytes by which
  // `bytes`, the scene's size after a change, exceeds the scene's present size.
  absl::StatusOr<TenantCharge> ChargeTenant(absl::string_view name, uint64_t scenes,
                                            uint64_t bytes) const;
  // Makes `share`, the charge that `ChargeTenant` returned, permanent, after the change has given
  // the scene the size `bytes`.
  void Settle(absl::string_view name, uint64_t bytes, TenantCharge& share) ABSL_LOCKS_EXCLUDED(mu_);
  // Adds `change` to `entry.changes`, which the store keeps for WatchScene calls, unless `change`
  // is too large. To make room, moves the oldest changes of `entry` to `dropped`; the caller
  // destroys `dropped` after it has released `mu_`.
  void Keep(Entry& entry, const std::shared_ptr<SceneChange>& change,
            std::vector<SceneChange::Ptr>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the change from `before` to `after`; null if `before` is null. A small change lists the
  // changed polygons; a large one refers to the two scenes.
  std::shared_ptr<SceneChange> DifferenceOf(const Scene::Ptr& before, const Scene::Ptr& after,
                                            const VersionSummary& summary);
  // Returns the change from `before` to `after`, where `after` is the result of applying `edits` to
  // `before`.
  std::shared_ptr<SceneChange> DifferenceBy(std::span<const SceneEdit> edits, const Scene& before,
                                            const Scene& after, const VersionSummary& summary);
  // Returns OK, or FAILED_PRECONDITION naming the request field `name` if the scene is read-only.
  absl::Status CheckWritable(absl::string_view name) const;

  // Returns OK if an import with `mode` may create or replace the scene `name`, else the error of
  // the import.
  absl::Status CheckImport(absl::string_view name, ImportMode mode) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const size_t max_scenes_;
  const SceneLimits limits_;
  MemoryAccount& account_;
  SceneJournal* const journal_;
  Metrics* metrics_ = &Metrics::Unread();
  std::shared_ptr<Tenants> tenants_;  // null: tenants have no quotas
  std::atomic<uint64_t> last_version_{0};
  // names of preloaded scenes; not changed after the first client call, so no lock guards the set
  absl::btree_set<std::string> preloaded_;

  // a mutex for each scene: a thread that changes the scene holds it; acquired before `mu_`
  KeyedMutex writers_;

  mutable absl::Mutex mu_;
  absl::btree_map<std::string, Entry> scenes_ ABSL_GUARDED_BY(mu_);
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;      // number of scenes that running imports will add
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // sum of `Entry::change_bytes` over all scenes

  mutable absl::Mutex listeners_mu_;
  std::vector<SceneListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace carom::server
