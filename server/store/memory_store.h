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
#include "server/base/scene_name.h"
#include "server/store/scene_snapshot.h"
#include "server/store/scene_store.h"
#include "server/transport/keyed_mutex.h"

namespace carom::server {

// Returns the error of a commit of `edits` whose base version is not the current version `current`
// of the scene: INVALID_ARGUMENT if `edits` are invalid for every scene, else the ABORTED error of
// `StaleVersion`.
absl::Status StaleCommit(uint64_t current, std::vector<SceneEdit> edits);

// A `SceneStore` in memory. One counter numbers the versions of all scenes, unless the journal
// numbers them (server/store/etcd/fleet_store.h). With a journal, the store makes a version visible
// once the journal has made it durable. Without a journal, scenes end with the process; of older
// versions the store then keeps only the summaries, and the polygons that small changes changed, up
// to a bound of memory.
//
// Thread-safe. A reader holds a shared lock only while it looks a name up. A writer builds a
// version and waits for the journal while it holds only the lock of its scene's writers
// (`writers_`).
class MemoryStore : public SceneStore {
 public:
  // Charges the memory of scenes to `account`. `account` and `journal` outlive the store; `journal`
  // may be null.
  MemoryStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account,
              SceneJournal* journal = nullptr)
      : max_scenes_(max_scenes), limits_(limits), account_(account), journal_(journal) {}

  // Charges scenes to the quotas of their tenants, too. Must be called before any other function.
  void set_tenants(std::shared_ptr<Tenants> tenants) { tenants_ = std::move(tenants); }

  // Loads all scenes from the journal, before the store is used. Calls `progress` after each scene,
  // with the numbers of scenes and vertices so far. Charges every scene to the account, even beyond
  // the account's limit.
  absl::Status Recover(absl::FunctionRef<void(size_t scenes, uint64_t vertices)> progress);

  // Serves `scene` read-only to every tenant under `name`, with the version number that `scene`
  // has. No client may change a scene of that name. Must be called after `Recover`, and before the
  // first client call. ALREADY_EXISTS naming the tenant if a tenant has a scene of that name.
  absl::Status Preload(absl::string_view name, const Scene::Ptr& scene, int64_t created_us);

  // Returns the key of the tenant's scene `name`, or of the preloaded scene (a read-only scene from
  // a file) of that name if there is one. Takes no lock.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return preloaded_.contains(name) ? std::string(name) : SceneKey(tenant, name);
  }
  // Returns at most `limit` preloaded scenes with names above `after`, by ascending name.
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
                                    absl::FunctionRef<bool()> abandoned) override;
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
  // Notifies the store's listeners of a change. Called also for a fork, which is in a `ForkStore`
  // (server/store/fork_store.h) and not in this store.
  void Notify(absl::string_view name, uint64_t version, const SceneChange::Ptr& change);

 protected:
  // A change of a scene that another process has made. `versions` has the summaries of all versions
  // that the journal keeps after the change; the last one is current. `follows`: the last version
  // is the one after the version that is current in this store. The caller of the functions that
  // take an `Adopted` holds the lock of the scene's writers. These functions charge memory and
  // quotas past their limits.
  struct Adopted {
    std::vector<VersionSummary> versions;
    bool follows = false;
  };
  KeyedMutex& writers() { return writers_; }
  // `AdoptEdits` and `AdoptPolygons` make the last version of `adopted` current and visible in this
  // store. `AdoptEdits` builds it by applying `edits` to the version that is current in this store,
  // and returns an error if they cannot be applied; `AdoptPolygons` builds it of `polygons`.
  absl::Status AdoptEdits(absl::string_view name, const std::vector<SceneEdit>& edits,
                          Adopted adopted);
  absl::Status AdoptPolygons(absl::string_view name, std::vector<Polygon> polygons,
                             Adopted adopted);
  // Makes the scene a damaged one, without polygons, because the stored data of the last version of
  // `adopted` is damaged.
  void AdoptDamage(absl::string_view name, const Adopted& adopted);
  // Removes the scene without checking its version or whether it is read-only.
  void AdoptDeletion(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // Raises the counter of versions, so that `NextVersion` returns numbers above `version`.
  void NoteVersion(uint64_t version);
  bool IsReadOnly(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_) {
    return !CheckWritable(name).ok();
  }

 private:
  struct Entry {
    Scene::Ptr scene;             // current version; null: its stored data is damaged
    SceneSnapshot::Ptr snapshot;  // keeps the memory of `scene` charged
    std::deque<VersionSummary> versions;
    // The changes that the store keeps for WatchScene calls: the changes that made the last few of
    // `versions`. `change_bytes` is the sum of their bytes.
    std::deque<SceneChange::Ptr> changes;
    uint64_t change_bytes = 0;
    // the change that made the current version, even if `changes` does not contain it; expires when
    // its last user releases it
    std::weak_ptr<const SceneChange> last_change;
    uint64_t bytes = 0;  // bytes charged to the tenant's quota
    bool is_read_only = false;
  };

  // Returns the summary of `scene` with the current time as the time of its creation.
  static VersionSummary SummaryOf(const Scene& scene, absl::string_view edit_id);
  // Returns the snapshot of the scene's current version, or the error of `WhyMissing` if the scene
  // does not exist or its stored data is damaged.
  absl::StatusOr<SceneSnapshot::Ptr> FindBase(absl::string_view name) const;
  // A version that is durable, but not yet visible.
  struct DurableVersion {
    Scene::Ptr scene;  // its number is provisional if the journal numbers versions
    VersionSummary summary;
    // difference from the version before; null: no scene existed before, or the difference is
    // unknown
    std::shared_ptr<SceneChange> change;
    MemoryCharge charge;  // memory of polygons that `before` does not have
    // the preceding version of the scene if `scene` shares polygons with that version; else null
    SceneSnapshot::Ptr before;
    std::span<const SceneEdit> edits;  // edits that turn `before` into `scene`
    // summaries of all versions that the journal keeps; empty: those in `Entry::versions`, and
    // `summary`
    std::vector<VersionSummary> versions = {};
  };
  // Makes a version visible, notifies listeners, and returns its scene. Removes the summaries of
  // versions before `written.oldest`, which the journal no longer keeps.
  Scene::Ptr MakeCurrent(absl::string_view name, DurableVersion made,
                         const WriteResult& written) noexcept;
  // Charges the tenant with the scene's size `bytes` in place of its earlier size, even beyond the
  // quota. If `is_new`, also counts one more scene of the tenant.
  void SettlePastLimit(absl::string_view name, bool is_new, uint64_t bytes)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the bytes that the scene takes of its tenant's quota; 0 if the scene does not exist.
  uint64_t BytesOfScene(absl::string_view name) const;
  // Takes quota from the tenant for `scenes` additional scenes, and for the bytes by which the
  // scene's size grows if it becomes `bytes`.
  absl::StatusOr<TenantCharge> ChargeTenant(absl::string_view name, uint64_t scenes,
                                            uint64_t bytes) const;
  // Makes the charge `share` of `ChargeTenant` permanent, after the scene's size has become
  // `bytes`.
  void Settle(absl::string_view name, uint64_t bytes, TenantCharge& share) ABSL_LOCKS_EXCLUDED(mu_);
  // Adds `change` to the changes that `entry` keeps for WatchScene calls, if there is room for it.
  // Moves the older changes that it removes to make room to `dropped`, so that the caller destroys
  // them after it has released `mu_`.
  void Keep(Entry& entry, const std::shared_ptr<SceneChange>& change,
            std::vector<SceneChange::Ptr>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the change from `before` to `after`; null if `before` is null. A large change refers to
  // the two scenes instead of listing polygons.
  std::shared_ptr<SceneChange> DifferenceOf(const Scene::Ptr& before, const Scene::Ptr& after,
                                            const VersionSummary& summary);
  // Returns the change from `before` to `after`, which `edits` made.
  std::shared_ptr<SceneChange> DifferenceBy(std::span<const SceneEdit> edits, const Scene& before,
                                            const Scene& after, const VersionSummary& summary);
  // Returns FAILED_PRECONDITION naming `name` if the scene is read-only.
  absl::Status CheckWritable(absl::string_view name) const;

  // Returns OK if an import may create or replace a scene of this name.
  absl::Status CheckImport(absl::string_view name, ImportMode mode) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const size_t max_scenes_;
  const SceneLimits limits_;
  MemoryAccount& account_;
  SceneJournal* const journal_;
  std::shared_ptr<Tenants> tenants_;  // null: tenants have no quotas
  std::atomic<uint64_t> last_version_{0};
  // names of preloaded scenes; complete before the first client call, hence no lock
  absl::btree_set<std::string> preloaded_;

  KeyedMutex writers_;  // a writer holds its scene's mutex; acquired before `mu_`

  mutable absl::Mutex mu_;
  absl::btree_map<std::string, Entry> scenes_ ABSL_GUARDED_BY(mu_);
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;      // number of scenes that running imports will add
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // sum of `Entry::change_bytes`

  mutable absl::Mutex listeners_mu_;
  std::vector<SceneListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace carom::server
