// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes in this process's memory, and where a journal writes them down.
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

// ABORTED, as `StaleVersion`, or what is wrong with the edits whatever the scene.
absl::Status StaleCommit(uint64_t current, std::vector<SceneEdit> edits);

// One counter numbers all versions, unless the journal numbers them
// (server/store/etcd/fleet_store.h). With a journal, the store shows a version once the journal has
// made it durable. Without a journal, scenes end with the process. Of older versions the store then
// keeps only their summaries, and the polygons that small changes changed, up to a bound of memory.
//
// Thread-safe. Readers hold a shared lock for the lookup of a name and no longer; a new version is
// built, and written down, under the lock of its own scene's writers alone.
class MemoryStore : public SceneStore {
 public:
  // What scenes take is counted on `account`. Both outlive the store; `journal` may be null.
  MemoryStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account,
              SceneJournal* journal = nullptr)
      : max_scenes_(max_scenes), limits_(limits), account_(account), journal_(journal) {}

  // Scenes count on the shares of their tenants; before anything else.
  void set_tenants(std::shared_ptr<Tenants> tenants) { tenants_ = std::move(tenants); }

  // Takes over what the journal has, before anything else. `progress` is called scene by scene,
  // with the vertices so far. Scenes count on the account even where there is no room for them.
  absl::Status Recover(absl::FunctionRef<void(size_t scenes, uint64_t vertices)> progress);

  // Serves a scene read-only to every tenant, beside those of the journal; nobody may write one of
  // its name. After `Recover`, and before anybody asks. Its own version is kept. ALREADY_EXISTS
  // that names the tenant if one has a scene of that name.
  absl::Status Preload(absl::string_view name, const Scene::Ptr& scene, int64_t created_us);

  // Of a tenant's scene, or of the one of that name that is preloaded. No lock.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return preloaded_.contains(name) ? std::string(name) : SceneKey(tenant, name);
  }
  // Scenes that are preloaded, as `List`.
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

  // Whether there is a scene of this name, damaged or not.
  bool Contains(absl::string_view name) const;
  // A version that no scene has.
  uint64_t NextVersion() { return last_version_.fetch_add(1, std::memory_order_relaxed) + 1; }
  const SceneLimits& limits() const { return limits_; }
  // Tells listeners of a scene that is not this store's (server/store/fork_store.h).
  void Notify(absl::string_view name, uint64_t version, const SceneChange::Ptr& change);

 protected:
  // What another process has made of a scene, by the time that all these versions are kept; by
  // whoever has locked out the scene's writers. Counts whatever the shares are. `follows`: nothing
  // came between the version that is here and the last of them.
  struct Adopted {
    std::vector<VersionSummary> versions;
    bool follows = false;
  };
  KeyedMutex& writers() { return writers_; }
  // The edits make the last version of the one that is here. An error says that they cannot be.
  absl::Status AdoptEdits(absl::string_view name, const std::vector<SceneEdit>& edits,
                          Adopted adopted);
  absl::Status AdoptPolygons(absl::string_view name, std::vector<Polygon> polygons,
                             Adopted adopted);
  // What is stored of the last version is damaged.
  void AdoptDamage(absl::string_view name, const Adopted& adopted);
  // Nobody is asked whether the scene may go.
  void AdoptDeletion(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // Versions that are made here from now on are above this one.
  void NoteVersion(uint64_t version);
  bool IsReadOnly(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_) {
    return !CheckWritable(name).ok();
  }

 private:
  struct Entry {
    Scene::Ptr scene;             // null: what was stored of it is damaged
    SceneSnapshot::Ptr snapshot;  // which counts until the last reader of the scene is done
    std::deque<VersionSummary> versions;
    // The changes that made the last of these, as far as they are kept, and what they take.
    std::deque<SceneChange::Ptr> changes;
    uint64_t change_bytes = 0;
    std::weak_ptr<const SceneChange> last_change;  // kept or not
    uint64_t bytes = 0;                            // of the tenant's share
    bool is_read_only = false;
  };

  // The summary of a version that is made now.
  static VersionSummary SummaryOf(const Scene& scene, absl::string_view edit_id);
  // The current version, or why there is none.
  absl::StatusOr<SceneSnapshot::Ptr> FindBase(absl::string_view name) const;
  // A version that is written down.
  struct Made {
    Scene::Ptr scene;  // under whichever number
    VersionSummary summary;
    std::shared_ptr<SceneChange> change;        // null if there was no scene, or it is not known
    MemoryCharge charge;                        // of what it has that the version before has not
    SceneSnapshot::Ptr before;                  // that it shares polygons with; null: none
    std::span<const SceneEdit> edits;           // of `before`
    std::vector<VersionSummary> versions = {};  // all that are kept; empty: those that are known
  };
  // Makes a version visible. Versions before the oldest one that is kept are forgotten.
  Scene::Ptr MakeCurrent(absl::string_view name, Made made, const Written& written) noexcept;
  // Takes from a tenant, or gives back, what a scene has more or less by now.
  void SettleAnyway(absl::string_view name, bool is_new, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // The bytes of a scene on its tenant's share; 0 for one that is not there.
  uint64_t BytesOfScene(absl::string_view name) const;
  // Takes what a scene of so many bytes will have beyond what it has now.
  absl::StatusOr<TenantCharge> ChargeTenant(absl::string_view name, uint64_t scenes,
                                            uint64_t bytes) const;
  // Keeps that, for the scene as it is by now.
  void Settle(absl::string_view name, uint64_t bytes, TenantCharge& share) ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps a change while there is room, in place of older ones, which go to `dropped`.
  void Keep(Entry& entry, const std::shared_ptr<SceneChange>& change,
            std::vector<SceneChange::Ptr>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What made `after` of `before`; null without that. Of two scenes whose difference is large it
  // has both.
  std::shared_ptr<SceneChange> DifferenceOf(const Scene::Ptr& before, const Scene::Ptr& after,
                                            const VersionSummary& summary);
  // The same of edits.
  std::shared_ptr<SceneChange> DifferenceBy(std::span<const SceneEdit> edits, const Scene& before,
                                            const Scene& after, const VersionSummary& summary);
  // FAILED_PRECONDITION naming `name` for a scene that nobody may change.
  absl::Status CheckWritable(absl::string_view name) const;

  // Whether a scene of this name may be registered.
  absl::Status CheckImport(absl::string_view name, ImportMode mode) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const size_t max_scenes_;
  const SceneLimits limits_;
  MemoryAccount& account_;
  SceneJournal* const journal_;
  std::shared_ptr<Tenants> tenants_;  // null: nobody has shares
  std::atomic<uint64_t> last_version_{0};
  absl::btree_set<std::string> preloaded_;  // names; no lock: complete before anybody asks

  KeyedMutex writers_;  // locked by name around every change; before mu_

  mutable absl::Mutex mu_;
  absl::btree_map<std::string, Entry> scenes_ ABSL_GUARDED_BY(mu_);
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;      // places of scenes that are being registered
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of all changes that are kept

  mutable absl::Mutex listeners_mu_;
  std::vector<SceneListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace carom::server
