// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes and their forks.
//
// A `ForkStore` forwards the functions of a store of scenes and adds forks (server/store/fork.h). A
// fork is a scene that begins as a version of another scene, its base. Frames edit it without
// changing the base. A fork ends with its lease, or when a client deletes it. The journal holds no
// fork.
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
  uint64_t max_bytes = 1ull << 30;  // of all forks, beside what they share with their bases
  size_t max_versions = 256;        // kept of each
  uint64_t max_lease_seconds = 3600;
  KeptLimits kept;  // of scenes that are no forks
};

// A fork that is asked for, of a tenant's own scene or one that is preloaded.
struct ForkOrder {
  std::string tenant = kDefaultTenant;
  std::string base;
  uint64_t version = 0;  // 0: the current one
  std::string name;      // empty: one is made up
  uint64_t lease_seconds = 0;
};

// Where a fork comes from.
struct ForkOrigin {
  std::string base;
  uint64_t version = 0;
};

// Thread-safe, as every store. Forks that nobody uses are deleted on `executor`.
class ForkStore final : public SceneStore, private Task {
 public:
  static constexpr uint64_t kDefaultLeaseSeconds = 60;

  // All outlive it. Listeners of `scenes` hear of forks too.
  ForkStore(MemoryStore& scenes, MemoryAccount& account, const ForkLimits& limits, Timer& timer,
            Executor& executor);
  // Waits for the executor, if that deletes forks.
  ~ForkStore() override { Stop(); }

  // No lease ends from here on. Once no call is left, and before who listens to scenes goes away.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  // The key of a tenant's scene (server/base/scene_name.h), or of the one that is preloaded for
  // all.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return scenes_.KeyOf(tenant, name);
  }

  // Once the scenes of `scenes` are there.
  void Begin() { kept_.Begin(); }

  // Makes a fork, for a peer. The order's names are well-formed. Errors: those of ForkScene
  // (proto/carom/v1/scene_service.proto).
  absl::StatusOr<NamedScene> MakeFork(const ForkOrder& order,
                                      const std::shared_ptr<MemoryPeer>& peer);
  // At most `limit` scenes that a tenant has or that are preloaded, with names above `after`.
  // Their names are those that the tenant gave them.
  ScenePage ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const;
  uint64_t LeaseOf(const ForkOrder& order) const {
    return order.lease_seconds == 0 ? std::min(kDefaultLeaseSeconds, limits_.max_lease_seconds)
                                    : order.lease_seconds;
  }
  // Where a scene comes from, by name; none if it is no fork.
  std::optional<ForkOrigin> OriginOf(absl::string_view name) const;

  // For frames. As `Find`, and a fork lives on for its lease.
  Scene::Ptr Use(absl::string_view name) const;
  // The same of a version; OUT_OF_RANGE naming `version`, or why there is no scene, naming `field`.
  absl::StatusOr<Scene::Ptr> UseVersion(absl::string_view name, uint64_t version,
                                        absl::string_view field);
  // Edits a fork; see `Fork::Edit`. FAILED_PRECONDITION for a scene that is none.
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
  bool HasSeen(uint64_t version) const override { return scenes_.HasSeen(version); }
  uint64_t staleness_us() const override { return scenes_.staleness_us(); }

 private:
  using ForkPtr = std::shared_ptr<Fork>;

  // On the executor: deletes the forks whose leases have ended.
  void Run() override;

  ForkPtr FindFork(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<ForkBase> BaseOf(const ForkOrder& order, MemoryPeer& peer)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Gives the fork its name, or one that it makes up. Returns its key.
  absl::StatusOr<std::string> Enter(const ForkOrder& order, const ForkPtr& fork)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool IsTaken(absl::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // After a fork was taken out.
  void Forget(const std::string& name, const ForkPtr& fork) ABSL_LOCKS_EXCLUDED(mu_);
  // Has the forks looked at when a lease that ends at `expiry` may have ended, or before.
  void Arm(Clock::time_point expiry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  MemoryStore& scenes_;
  MemoryAccount& account_;
  const ForkLimits limits_;
  Timer& timer_;
  Executor& executor_;
  KeptVersions kept_;
  ForkMemory memory_;
  CallLimit count_;

  // Taken before the locks of the store's readers, the executor and the timer.
  mutable absl::Mutex mu_;
  absl::btree_map<std::string, ForkPtr> forks_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> imported_ ABSL_GUARDED_BY(mu_);  // by name, under way
  Timer::Id timer_id_ ABSL_GUARDED_BY(mu_) = 0;
  Clock::time_point due_ ABSL_GUARDED_BY(mu_);     // of the timer
  bool is_sweeping_ ABSL_GUARDED_BY(mu_) = false;  // the task is submitted
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
