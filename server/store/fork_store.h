// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server store scenes together with their forks?
//
// A `ForkStore` forwards calls for scenes to a `MemoryStore`, and adds forks (server/store/fork.h).
// A fork is a scene that begins as a version of another scene, its base. Query frames (each is a
// client's message of queries and edits for one tick) edit the fork without changing the base. A
// fork is deleted when its lease ends (when no client has used the fork for a set time), or when a
// client deletes it. Forks are only in memory: no journal (server/store/scene_journal.h) contains
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/base/scene_name.h"
#include "server/base/timer.h"
#include "server/store/fork.h"
#include "server/store/fork_memory.h"
#include "server/store/kept_versions.h"
#include "server/store/memory_store.h"
#include "server/transport/async_call.h"
#include "server/transport/executor.h"

namespace carom::server {

// Limits of forks, and of the versions that forks can begin as. A fork begins as a version of
// another scene, its base. A peer is a client address.
struct ForkLimits {
  size_t max_forks = 4096;
  size_t max_forks_per_peer = 1024;
  // maximum bytes of all forks together, without the memory that forks share with their bases
  uint64_t max_bytes = 1ull << 30;
  size_t max_versions = 256;  // maximum number of versions that a fork keeps
  uint64_t max_lease_seconds = 3600;
  // limits of the old versions that are kept in memory for each scene that is not a fork
  KeptLimits kept;
};

// A request to make a fork. The base, the scene to fork, is a scene of the tenant, or a preloaded
// scene (a read-only scene that the server loaded from a file for all tenants).
struct ForkOrder {
  std::string tenant = kDefaultTenant;
  std::string base;
  uint64_t version = 0;  // version of the base; 0: the current one
  std::string name;      // name of the fork; empty: the store generates one
  uint64_t lease_seconds = 0;
};

// The name of the scene that a fork was made of (its base), and the version of that scene that the
// fork began as.
struct ForkOrigin {
  std::string base;
  uint64_t version = 0;
};

// A store of scenes and forks. A fork is a scene that begins as a version of another scene, its
// base, and is only in memory. It is deleted when its lease ends, which is when no client has used
// it for a set time. Thread-safe. The store is also a task: its function `Run`, which the executor
// calls, deletes forks whose leases have ended.
class ForkStore final : public SceneStore, private Task {
 public:
  static constexpr uint64_t kDefaultLeaseSeconds = 60;

  // All arguments must outlive the store. The listeners of `scenes` are notified of changes of
  // forks, too.
  ForkStore(MemoryStore& scenes, MemoryAccount& account, const ForkLimits& limits, Timer& timer,
            Executor& executor);
  // Stops the deletion of forks whose leases have ended, and waits until a running `Run` has
  // returned.
  ~ForkStore() override { Stop(); }

  // Stops the deletion of forks whose leases have ended, and waits until a running `Run` has
  // returned. Must be called after the last client call has ended, and before a listener of the
  // scenes is destroyed.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the key of a scene, the name that functions of a store take: the scene's name with a
  // prefix for its tenant (server/base/scene_name.h). If there is a preloaded scene (a read-only
  // scene from a file) with the name `name`, returns the key of the preloaded scene.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return scenes_.KeyOf(tenant, name);
  }

  // Begins to keep old versions of scenes that are not forks in memory (`KeptVersions`). Must be
  // called after the `MemoryStore` has loaded its scenes.
  void Begin() { kept_.Begin(); }

  // Makes a fork, and charges the fork's memory to `peer`. The names in `order` must be
  // well-formed. Errors: those of ForkScene (proto/carom/v1/scene_service.proto).
  absl::StatusOr<NamedScene> MakeFork(const ForkOrder& order,
                                      const std::shared_ptr<MemoryPeer>& peer);
  // Returns the first `limit` scenes with names greater than `after`, among the tenant's scenes and
  // forks and the preloaded scenes, which all tenants share. The returned names have no tenant
  // prefix.
  ScenePage ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const;
  uint64_t LeaseOf(const ForkOrder& order) const {
    return order.lease_seconds == 0 ? std::min(kDefaultLeaseSeconds, limits_.max_lease_seconds)
                                    : order.lease_seconds;
  }
  // Returns the number of forks, and the bytes of memory that are charged to all forks together.
  std::pair<size_t, uint64_t> usage() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the base of the fork `name`; none if no fork has this name.
  std::optional<ForkOrigin> OriginOf(absl::string_view name) const;

  // Returns the current version of a scene, as `Find` does, and renews the lease if the scene is a
  // fork. The server calls `Use` for the scenes that the queries of a query frame (a client's
  // message of queries for one tick) name.
  Scene::Ptr Use(absl::string_view name) const;
  // Returns version `version` of a scene, and renews the lease if the scene is a fork. Errors:
  // OUT_OF_RANGE naming `version` if the scene exists and the version is not in memory; if the
  // scene does not exist, the error of `WhyMissing`, which names `field`.
  absl::StatusOr<Scene::Ptr> UseVersion(absl::string_view name, uint64_t version,
                                        absl::string_view field);
  // Edits the fork `name`; see `Fork::Edit`. Returns FAILED_PRECONDITION if the scene `name` is not
  // a fork.
  absl::StatusOr<Scene::Ptr> EditFork(absl::string_view name, ForkEdits edits, EditTime time);

  // Returns the body sets of the fork `name`, and renews its lease. Errors: those of `WhyMissing`,
  // and FAILED_PRECONDITION if the scene is not a fork; both name `field`.
  absl::StatusOr<std::shared_ptr<ForkBodySets>> BodySetsOf(absl::string_view name,
                                                           absl::string_view field);

  Scene::Ptr Find(absl::string_view name) const override;
  absl::Status WhyMissing(absl::string_view name, absl::string_view field) const override;
  std::vector<VersionSummary> Versions(absl::string_view name) const override;
  Scene::Ptr FindVersion(absl::string_view name, uint64_t version) const override;
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
  void AddListener(SceneListener* listener) override { scenes_.AddListener(listener); }
  absl::Status CatchUp() override { return scenes_.CatchUp(); }
  bool HasReached(uint64_t version) const override { return scenes_.HasReached(version); }
  uint64_t staleness_us() const override { return scenes_.staleness_us(); }

 private:
  using ForkPtr = std::shared_ptr<Fork>;

  // Deletes the forks whose leases have ended. Called by a thread of `executor_`.
  void Run() override;

  ForkPtr FindFork(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<ForkBase> BaseOf(const ForkOrder& order, MemoryPeer& peer)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Adds `fork` under the name `order.name`, or under a generated name if that is empty. Returns
  // the fork's key. ALREADY_EXISTS if a scene or fork has the name.
  absl::StatusOr<std::string> Enter(const ForkOrder& order, const ForkPtr& fork)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool IsTaken(absl::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks as deleted a fork that was removed from `forks_`, and notifies listeners that the fork
  // was deleted.
  void Forget(const std::string& name, const ForkPtr& fork) ABSL_LOCKS_EXCLUDED(mu_);
  // Sets the timer so that `Run` is submitted when a lease ends at `expiry`, unless the timer is
  // already set to `expiry` or an earlier time.
  void Arm(Clock::time_point expiry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  MemoryStore& scenes_;
  MemoryAccount& account_;
  const ForkLimits limits_;
  Timer& timer_;
  Executor& executor_;
  KeptVersions kept_;
  ForkMemory memory_;
  CallLimit count_;

  // Acquired before the locks of `scenes_`, the executor and the timer.
  mutable absl::Mutex mu_;
  absl::btree_map<std::string, ForkPtr> forks_ ABSL_GUARDED_BY(mu_);
  // number of running imports of each scene, by the scene's name
  absl::flat_hash_map<std::string, int> imported_ ABSL_GUARDED_BY(mu_);
  Timer::Id timer_id_ ABSL_GUARDED_BY(mu_) = 0;
  Clock::time_point due_ ABSL_GUARDED_BY(mu_);  // when the timer `timer_id_` is due
  // true from the submission of `Run` to the executor until `Run` is done
  bool is_sweeping_ ABSL_GUARDED_BY(mu_) = false;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
