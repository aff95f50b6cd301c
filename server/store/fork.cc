// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/fork.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/store/memory_store.h"
#include "server/store/scene_store.h"
#include "server/transport/executor.h"

namespace carom::server {
namespace {

// Bytes that are charged for a fork without its versions, and for a version of a fork without its
// polygons and the pages of its spatial index.
constexpr uint64_t kForkBytes = 1024;
constexpr uint64_t kVersionBytes = 512;
// Approximate bytes of a scene's spatial index for each polygon of the scene; charged before edits
// make the scene build its whole index anew.
constexpr uint64_t kRebuiltIndexBytes = 96;
// Maximum number of edit ids (ids that clients give to edits) that a fork remembers of versions
// that it has dropped. If a client sends edits with a remembered id again, the fork returns an
// error and does not make the edits a second time.
constexpr size_t kMaxDroppedEditIds = 4096;
constexpr uint64_t kDroppedEditIdBytes = 32;

// Limits of edits with EditTime::kShort: the number of edits (each edit copies some pages of the
// scene's spatial index, which takes 10 us), and the number of polygons of the scene if the edits
// make the scene build its whole index anew.
constexpr size_t kShortEdits = 32;
constexpr size_t kShortPolygons = 256;

struct PolygonContent {
  const Polygon& polygon;

  template <typename H>
  friend H AbslHashValue(H state, const PolygonContent& content) {
    const Polygon& polygon = content.polygon;
    state = H::combine(std::move(state), polygon.id(), polygon.fill_rule(), polygon.solidity(),
                       polygon.category(), polygon.user_data(), polygon.ring_count());
    for (size_t i = 0; i < polygon.ring_count(); ++i) {
      const std::span<const Vec2> ring = polygon.ring(i);
      state = H::combine(std::move(state), polygon.is_open(i), ring.size());
      for (const Vec2& vertex : ring) {
        state = H::combine(std::move(state), std::bit_cast<uint64_t>(vertex.x),
                           std::bit_cast<uint64_t>(vertex.y));
      }
    }
    return state;
  }
};

// Returns the scene of a version as a pointer that keeps the whole `ForkVersion`, with its memory
// charge, alive.
Scene::Ptr SceneOf(const std::shared_ptr<ForkVersion>& version) {
  return {version, version->scene.get()};
}

// Returns the bytes of the polygons that `edits` add or put in place of other polygons.
uint64_t BytesOfEdits(std::span<const SceneEdit> edits) {
  uint64_t bytes = 0;
  for (const SceneEdit& edit : edits) {
    if (const Polygon* const polygon = PolygonOf(edit)) bytes += BytesOf(*polygon);
  }
  return bytes;
}

// Returns the summary of the fork's version `scene`, which edits with the id `edit_id` made (empty:
// no id). The version's time of creation is the current time.
VersionSummary SummaryOf(const Scene& scene, std::string edit_id) {
  return {.version = scene.version(),
          .polygon_count = scene.polygon_count(),
          .vertex_count = scene.vertex_count(),
          .bounds = scene.bounds(),
          .edit_id = std::move(edit_id),
          .created_us = absl::GetCurrentTimeNanos() / 1000};
}

}  // namespace

// The hash depends on the order of the edits. Hashes a removal by its id, and every other edit by
// all members of its polygon.
uint64_t ContentOf(std::span<const SceneEdit> edits) {
  uint64_t hash = edits.size();
  for (const SceneEdit& edit : edits) {
    const Polygon* const polygon = PolygonOf(edit);
    const uint64_t of_edit =
        polygon == nullptr ? IdOf(edit) : absl::HashOf(PolygonContent{*polygon});
    hash = absl::HashOf(hash, edit.index(), of_edit);
  }
  return hash;
}

// `share_` holds the base of the fork, the version of another scene that the fork began as. So the
// polygons, and the pages of the spatial index, that the fork shares with the base exist as long as
// the fork or a reader of the fork's versions.
Fork::Fork(ForkBase base, Clock::duration lease, const Limits& limits, ForkMemory& memory,
           std::shared_ptr<MemoryPeer> peer)
    : base_(std::move(base)),
      lease_(lease),
      limits_(limits),
      peer_(std::move(peer)),
      body_sets_(std::make_shared<ForkBodySets>(memory, peer_)),
      last_use_(Clock::now().time_since_epoch().count()),
      share_(std::make_shared<ForkShare>(memory, peer_, base_.kept)) {}

// Releases the memory charge of versions without readers at once. The charge of a version that
// still has readers moves from the fork to the version, and is released when the version's last
// reader is done.
Fork::~Fork() {
  body_sets_->Close();
  absl::MutexLock writing(&writing_);
  absl::MutexLock lock(&mu_);
  for (const VersionPtr& version : versions_) DetachCharge(*version, IsRead(version));
  by_edit_id_.clear();
  versions_.clear();
  share_->charge.Set(0).IgnoreError();
}

// The fork's first version is the scene `base_.scene` under another version number, so neither
// polygons nor the index are copied.
absl::Status Fork::Begin(uint64_t version) {
  absl::MutexLock writing(&writing_);
  auto first = std::make_shared<ForkVersion>();
  first->scene = base_.scene->WithVersion(version);
  first->summary = SummaryOf(*first->scene, "");
  first->polygon_bytes = base_.polygon_bytes;
  uint64_t reserved = 0;
  if (absl::Status status = Charge(kForkBytes); !status.ok()) return status;
  return Publish(first, 0, reserved);
}

// `versions_` is not empty after `Begin`, because the fork never drops its newest version.
Fork::VersionPtr Fork::newest() const {
  absl::MutexLock lock(&mu_);
  return versions_.back();
}

Scene::Ptr Fork::current() const { return SceneOf(newest()); }

// Versions ascend, so a binary search finds the index.
size_t Fork::IndexOf(uint64_t version) const {
  const auto found = std::lower_bound(
      versions_.begin(), versions_.end(), version,
      [](const VersionPtr& kept, uint64_t value) { return kept->summary.version < value; });
  return static_cast<size_t>(found - versions_.begin());
}

bool Fork::IsAt(size_t index, uint64_t version) const {
  return index < versions_.size() && versions_[index]->summary.version == version;
}

// Returns null for a version that was dropped or does not exist yet.
Scene::Ptr Fork::Find(uint64_t version) const {
  absl::MutexLock lock(&mu_);
  const size_t index = IndexOf(version);
  return IsAt(index, version) ? SceneOf(versions_[index]) : nullptr;
}

// Returns copies, so that no caller holds the lock while it encodes summaries.
std::vector<VersionSummary> Fork::Versions() const {
  absl::MutexLock lock(&mu_);
  std::vector<VersionSummary> summaries;
  summaries.reserve(versions_.size());
  for (const VersionPtr& version : versions_) summaries.push_back(version->summary);
  return summaries;
}

SceneChange::Ptr Fork::FindChange(uint64_t version, MemoryCharge charge) const {
  VersionPtr before, after;
  {
    absl::MutexLock lock(&mu_);
    const size_t index = IndexOf(version);
    if (!IsAt(index, version) || index + 1 == versions_.size()) return nullptr;
    before = versions_[index];
    after = versions_[index + 1];
  }
  auto change = std::make_shared<SceneChange>();
  change->summary = after->summary;
  change->base = version;
  if (after->is_rollback) {
    change->before = SceneOf(before);
    change->after = SceneOf(after);
    return change;
  }
  std::vector<SceneEdit> edits;
  edits.reserve(after->edited_ids.size());
  for (const uint64_t id : after->edited_ids) edits.emplace_back(RemovePolygon{id});
  change->list = ChangesOf(*before->scene, *after->scene, edits);
  change->bytes = BytesOf(change->list);
  change->charge = std::move(charge);
  change->charge.Set(change->bytes);
  return change;
}

std::optional<ForkBase> Fork::BaseAt(uint64_t version) const {
  absl::MutexLock lock(&mu_);
  const size_t index = version == 0 ? versions_.size() - 1 : IndexOf(version);
  if (version != 0 && !IsAt(index, version)) return std::nullopt;
  ForkBase base = base_;
  base.scene = SceneOf(versions_[index]);
  base.polygon_bytes = versions_[index]->polygon_bytes;
  return base;
}

void Fork::Close() {
  body_sets_->Close();
  absl::MutexLock lock(&mu_);
  is_closed_ = true;
}

absl::StatusOr<Scene::Ptr> Fork::FindEdited(const ForkEdits& edits, uint64_t content) const {
  if (edits.edit_id.empty()) return nullptr;
  absl::MutexLock lock(&mu_);
  const auto known = by_edit_id_.find(edits.edit_id);
  if (known != by_edit_id_.end()) {
    if (known->second->content == content) return SceneOf(known->second);
    return InvalidField("edit_id", "was already used for other edits of this scene");
  }
  if (!dropped_edit_id_set_.contains(absl::HashOf(edits.edit_id))) return nullptr;
  return Refused(absl::StatusCode::kOutOfRange, "edit_id",
                 "the version that these edits made is not kept");
}

// Checks the `edit_id` before it acquires `writing_`, so that edits that a client sends again are
// answered while another writer holds the lock.
absl::StatusOr<Scene::Ptr> Fork::Edit(
    ForkEdits edits, EditTime time, absl::FunctionRef<uint64_t()> next_version,
    absl::FunctionRef<void(uint64_t)> published) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t content = ContentOf(edits.edits);
  absl::StatusOr<Scene::Ptr> known = FindEdited(edits, content);
  if (!known.ok() || *known != nullptr) return known;
  // `until_it_is_free` waits for `writing_`, and releases it before the destructor of `blocked`
  // runs: the destructor may wait until the executor schedules this task again, and a task must not
  // wait for that while it holds `writing_`.
  while (!writing_.TryLock()) {
    if (time == EditTime::kShort) return nullptr;
    const Executor::Blocked blocked;
    absl::MutexLock until_it_is_free(&writing_);
  }
  // The cleanup unlocks `writing_` also if `EditLocked` throws std::bad_alloc.
  const absl::Cleanup unlock = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { writing_.Unlock(); };
  return EditLocked(std::move(edits), content, time, next_version, published);
}

absl::StatusOr<Scene::Ptr> Fork::EditLocked(ForkEdits edits, uint64_t content, EditTime time,
                                            absl::FunctionRef<uint64_t()> next_version,
                                            absl::FunctionRef<void(uint64_t)> published) {
  absl::StatusOr<Scene::Ptr> known = FindEdited(edits, content);
  if (!known.ok() || *known != nullptr) return known;
  const VersionPtr before = newest();
  const uint64_t current = before->summary.version;
  if (edits.base_version != 0 && edits.base_version != current) {
    return StaleCommit(current, std::move(edits.edits));
  }
  const bool is_rebuilt = before->scene->IsRebuiltBy(edits.edits);
  const size_t polygons = before->scene->polygon_count() + edits.edits.size();
  const bool is_long =
      edits.edits.size() > kShortEdits || (is_rebuilt && polygons > kShortPolygons);
  if (is_long && time == EditTime::kShort) return nullptr;
  // If the edits make the scene build its whole spatial index anew, charges memory for the new
  // index and for the polygons in `edits` before the scene is built. Does so only for valid edits,
  // because charging may drop old versions of the fork.
  uint64_t reserved = 0;
  if (is_rebuilt && before->scene->CheckCommit(edits.edits, limits_.scene).ok()) {
    reserved = polygons * kRebuiltIndexBytes + BytesOfEdits(edits.edits);
  }
  if (absl::Status status = Charge(static_cast<int64_t>(reserved)); !status.ok()) return status;
  const absl::Cleanup give_back = [&] {
    // lowering a charge cannot fail
    share_->charge.Set(share_->charge.bytes() - reserved).IgnoreError();
  };
  uint64_t removed_bytes = 0;
  const absl::StatusOr<VersionPtr> next =
      BuildVersion(*before, std::move(edits), next_version(), removed_bytes);
  if (!next.ok()) return next.status();
  (*next)->content = content;
  if (absl::Status status = Publish(*next, removed_bytes, reserved); !status.ok()) return status;
  published((*next)->summary.version);
  return SceneOf(*next);
}

// Adds a polygon that the edits remove or replace to `removed_bytes`, unless the fork's base, the
// version of another scene that the fork began as, has the polygon, too. Two versions share a
// polygon exactly if the polygon has the same memory address in both, because a version keeps the
// polygons that its edits did not change.
absl::StatusOr<Fork::VersionPtr> Fork::BuildVersion(const ForkVersion& before, ForkEdits edits,
                                                    uint64_t version, uint64_t& removed_bytes) {
  const Scene& base = *base_.kept->scene();
  auto next = std::make_shared<ForkVersion>();
  next->polygon_bytes = before.polygon_bytes;
  next->edited_ids.reserve(edits.edits.size());
  for (const SceneEdit& edit : edits.edits) {
    const uint64_t id = IdOf(edit);
    next->edited_ids.push_back(id);
    if (const Polygon* polygon = PolygonOf(edit)) next->polygon_bytes += BytesOf(*polygon);
    const Polygon* const old = before.scene->Find(id);
    const Polygon* const of_base = old == nullptr ? nullptr : base.Find(id);
    if (old == nullptr || (of_base != nullptr && of_base->memory() == old->memory())) continue;
    removed_bytes += BytesOf(*old);
  }
  next->polygon_bytes -= std::min(next->polygon_bytes, removed_bytes);
  absl::StatusOr<Scene::Ptr> scene =
      before.scene->Commit(std::move(edits.edits), version, limits_.scene);
  if (!scene.ok()) return scene.status();
  next->scene = *std::move(scene);
  next->summary = SummaryOf(*next->scene, std::move(edits.edit_id));
  return next;
}

absl::StatusOr<Scene::Ptr> Fork::Rollback(uint64_t version, uint64_t base_version,
                                          absl::FunctionRef<uint64_t()> next_version,
                                          absl::FunctionRef<void(uint64_t)> published) {
  absl::MutexLock writing(&writing_);
  const uint64_t current = newest()->summary.version;
  if (base_version != 0 && base_version != current) return StaleVersion("base_version", current);
  const std::optional<ForkBase> old = BaseAt(version);
  if (!old.has_value()) {
    return Refused(absl::StatusCode::kOutOfRange, "version",
                   "the polygons of this version are not kept");
  }
  auto next = std::make_shared<ForkVersion>();
  next->is_rollback = true;
  next->scene = old->scene->WithVersion(next_version());
  next->summary = SummaryOf(*next->scene, "");
  next->polygon_bytes = old->polygon_bytes;
  // Counts all polygons of the version that `next` supersedes as removed, so a polygon that the
  // superseded version and `next` share is charged twice.
  const uint64_t removed_bytes = newest()->polygon_bytes;
  uint64_t reserved = 0;
  if (absl::Status status = Publish(next, removed_bytes, reserved); !status.ok()) return status;
  published(next->summary.version);
  return SceneOf(next);
}

// Charges the memory before the version becomes visible. The version `before`, which `next`
// supersedes, stays charged only for the polygons and index pages that neither `next` nor the base
// of the fork (the version of another scene that the fork began as) has (`beside_next`).
absl::Status Fork::Publish(const VersionPtr& next, uint64_t removed_bytes, uint64_t& reserved) {
  next->index_bytes = next->scene->BytesBeyond(*base_.kept->scene());
  next->bytes = kVersionBytes + next->summary.edit_id.size() +
                next->edited_ids.size() * sizeof(uint64_t) + next->polygon_bytes +
                next->index_bytes;
  VersionPtr before;
  // true: `dropped_edit_ids_`, the edit ids of dropped versions, can grow by one more id when
  // `DropOldest` later drops `next`, so memory for one more id is charged; false: its maximum size
  // is charged already
  bool is_id_more = false;
  {
    absl::MutexLock lock(&mu_);
    if (!versions_.empty()) before = versions_.back();
    is_id_more = versions_.size() + dropped_edit_ids_.size() < kMaxDroppedEditIds;
  }
  uint64_t of_before = 0, beside_next = 0;
  if (before != nullptr) {
    of_before = before->bytes;
    const uint64_t pages = std::min(before->index_bytes, before->scene->BytesBeyond(*next->scene));
    beside_next =
        kVersionBytes + before->edited_ids.size() * sizeof(uint64_t) + removed_bytes + pages;
  }
  const uint64_t more = next->bytes + beside_next + (is_id_more ? kDroppedEditIdBytes : 0);
  absl::Status status = Charge(static_cast<int64_t>(more - of_before - reserved));
  if (!status.ok()) return status;
  reserved = 0;
  if (before != nullptr) before->bytes = beside_next;
  next->share = share_;
  std::vector<VersionPtr> dropped;  // declared before the lock, so destroyed after its release
  absl::MutexLock lock(&mu_);
  if (is_closed_) return NoSuchScene();
  // Reserves the memory of `versions_` first, so that nothing can throw after the version is added
  // to `by_edit_id_`: the version is added to both containers or to none.
  versions_.reserve(versions_.size() + 1);
  if (!next->summary.edit_id.empty()) by_edit_id_[next->summary.edit_id] = next;
  versions_.push_back(next);
  while (versions_.size() > limits_.max_versions) {
    DetachCharge(*versions_.front(), IsRead(versions_.front()));
    dropped.push_back(DropOldest());
  }
  return status;
}

// `offers` lists the bytes that dropping each version would free, oldest version first: 0 for a
// version with readers, because its readers keep its memory.
absl::Status Fork::Charge(int64_t more) {
  ForkCharge& charge = share_->charge;
  absl::Status status = charge.Set(charge.bytes() + static_cast<uint64_t>(more));
  if (status.ok()) return status;
  std::vector<VersionPtr> dropped;  // declared before the lock, so destroyed after its release
  std::vector<uint64_t> offers;
  absl::MutexLock lock(&mu_);
  offers.reserve(versions_.size());
  for (const VersionPtr& version : versions_) {
    offers.push_back(version == versions_.back() || IsRead(version) ? 0 : version->bytes);
  }
  if (!offers.empty()) offers.pop_back();  // the newest version stays
  size_t accepted = 0;
  status = charge.Add(static_cast<uint64_t>(more), offers, accepted);
  for (size_t i = 0; status.ok() && i < accepted; ++i) {
    // `Add` has released the offered bytes of the dropped versions. A dropped version with readers
    // offered 0 bytes: its charge moves from the fork to the version.
    if (offers[i] == 0) DetachCharge(*versions_.front(), true);
    dropped.push_back(DropOldest());
  }
  return status;
}

// The fork itself has one reference to the version in `versions_`, and a second one in
// `by_edit_id_` if the version has an edit id. Further references belong to readers; no reader is
// added meanwhile, because a thread gets a version only under `mu_`, or as a copy of a reader's
// reference.
bool Fork::IsRead(const VersionPtr& version) const {
  return version.use_count() > (by_edit_id_.contains(version->summary.edit_id) ? 2 : 1);
}

// If `version` has readers, raises its charge to all its memory that the fork's base, the version
// of another scene that the fork began as, does not have. Memory that `version` shares with later
// versions was charged for the later versions only, and that charge may end while readers of
// `version` still hold the memory.
void Fork::DetachCharge(ForkVersion& version, bool is_read) {
  version.own_charge.emplace(share_->charge.memory(), peer_);
  share_->charge.MoveTo(*version.own_charge, version.bytes);
  if (!is_read) return;
  version.own_charge->GrowPastLimit(kVersionBytes + version.polygon_bytes + version.index_bytes);
}

Fork::VersionPtr Fork::DropOldest() {
  VersionPtr oldest = std::move(versions_.front());
  versions_.erase(versions_.begin());
  if (oldest->summary.edit_id.empty()) return oldest;
  by_edit_id_.erase(oldest->summary.edit_id);
  const uint64_t hash = absl::HashOf(oldest->summary.edit_id);
  if (dropped_edit_id_set_.insert(hash).second) dropped_edit_ids_.push_back(hash);
  if (dropped_edit_ids_.size() > kMaxDroppedEditIds) {
    dropped_edit_id_set_.erase(dropped_edit_ids_.front());
    dropped_edit_ids_.erase(dropped_edit_ids_.begin());
  }
  return oldest;
}

}  // namespace carom::server
