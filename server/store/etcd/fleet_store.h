// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes that several servers have, and any of them changes.
//
// A `FleetStore` is a `MemoryStore` over an `EtcdJournal`, that shows what others commit, too. A
// change is made against what is here; where etcd has something newer, or the refusal may be due to
// that, it waits until that is here, and tries again. So a change and each of its errors are as if
// there were one server, however far behind this one was.
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

// Thread-safe, as every store. Versions of one scene are shown in their order; what is shown of two
// scenes may be of different times. Beside the errors of a SceneStore, changes are UNAVAILABLE if
// etcd cannot be reached and they were certainly not made, UNKNOWN if it is not known.
class FleetStore final : public MemoryStore, private EtcdEvents {
 public:
  // Called when it changes whether changes can be made, and whether what is here is to be read.
  using OnChangeOfState = std::function<void(bool takes_changes, bool is_ready)>;

  // `account` and `journal` outlive it.
  FleetStore(size_t max_scenes, const SceneLimits& limits, MemoryAccount& account,
             EtcdJournal& journal)
      : MemoryStore(max_scenes, limits, account, &journal),
        journal_(journal),
        follower_(journal.client(), *this),
        sweeper_(journal) {}

  // Shows what others commit, once all is recovered, and about so often deletes pages that no
  // version has.
  void Follow(OnChangeOfState on_state, absl::Duration sweep_interval);
  // No more, and no change is made any longer.
  void StopFollowing() {
    follower_.Stop();
    sweeper_.Stop();
  }

  absl::StatusOr<Scene::Ptr> Import(absl::string_view name, ImportMode mode,
                                    std::vector<Polygon> polygons,
                                    absl::FunctionRef<bool()> abandoned) override;
  absl::StatusOr<Scene::Ptr> Commit(absl::string_view name, uint64_t base_version,
                                    std::vector<SceneEdit> edits,
                                    absl::string_view edit_id = "") override;
  absl::StatusOr<Scene::Ptr> Rollback(absl::string_view name, uint64_t version,
                                      uint64_t base_version) override;
  absl::Status Delete(absl::string_view name, uint64_t version) override;

  absl::Status CatchUp() override;
  bool HasSeen(uint64_t version) const override { return follower_.applied() >= version; }
  uint64_t staleness_us() const override { return follower_.staleness_us(); }

 private:
  using Attempt = absl::FunctionRef<absl::StatusOr<Scene::Ptr>()>;

  // Makes an attempt until it is judged by what etcd has.
  absl::StatusOr<Scene::Ptr> Insist(absl::string_view name, absl::string_view edit_id,
                                    Attempt attempt);
  uint64_t VersionOf(absl::string_view name) const;

  // --- On the follower's thread ---
  void OnPut(const etcd::KeyValue& pair) override;
  void OnDelete(absl::string_view key, uint64_t revision) override;
  absl::StatusOr<uint64_t> ReadAll(bool anew) override;
  void OnState(bool is_reachable, bool is_ready) override;
  void OnSize(uint64_t bytes) override { journal_.NoteSize(bytes); }
  // Shows a version that the value of a scene's key is of. An error: etcd does not answer.
  absl::Status FollowVersion(const std::string& name, const std::string& value, uint64_t version);
  // Shows what etcd has of a scene in place of what is here. The scene's writers are locked out.
  absl::Status Show(absl::string_view name, SharedScene::Ptr scene, bool follows);
  absl::Status ShowPolygons(absl::string_view name, SharedScene::Ptr scene, bool follows);
  void ShowDamage(absl::string_view name, const SharedScene::Ptr& scene);
  void Remove(absl::string_view name, uint64_t revision);

  EtcdJournal& journal_;
  EtcdFollower follower_;
  EtcdSweeper sweeper_;
  OnChangeOfState on_state_;
  bool has_said_hidden_ = false;  // of the follower's thread
};

}  // namespace carom::server
