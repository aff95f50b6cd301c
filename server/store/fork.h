// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a fork of a scene?
//
// A `Fork` begins as a version of another scene, on its memory, and keeps its last versions, each
// on what it shares with the next. Its name, its lease and who may have one are
// server/store/fork_store.h.
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

// What a fork takes, counted until the last reader of one of its versions is done.
struct ForkShare {
  ForkShare(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer, std::shared_ptr<KeptVersion> base)
      : charge(memory, std::move(peer)), base(std::move(base)) {}

  ForkCharge charge;  // by the fork's writer
  const std::shared_ptr<KeptVersion> base;
};

// A version of a fork.
struct ForkVersion {
  std::shared_ptr<ForkShare> share;
  std::optional<ForkCharge> own_charge;  // of one that the fork has dropped
  Scene::Ptr scene;
  VersionSummary summary;
  uint64_t content = 0;              // of the edits that made it; see `ContentOf`
  std::vector<uint64_t> edited_ids;  // of the polygons that these are about
  bool is_rollback = false;          // nothing says what it changed
  uint64_t polygon_bytes = 0;        // of polygons that the base does not have
  uint64_t index_bytes = 0;          // of pages that it does not have
  // Of the newest version what it has beside the base, of others beside the version after them.
  uint64_t bytes = 0;
};

// A hash of edits, by which they are known again when they come twice. Of this process.
uint64_t ContentOf(std::span<const SceneEdit> edits);

// What a fork is made of.
struct ForkBase {
  std::string name;                   // of the scene that is no fork
  uint64_t version = 0;               // of that
  std::shared_ptr<KeptVersion> kept;  // that version
  Scene::Ptr scene;                   // what the fork begins as: that, or a version of a fork of it
  uint64_t polygon_bytes = 0;         // of what `scene` has beside it
};

// Edits of a fork, and what they are to meet.
struct ForkEdits {
  std::vector<SceneEdit> edits;
  uint64_t base_version = 0;  // 0: whichever is current
  std::string edit_id;        // empty: none
};

// How long an edit may take: kShort edits only what some hundred microseconds suffice for, and
// waits for no other writer.
enum class EditTime : uint8_t { kShort, kAny };

// Thread-safe: readers wait for nobody, writers for each other.
class Fork {
 public:
  struct Limits {
    size_t max_versions = 256;
    SceneLimits scene;
  };

  // `memory` outlives the fork and all that read it.
  Fork(ForkBase base, Clock::duration lease, const Limits& limits, ForkMemory& memory,
       std::shared_ptr<MemoryPeer> peer);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  // Makes its first version. Errors: no memory.
  absl::Status Begin(uint64_t version);

  const ForkBase& base() const { return base_; }
  const std::shared_ptr<MemoryPeer>& peer() const { return peer_; }
  Clock::duration lease() const { return lease_; }

  // A frame has used it. O(1).
  void Renew() { last_use_.store(Clock::now().time_since_epoch().count()); }
  Clock::time_point expiry() const {
    return Clock::time_point(Clock::duration(last_use_.load())) + lease_;
  }

  Scene::Ptr current() const ABSL_LOCKS_EXCLUDED(mu_);
  // Null if it is not kept.
  Scene::Ptr Find(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<VersionSummary> Versions() const ABSL_LOCKS_EXCLUDED(mu_);
  // What came after a version that is kept; null without that.
  SceneChange::Ptr FindChange(uint64_t version, MemoryCharge charge) const ABSL_LOCKS_EXCLUDED(mu_);
  // For a fork of it, of a version or, for 0, the current one.
  std::optional<ForkBase> BaseAt(uint64_t version) const ABSL_LOCKS_EXCLUDED(mu_);

  // The scene after the edits, or after those of the same `edit_id` before; null for edits that
  // take more than kShort. `next_version` numbers it, `published` is called once it is visible.
  // Errors: as `SceneStore::Commit`; INVALID_ARGUMENT naming `edit_id` for one that is known with
  // other edits, OUT_OF_RANGE for one whose version is gone; RESOURCE_EXHAUSTED without memory.
  absl::StatusOr<Scene::Ptr> Edit(ForkEdits edits, EditTime time,
                                  absl::FunctionRef<uint64_t()> next_version,
                                  absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);
  // A version with the polygons of one that is kept. Errors: as `SceneStore::Rollback`.
  absl::StatusOr<Scene::Ptr> Rollback(uint64_t version, uint64_t base_version,
                                      absl::FunctionRef<uint64_t()> next_version,
                                      absl::FunctionRef<void(uint64_t)> published)
      ABSL_LOCKS_EXCLUDED(writing_, mu_);

  // It is deleted: later edits are NOT_FOUND.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using VersionPtr = std::shared_ptr<ForkVersion>;

  // The place of a version; that of the first later one if it is not kept.
  size_t IndexOf(uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool IsAt(size_t index, uint64_t version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  VersionPtr newest() const ABSL_LOCKS_EXCLUDED(mu_);

  // What was made by this id, if it is known; else OK and null.
  absl::StatusOr<Scene::Ptr> FindEdited(const ForkEdits& edits, uint64_t content) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // As `Edit`, of edits of this content.
  absl::StatusOr<Scene::Ptr> EditAlone(ForkEdits edits, uint64_t content, EditTime time,
                                       absl::FunctionRef<uint64_t()> next_version,
                                       absl::FunctionRef<void(uint64_t)> published)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // The version that edits make of `before`. `gone_bytes`: of the polygons that `before` has, and
  // neither it nor the base.
  absl::StatusOr<VersionPtr> Make(const ForkVersion& before, ForkEdits edits, uint64_t version,
                                  uint64_t& gone_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Makes `next` the newest version, unless there is no memory for it, of which `reserved` is taken
  // already: that is 0 afterwards, if it is used.
  absl::Status Publish(const VersionPtr& next, uint64_t gone_bytes, uint64_t& reserved)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes memory for so many bytes more or less, in place of the oldest versions if need be: of as
  // few as suffice, and of none where all of them do not.
  absl::Status Charge(int64_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Whether somebody has it beside the fork.
  bool IsRead(const VersionPtr& version) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // What is counted for a version that is dropped goes with it, or with those who read it.
  void LetGo(ForkVersion& version, bool is_read) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // The oldest version, which is forgotten; there is a newer one.
  VersionPtr DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_, mu_);

  const ForkBase base_;
  const Clock::duration lease_;
  const Limits limits_;
  const std::shared_ptr<MemoryPeer> peer_;
  std::atomic<Clock::rep> last_use_;

  absl::Mutex writing_ ABSL_ACQUIRED_BEFORE(mu_);  // around every change
  const std::shared_ptr<ForkShare> share_;         // its charge: under `writing_`

  mutable absl::Mutex mu_;
  // Ascending; the last one is current. Vectors, as most forks have few of both.
  std::vector<VersionPtr> versions_ ABSL_GUARDED_BY(mu_);
  // Those that are kept, by what made them.
  absl::flat_hash_map<std::string, VersionPtr> by_edit_id_ ABSL_GUARDED_BY(mu_);
  // Hashes of the last edit ids whose versions are not kept, in their order.
  std::vector<uint64_t> gone_edit_ids_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<uint64_t> is_gone_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
