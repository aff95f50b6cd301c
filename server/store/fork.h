// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a fork of a scene?
//
// A `Fork` begins as a version of another scene, and shares the memory of that version. The fork
// keeps its last versions, and each of them shares memory with the version after it. `ForkStore`
// (server/store/fork_store.h) gives a fork its name and its lease, and limits how many forks a peer
// (a client address; server/access/peer.h) has.
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
#include "server/store/fork_memory.h"
#include "server/store/kept_versions.h"
#include "server/store/scene_change.h"

namespace carom::server {

// Holds the memory charge of a fork, and the version `base` of another scene that the fork began
// as, until the last reader of the fork's versions is done.
struct ForkShare {
  ForkShare(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer, std::shared_ptr<KeptVersion> base)
      : charge(memory, std::move(peer)), base(std::move(base)) {}

  ForkCharge charge;  // only a thread that holds `Fork::writing_` changes it
  const std::shared_ptr<KeptVersion> base;
};

// One version of a fork (class `Fork`).
struct ForkVersion {
  std::shared_ptr<ForkShare> share;
  // set when the fork drops the version: the part of the fork's charge that is released when the
  // version's last reader is done
  std::optional<ForkCharge> own_charge;
  Scene::Ptr scene;
  VersionSummary summary;
  uint64_t content = 0;              // `ContentOf` of the edits that made the version
  std::vector<uint64_t> edited_ids;  // ids of the polygons that the edits change
  // true: a rollback made the version, and `edited_ids` does not list the changed polygons
  bool is_rollback = false;
  // bytes of polygons not shared with the fork's base
  uint64_t polygon_bytes = 0;
  uint64_t index_bytes = 0;  // bytes of index pages not shared with the fork's base
  // Bytes that the fork is charged for the version. The newest version is charged for all memory
  // that it does not share with the fork's base, an older version for the memory that it shares
  // neither with the base nor with the next version.
  uint64_t bytes = 0;
};

// Returns a hash of edits, by which a fork recognizes edits that a client sends twice. Two server
// processes compute different hashes for equal edits.
uint64_t ContentOf(std::span<const SceneEdit> edits);

// The version that a fork begins as.
struct ForkBase {
  std::string name;                   // name of the base scene, which is not a fork itself
  uint64_t version = 0;               // version of the base scene
  std::shared_ptr<KeptVersion> kept;  // the version `version` of the base scene
  // scene that the fork begins with: the scene of `kept`, or a version of a fork that began as
  // `kept`
  Scene::Ptr scene;
  uint64_t polygon_bytes = 0;  // bytes of the polygons of `scene` that `kept` does not share
};

// Edits of a fork, and the version that they apply to.
struct ForkEdits {
  std::vector<SceneEdit> edits;
  uint64_t base_version = 0;  // 0: the fork's current version
  std::string edit_id;        // id that the client gave the edits; empty: none
};

// How long `Fork::Edit` may take. kShort: it makes at most 32 edits (if they make the scene build
// its index anew, only in a scene of at most 256 polygons), and does not wait for another writer of
// the fork. kAny: it makes all edits.
enum class EditTime : uint8_t { kShort, kAny };

// A temporary copy of a scene, which begins as a version of the scene and is then edited on its
// own. Thread-safe: readers do not wait for writers, writers wait for each other.
class Fork {
 public:
  struct Limits {
    size_t max_versions = 256;
    SceneLimits scene;
  };

  // `memory` outlives the fork and all readers of its versions.
  Fork(ForkBase base, Clock::duration lease, const Limits& limits, ForkMemory& memory,
       std::shared_ptr<MemoryPeer> peer);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  // Creates the first version, with the number `version`. RESOURCE_EXHAUSTED if memory is short.
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
  // Returns a version; null if the fork does not keep it.
  Scene::Ptr Find(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<VersionSummary> Versions() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the difference between `version` and the version after it; null if the fork does not
  // keep both. `charge` accounts for the memory of the difference.
  SceneChange::Ptr FindChange(uint64_t version, MemoryCharge charge) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the base for a fork, other than this one, that begins as version `version` of this fork
  // (0: its current version). None if this fork does not keep the version.
  std::optional<ForkBase> BaseAt(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);

  // Applies `edits` and returns the version that they make. If an earlier call had the `edit_id` of
  // `edits`, returns the version that the earlier call made, and changes nothing. Returns null if
  // the edits take longer than `time` allows. Calls `next_version` to get the number for the
  // version, and `published` with that number once the version is visible. Errors: as
  // `SceneStore::Commit`; INVALID_ARGUMENT naming `edit_id` if other edits had this id;
  // OUT_OF_RANGE naming `edit_id` if the fork no longer keeps the version that edits with this id
  // made; RESOURCE_EXHAUSTED if memory is short.
  absl::StatusOr<Scene::Ptr> Edit(ForkEdits edits, EditTime time,
                                  absl::FunctionRef<uint64_t()> next_version,
                                  absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);
  // Makes a version with the polygons of the kept version `version`. Errors: as
  // `SceneStore::Rollback`.
  absl::StatusOr<Scene::Ptr> Rollback(uint64_t version, uint64_t base_version,
                                      absl::FunctionRef<uint64_t()> next_version,
                                      absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);

  // Marks the fork as deleted: later edits return NOT_FOUND.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using VersionPtr = std::shared_ptr<ForkVersion>;

  // Returns the index of `version` in `versions_`, or of the first later version if the fork does
  // not keep `version`.
  size_t IndexOf(uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool IsAt(size_t index, uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  VersionPtr newest() const ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the version that an earlier call with the `edit_id` of `edits` made; null if there was
  // no such call. `content` is the hash of `edits`. Returns an error if the earlier call had edits
  // with another hash, or if the fork has dropped the version.
  absl::StatusOr<Scene::Ptr> FindEdited(const ForkEdits& edits, uint64_t content) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Does the work of `Edit` while the caller holds `writing_`. `content` is the hash of the edits.
  absl::StatusOr<Scene::Ptr> EditLocked(ForkEdits edits, uint64_t content, EditTime time,
                                        absl::FunctionRef<uint64_t()> next_version,
                                        absl::FunctionRef<void(uint64_t)> published)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // Builds version `version`, which edits make of `before`. Adds to `removed_bytes` the bytes of
  // the polygons that `before` has, but neither the built version nor the base of the fork has.
  absl::StatusOr<VersionPtr> BuildVersion(const ForkVersion& before, ForkEdits edits,
                                          uint64_t version, uint64_t& removed_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Makes `next` the newest version, or fails if memory is short. `reserved` bytes are charged for
  // `next` already; sets `reserved` to 0 once the charge for `next` includes these bytes.
  absl::Status Publish(const VersionPtr& next, uint64_t removed_bytes, uint64_t& reserved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // Changes the charge of the fork by `more` bytes. If memory is short, drops as few of the oldest
  // versions as suffice; fails, and drops none, if dropping all versions but the newest does not
  // suffice.
  absl::Status Charge(int64_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns whether a reader holds a reference to the version in addition to those of the fork.
  bool IsRead(const VersionPtr& version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Moves the charge of a version that the fork drops from the fork to the version, so that the
  // charge ends with the version's last reader.
  void DetachCharge(ForkVersion& version, bool is_read) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Removes the oldest version from the fork and returns it; a newer version must exist.
  VersionPtr DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_, mu_);

  const ForkBase base_;
  const Clock::duration lease_;
  const Limits limits_;
  const std::shared_ptr<MemoryPeer> peer_;
  std::atomic<Clock::rep> last_use_;

  absl::Mutex writing_ ABSL_ACQUIRED_BEFORE(mu_);  // held throughout a change
  const std::shared_ptr<ForkShare> share_;         // `writing_` guards `share_->charge`

  mutable absl::Mutex mu_;
  // The kept versions, ascending; the last one is current. A vector, as is `dropped_edit_ids_`,
  // because most forks have few versions and have dropped few.
  std::vector<VersionPtr> versions_ ABSL_GUARDED_BY(mu_);
  // The kept versions by the id of the edits that made them.
  absl::flat_hash_map<std::string, VersionPtr> by_edit_id_ ABSL_GUARDED_BY(mu_);
  // Hashes of the edit ids of the versions that the fork dropped last, in the order of dropping
  // (`dropped_edit_ids_`) and as a set (`dropped_edit_id_set_`).
  std::vector<uint64_t> dropped_edit_ids_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<uint64_t> dropped_edit_id_set_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
