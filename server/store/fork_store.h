// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server store scenes together with their forks?
//
// A `ForkStore` forwards the functions of a store of scenes and adds forks (server/store/fork.h). A
// fork is a scene that begins as a version of another scene, its base. Query frames (each is a
// client's message of queries and edits for one tick) edit the fork without changing the base. A
// fork ends with its lease, or when a client deletes it. Forks are only in memory: no journal
// (server/store/scene_journal.h) contains them.
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

struct ForkLimits {
  size_t max_forks = 4096;
  size_t max_forks_per_peer = 1024;
  // bytes of all forks, without the memory that forks share with their bases
  uint64_t max_bytes = 1ull << 30;
  size_t max_versions = 256;  // maximum number of versions that a fork keeps
  uint64_t max_lease_seconds = 3600;
  // limits of the versions that memory keeps of scenes that are not forks
  KeptLimits kept;
};

// A request for a fork. The base is a scene of the tenant, or a preloaded scene (a read-only scene
// that the server loaded from a file for all tenants).
struct ForkOrder {
  std::string tenant = kDefaultTenant;
  std::string base;
  uint64_t version = 0;  // version of the base; 0: the current one
  std::string name;      // name of the fork; empty: the store generates one
  uint64_t lease_seconds = 0;
};

// The base of a fork (the name of the scene that was forked), and the version of the base that the
// fork began as.
struct ForkOrigin {
  std::string base;
  uint64_t version = 0;
};

// A store of scenes and forks. Thread-safe. Deletes forks with expired leases on `executor`.
class ForkStore final : public SceneStore, private Task {
 public:
  static constexpr uint64_t kDefaultLeaseSeconds = 60;

  // All arguments outlive the store. The store notifies the listeners of `scenes` of changes of
  // forks, too.
  ForkStore(MemoryStore& scenes, MemoryAccount& account, const ForkLimits& limits, Timer& timer,
            Executor& executor);
  // Waits until the executor does not run `Run`, which deletes expired forks.
  ~ForkStore() override { Stop(); }

  // Stops the expiry of leases. Must be called after the last client call has ended, and before a
  // listener of the scenes is destroyed.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the key of a tenant's scene (server/base/scene_name.h), or of the preloaded scene of
  // that name.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return scenes_.KeyOf(tenant, name);
  }

  // Begins to keep old versions of scenes in memory. Must be called after the `MemoryStore` has
  // loaded its scenes.
  void Begin() { kept_.Begin(); }

  // Makes a fork, and charges the fork's memory to `peer`. The names in `order` must be
  // well-formed. Errors: those of ForkScene (proto/carom/v1/scene_service.proto).
  absl::StatusOr<NamedScene> MakeFork(const ForkOrder& order,
                                      const std::shared_ptr<MemoryPeer>& peer);
  // Returns at most `limit` scenes with names above `after`: the scenes of the tenant and the
  // preloaded scenes, which all tenants share. The returned names lack the prefix of the tenant.
  ScenePage ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const;
  uint64_t LeaseOf(const ForkOrder& order) const {
    return order.lease_seconds == 0 ? std::min(kDefaultLeaseSeconds, limits_.max_lease_seconds)
                                    : order.lease_seconds;
  }
  // Returns the base of the fork `name`; none if the scene is not a fork.
  std::optional<ForkOrigin> OriginOf(absl::string_view name) const;

  // Returns the current version of a scene, as `Find` does, and renews the lease if the scene is a
  // fork. The server calls it for the queries in a query frame (a client's message of queries for
  // one tick).
  Scene::Ptr Use(absl::string_view name) const;
  // Returns version `version` of a scene, and renews the lease if the scene is a fork. Errors:
  // OUT_OF_RANGE naming `version` if the version is not kept; those of `WhyMissing` naming `field`.
  absl::StatusOr<Scene::Ptr> UseVersion(absl::string_view name, uint64_t version,
                                        absl::string_view field);
  // Edits a fork; see `Fork::Edit`. FAILED_PRECONDITION for a scene that is not a fork.
  absl::StatusOr<Scene::Ptr> EditFork(absl::string_view name, ForkEdits edits, EditTime time);

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
                                    absl::FunctionRef<bool()> abandoned) override;
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

  // Deletes the forks with expired leases; runs on the executor.
  void Run() override;

  ForkPtr FindFork(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<ForkBase> BaseOf(const ForkOrder& order, MemoryPeer& peer)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Adds the fork under the name in `order`, or under a generated name. Returns the fork's key.
  absl::StatusOr<std::string> Enter(const ForkOrder& order, const ForkPtr& fork)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool IsTaken(absl::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Closes a fork that was removed from `forks_`, and notifies listeners of its deletion.
  void Forget(const std::string& name, const ForkPtr& fork) ABSL_LOCKS_EXCLUDED(mu_);
  // Schedules `Run` for a lease that ends at `expiry`, unless the timer is already scheduled for
  // that time or an earlier one.
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
  // the number of running imports, by name of the scene
  absl::flat_hash_map<std::string, int> imported_ ABSL_GUARDED_BY(mu_);
  Timer::Id timer_id_ ABSL_GUARDED_BY(mu_) = 0;
  Clock::time_point due_ ABSL_GUARDED_BY(mu_);  // when the timer `timer_id_` is due
  // true from the submission of `Run` to the executor until `Run` is done
  bool is_sweeping_ ABSL_GUARDED_BY(mu_) = false;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
