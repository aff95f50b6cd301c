// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a fork of a scene?
//
// A `Fork` is a temporary copy of a scene: it begins as a version of that scene, shares the memory
// of that version, and is then edited without changing the scene. The fork keeps its most recent
// versions; consecutive versions share memory. `ForkStore` (server/store/fork_store.h) gives a fork
// a name and a lease (the time that the fork exists after its last use), and limits how many forks
// a peer (a client address; server/access/peer.h) has.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "carom/scene.h"
#include "server/base/timer.h"
#include "server/store/body_set_table.h"
#include "server/store/fork_memory.h"
#include "server/store/kept_versions.h"
#include "server/store/scene_change.h"

namespace carom::server {

// What a fork and its versions share: the memory charge of the fork (the bytes that are counted for
// it in a `ForkMemory`), and `base`, the version of another scene that the fork began as. Exists
// until the fork is destroyed and the last reader has released the fork's versions.
struct ForkShare {
  ForkShare(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer, std::shared_ptr<KeptVersion> base)
      : charge(memory, std::move(peer)), base(std::move(base)) {}

  ForkCharge charge;  // only a thread that holds `Fork::writing_` changes the charge
  const std::shared_ptr<KeptVersion> base;
};

// One version of a fork, a temporary copy of a scene (class `Fork`). A version consists of polygons
// and of a spatial index, whose parts are called pages. Versions share the memory of the polygons
// and pages that no edit has changed. The fork's base is the version of the other scene that the
// fork began as.
struct ForkVersion {
  std::shared_ptr<ForkShare> share;
  // set when the fork drops the version: the part of the fork's memory charge that is released with
  // the version, when its last reader is done
  std::optional<ForkCharge> own_charge;
  Scene::Ptr scene;
  VersionSummary summary;
  uint64_t content = 0;              // hash (`ContentOf`) of the edits that made the version
  std::vector<uint64_t> edited_ids;  // ids of the polygons of these edits
  // true: a rollback made the version, and `edited_ids` does not list the changed polygons
  bool is_rollback = false;
  // bytes of the version's polygons that `share->base` does not have
  uint64_t polygon_bytes = 0;
  // bytes of the pages of the version's spatial index that `share->base` does not have
  uint64_t index_bytes = 0;
  // Bytes that the fork is charged for the version. For the newest version, these are the bytes
  // that it does not share with the fork's base (`share->base`); for an older version, the bytes
  // that it shares neither with the base nor with the next version of the fork.
  uint64_t bytes = 0;
};

// Returns a hash of edits, by which a fork recognizes edits that a client sends twice. Different
// server processes may compute different hashes for equal edits.
uint64_t ContentOf(std::span<const SceneEdit> edits);

// The version that a fork begins as.
struct ForkBase {
  std::string name;                   // name of the base scene, a scene that is not a fork
  uint64_t version = 0;               // version of the base scene
  std::shared_ptr<KeptVersion> kept;  // the version `version` of the base scene
  // the first version of the fork has the polygons of `scene`: the scene of `kept` or, if a fork is
  // forked, a version of the forked fork, which itself began as `kept`
  Scene::Ptr scene;
  uint64_t polygon_bytes = 0;  // bytes of the polygons of `scene` that `kept` lacks
};

// Edits of a fork, and the version of the fork that the edits apply to.
struct ForkEdits {
  std::vector<SceneEdit> edits;
  uint64_t base_version = 0;  // 0: the fork's current version
  std::string edit_id;        // id that the client gave the edits; empty: none
};

// How long `Fork::Edit` may take. kShort: `Edit` gives up, and returns null, if there are more than
// 32 edits, if the edits make a scene of more than 256 polygons build its spatial index anew, or if
// another thread is changing the fork. kAny: `Edit` makes the edits, however long that takes.
enum class EditTime : uint8_t { kShort, kAny };

// A temporary copy of a scene, which begins as a version of the scene (its base) and is then edited
// on its own. Each edit makes a version. The fork keeps its newest versions, and drops the oldest
// one if it has more than `Limits::max_versions` or if memory is short. The fork expires once no
// client has used it for the duration `lease`. Thread-safe: readers do not wait for writers,
// writers wait for each other.
class Fork {
 public:
  struct Limits {
    size_t max_versions = 256;
    SceneLimits scene;
  };

  // `memory` must outlive the fork and all readers of the fork's versions.
  Fork(ForkBase base, Clock::duration lease, const Limits& limits, ForkMemory& memory,
       std::shared_ptr<MemoryPeer> peer);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  // Creates the fork's first version, with the version number `version`. RESOURCE_EXHAUSTED if
  // memory is short.
  absl::Status Begin(uint64_t version);

  const ForkBase& base() const { return base_; }
  const std::shared_ptr<MemoryPeer>& peer() const { return peer_; }
  Clock::duration lease() const { return lease_; }

  // Renews the lease, so that the fork expires `lease()` after this call at the earliest. Called
  // when a client uses the fork. O(1).
  void Renew() { last_use_.store(Clock::now().time_since_epoch().count()); }
  Clock::time_point expiry() const {
    return Clock::time_point(Clock::duration(last_use_.load())) + lease_;
  }

  Scene::Ptr current() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns version `version` of the fork; null if the fork does not keep that version.
  Scene::Ptr Find(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<VersionSummary> Versions() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the difference between version `version` and the fork's next version; null if the fork
  // does not keep both versions. `charge` accounts for the memory of the difference.
  SceneChange::Ptr FindChange(uint64_t version, MemoryCharge charge) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns what is needed to make a second fork that begins as version `version` of this fork (0:
  // the current version of this fork). None if this fork does not keep the version.
  std::optional<ForkBase> BaseAt(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);

  // Applies `edits` and returns the version that the edits make. If an earlier call had the
  // `edit_id` of `edits`, returns the version that the earlier call made, and changes nothing.
  // Returns null if the edits take longer than `time` allows. Calls `next_version` to get the
  // number for the version, and `published` with that number once the version is visible. Errors:
  // those of `SceneStore::Commit`; INVALID_ARGUMENT naming `edit_id` if an earlier call had
  // different edits with this id; OUT_OF_RANGE naming `edit_id` if an earlier call had this id and
  // the fork no longer keeps the version that it made; RESOURCE_EXHAUSTED if memory is short.
  absl::StatusOr<Scene::Ptr> Edit(ForkEdits edits, EditTime time,
                                  absl::FunctionRef<uint64_t()> next_version,
                                  absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);
  // Makes and returns a version with the polygons of the older version `version`, which the fork
  // must still keep. Errors: those of `SceneStore::Rollback`; RESOURCE_EXHAUSTED if memory is
  // short.
  absl::StatusOr<Scene::Ptr> Rollback(uint64_t version, uint64_t base_version,
                                      absl::FunctionRef<uint64_t()> next_version,
                                      absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);

  // The body sets of the fork, which streams may still refer to when the fork is deleted.
  const std::shared_ptr<ForkBodySets>& body_sets() const { return body_sets_; }

  // Marks the fork as deleted: a later `Edit` or `Rollback` that would make a version returns
  // NOT_FOUND, and the fork has no body sets any longer.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using VersionPtr = std::shared_ptr<ForkVersion>;

  // Returns the index of the first element of `versions_` with a version number of at least
  // `version`; the size of `versions_` if there is none.
  size_t IndexOf(uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns whether `versions_[index]` exists and has the version number `version`.
  bool IsAt(size_t index, uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  VersionPtr newest() const ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the version that an earlier call with the `edit_id` of `edits` made; null if there was
  // no such call. `content` is the hash (`ContentOf`) of `edits`. Returns an error if the earlier
  // call had edits with another hash, or if the fork has dropped the version.
  absl::StatusOr<Scene::Ptr> FindEdited(const ForkEdits& edits, uint64_t content) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Does the work of `Edit` while the caller holds `writing_`. `content` is the hash (`ContentOf`)
  // of `edits`.
  absl::StatusOr<Scene::Ptr> EditLocked(ForkEdits edits, uint64_t content, EditTime time,
                                        absl::FunctionRef<uint64_t()> next_version,
                                        absl::FunctionRef<void(uint64_t)> published)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // Builds version `version`, the result of applying `edits` to the version `before`. Adds to
  // `removed_bytes` the bytes of the polygons that `before` has, but neither the built version nor
  // the base of the fork has.
  absl::StatusOr<VersionPtr> BuildVersion(const ForkVersion& before, ForkEdits edits,
                                          uint64_t version, uint64_t& removed_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Makes `next` the newest version; returns an error if memory is short or the fork is closed.
  // `removed_bytes`: upper bound of the bytes of the polygons that the version before `next` has
  // and `next` does not have. The caller has already charged `reserved` bytes for `next`; sets
  // `reserved` to 0 once the charge for `next` includes these bytes.
  absl::Status Publish(const VersionPtr& next, uint64_t removed_bytes, uint64_t& reserved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // Changes the memory charge of the fork by `more` bytes (negative: lowers it). If memory is
  // short, drops as few of the oldest versions as suffice; fails, and drops none, if dropping all
  // versions but the newest does not suffice.
  absl::Status Charge(int64_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns whether a reader holds a reference to the version in addition to those of the fork.
  bool IsRead(const VersionPtr& version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Moves the charge of a version that the fork drops from the fork to the version, so that the
  // charge ends when the version's last reader is done. `is_read`: the version has readers.
  void DetachCharge(ForkVersion& version, bool is_read) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Removes the oldest version from the fork and returns it; a newer version must exist.
  VersionPtr DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_, mu_);

  const ForkBase base_;
  const Clock::duration lease_;
  const Limits limits_;
  const std::shared_ptr<MemoryPeer> peer_;
  const std::shared_ptr<ForkBodySets> body_sets_;
  std::atomic<Clock::rep> last_use_;

  // held by the thread that changes the fork, from the start to the end of the change
  absl::Mutex writing_ ABSL_ACQUIRED_BEFORE(mu_);
  const std::shared_ptr<ForkShare> share_;  // `writing_` guards `share_->charge`

  mutable absl::Mutex mu_;
  // The kept versions, ascending; the last one is current. A vector (as is `dropped_edit_ids_`)
  // although elements are removed at the front, because most forks keep few versions and have
  // dropped few.
  std::vector<VersionPtr> versions_ ABSL_GUARDED_BY(mu_);
  // The kept versions that edits with a nonempty `edit_id` made, by that `edit_id`.
  absl::flat_hash_map<std::string, VersionPtr> by_edit_id_ ABSL_GUARDED_BY(mu_);
  // Hashes of the edit ids of the versions that the fork dropped last, in the order of dropping
  // (`dropped_edit_ids_`) and as a set (`dropped_edit_id_set_`).
  std::vector<uint64_t> dropped_edit_ids_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<uint64_t> dropped_edit_id_set_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
