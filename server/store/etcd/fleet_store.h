// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do several servers share scenes that each of them may change?
//
// A `FleetStore` is a `MemoryStore` over an `EtcdJournal`, and also makes the commits of other
// servers visible. A `FleetStore` first tries a change on the state of the scene in this process.
// If etcd has a newer state of the scene, or if the change fails with an error that a newer state
// may explain, the store waits until it has the newer state, and retries the change. So the result
// of a change is that of a single server, however outdated the state in this process was.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/etcd/etcd_follower.h"
#include "server/store/etcd/etcd_journal.h"
#include "server/store/etcd/etcd_sweeper.h"
#include "server/store/memory_store.h"

namespace carom::server {

// A store of scenes in etcd, which other servers change, too. The state of a scene in this process
// is the scene as this store shows it, which may be older than the state in etcd. Thread-safe.
// Readers see the versions of one scene in order, but the visible versions of two scenes may be of
// different times. Besides the errors of a SceneStore, a function that changes a scene returns
// UNAVAILABLE if etcd cannot be reached and the change was certainly not made, and UNKNOWN if it is
// not known whether the change was made.
class FleetStore final : public MemoryStore, private EtcdEvents {
 public:
  // Receives, after every probe of etcd (a read of one key, twice a second), whether changes can be
  // made, and whether the scenes of this process are ready to be read.
  using OnChangeOfState = std::function<void(bool takes_changes, bool is_ready)>;

  // `account` and `journal` outlive the store.
  FleetStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account,
             EtcdJournal& journal)
      : MemoryStore(max_scenes, limits, account, &journal),
        journal_(journal),
        follower_(journal.client(), *this),
        sweeper_(journal) {}

  // Begins to make commits of other servers visible, and to delete unused pages from etcd about
  // every `sweep_interval`. Must be called after `Recover`.
  void Follow(OnChangeOfState on_state, absl::Duration sweep_interval);
  // Stops following commits and deleting pages; later changes fail.
  void StopFollowing() {
    follower_.Stop();
    sweeper_.Stop();
  }

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

  absl::Status CatchUp() override;
  bool HasReached(uint64_t version) const override { return follower_.applied() >= version; }
  uint64_t staleness_us() const override { return follower_.staleness_us(); }

 private:
  using Attempt = absl::FunctionRef<absl::StatusOr<Scene::Ptr>()>;

  // Calls `attempt`, which makes a change of scene `name`, until it succeeds, or fails on the
  // latest state of the scene in etcd. `edit_id` is the id of the committed edits, or empty.
  absl::StatusOr<Scene::Ptr> CommitWithRetry(absl::string_view name, absl::string_view edit_id,
                                             Attempt attempt);
  uint64_t VersionOf(absl::string_view name) const;

  // --- On the follower's thread ---
  void OnPut(const etcd::KeyValue& pair) override;
  void OnDelete(absl::string_view key, uint64_t revision) override;
  absl::StatusOr<uint64_t> ReadAll(bool anew) override;
  void OnState(bool is_reachable, bool is_ready) override;
  void OnSize(uint64_t bytes) override { journal_.NoteSize(bytes); }
  // Makes visible the version `version` of scene `name`, which `value`, the value of the scene's
  // key in etcd, encodes. An error means that etcd does not answer.
  absl::Status FollowVersion(const std::string& name, const std::string& value, uint64_t version);
  // Makes the state `scene` of a scene in etcd visible in place of its state in this process.
  // `follows`: the current version of `scene` is the next one after the version that is visible in
  // this process. The caller holds the lock of the scene's writers.
  absl::Status Show(absl::string_view name, SharedScene::Ptr scene, bool follows);
  absl::Status ShowPolygons(absl::string_view name, SharedScene::Ptr scene, bool follows);
  void ShowDamage(absl::string_view name, const SharedScene::Ptr& scene);
  void Remove(absl::string_view name, uint64_t revision);

  EtcdJournal& journal_;
  EtcdFollower follower_;
  EtcdSweeper sweeper_;
  OnChangeOfState on_state_;
  // true: `Show` has printed that a preloaded scene hides a scene in etcd; used only by the
  // follower's thread
  bool has_logged_hidden_ = false;
};

}  // namespace carom::server
