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

// What a fork takes beside its versions, and a version beside its pages and polygons.
constexpr uint64_t kForkBytes = 1024;
constexpr uint64_t kVersionBytes = 512;
// An index that is made anew takes that much of a polygon, about.
constexpr uint64_t kMadeIndexBytes = 96;
// Ids of edits whose versions are gone that are known, so that they are not made twice.
constexpr size_t kMaxGoneEditIds = 4096;
constexpr uint64_t kGoneEditIdBytes = 32;

// What kShort edits at most: some pages for each, 10 us; or an index of so many polygons.
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

// A scene that keeps its version, and with it what is counted for the fork.
Scene::Ptr SceneOf(const std::shared_ptr<ForkVersion>& version) {
  return {version, version->scene.get()};
}

// Of what edits bring.
uint64_t BytesOfEdits(std::span<const SceneEdit> edits) {
  uint64_t bytes = 0;
  for (const SceneEdit& edit : edits) {
    if (const Polygon* const polygon = PolygonOf(edit)) bytes += BytesOf(*polygon);
  }
  return bytes;
}

// As lists of versions show it.
VersionSummary SummaryOf(const Scene& scene, std::string edit_id) {
  return {.version = scene.version(),
          .polygon_count = scene.polygon_count(),
          .vertex_count = scene.vertex_count(),
          .bounds = scene.bounds(),
          .edit_id = std::move(edit_id),
          .created_us = absl::GetCurrentTimeNanos() / 1000};
}

}  // namespace

// In the order of the edits, as they came: the same edits in another order are others. Removals
// hash by their ids, all else by every member of the polygon.
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

// The fork keeps the pointer to its base, whose pages live as long as the fork.
Fork::Fork(ForkBase base, Clock::duration lease, const Limits& limits, ForkMemory& memory,
           std::shared_ptr<MemoryPeer> peer)
    : base_(std::move(base)),
      lease_(lease),
      limits_(limits),
      peer_(std::move(peer)),
      last_use_(Clock::now().time_since_epoch().count()),
      share_(std::make_shared<ForkShare>(memory, peer_, base_.kept)) {}

// What nobody reads is given back now, whatever others read.
Fork::~Fork() {
  absl::MutexLock writing(&writing_);
  absl::MutexLock lock(&mu_);
  for (const VersionPtr& version : versions_) LetGo(*version, IsRead(version));
  by_edit_id_.clear();
  versions_.clear();
  share_->charge.Set(0).IgnoreError();
}

// The first version is the base's index under another number, so that nothing is copied.
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

// There is one from `Begin` on, for the newest is never dropped.
Fork::VersionPtr Fork::newest() const {
  absl::MutexLock lock(&mu_);
  return versions_.back();
}

Scene::Ptr Fork::current() const { return SceneOf(newest()); }

// Versions ascend. The place where this one is, or would be.
size_t Fork::IndexOf(uint64_t version) const {
  const auto found = std::lower_bound(
      versions_.begin(), versions_.end(), version,
      [](const VersionPtr& kept, uint64_t value) { return kept->summary.version < value; });
  return static_cast<size_t>(found - versions_.begin());
}

bool Fork::IsAt(size_t index, uint64_t version) const {
  return index < versions_.size() && versions_[index]->summary.version == version;
}

// Null for a version that is dropped, or is yet to come.
Scene::Ptr Fork::Find(uint64_t version) const {
  absl::MutexLock lock(&mu_);
  const size_t index = IndexOf(version);
  return IsAt(index, version) ? SceneOf(versions_[index]) : nullptr;
}

// Copies, so that no caller holds the lock while it encodes them.
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
  absl::MutexLock lock(&mu_);
  is_closed_ = true;
}

absl::StatusOr<Scene::Ptr> Fork::FindEdited(const ForkEdits& edits, uint64_t content) const {
  if (edits.edit_id.empty()) return nullptr;
  absl::MutexLock lock(&mu_);
  const auto known = by_edit_id_.find(edits.edit_id);
  if (known != by_edit_id_.end()) {
    if (known->second->content == content) return SceneOf(known->second);
    return InvalidField("edit_id", "must not be that of other edits of this scene");
  }
  if (!is_gone_.contains(absl::HashOf(edits.edit_id))) return nullptr;
  return Refused(absl::StatusCode::kOutOfRange, "edit_id",
                 "the version that these edits made is not kept");
}

// The first look at the id is for edits that come again while another writer is at work.
absl::StatusOr<Scene::Ptr> Fork::Edit(
    ForkEdits edits, EditTime time, absl::FunctionRef<uint64_t()> next_version,
    absl::FunctionRef<void(uint64_t)> published) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t content = ContentOf(edits.edits);
  absl::StatusOr<Scene::Ptr> known = FindEdited(edits, content);
  if (!known.ok() || *known != nullptr) return known;
  // The lock is not kept while a thread waits for its turn, which comes after that of other peers.
  while (!writing_.TryLock()) {
    if (time == EditTime::kShort) return nullptr;
    const Executor::Blocked blocked;
    absl::MutexLock until_it_is_free(&writing_);
  }
  // Whatever happens: without memory the edit ends by an exception.
  const absl::Cleanup unlock = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { writing_.Unlock(); };
  return EditAlone(std::move(edits), content, time, next_version, published);
}

absl::StatusOr<Scene::Ptr> Fork::EditAlone(ForkEdits edits, uint64_t content, EditTime time,
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
  // Before the index is there, memory for it is, and no version goes for edits that are refused.
  uint64_t reserved = 0;
  if (is_rebuilt && before->scene->CheckCommit(edits.edits, limits_.scene).ok()) {
    reserved = polygons * kMadeIndexBytes + BytesOfEdits(edits.edits);
  }
  if (absl::Status status = Charge(static_cast<int64_t>(reserved)); !status.ok()) return status;
  const absl::Cleanup give_back = [&] {
    share_->charge.Set(share_->charge.bytes() - reserved).IgnoreError();  // less always fits
  };
  uint64_t gone_bytes = 0;
  const absl::StatusOr<VersionPtr> next =
      Make(*before, std::move(edits), next_version(), gone_bytes);
  if (!next.ok()) return next.status();
  (*next)->content = content;
  if (absl::Status status = Publish(*next, gone_bytes, reserved); !status.ok()) return status;
  published((*next)->summary.version);
  return SceneOf(*next);
}

// A polygon that goes counts with the version before, unless the base has it: by its memory, since
// the two share what no edit has touched.
absl::StatusOr<Fork::VersionPtr> Fork::Make(const ForkVersion& before, ForkEdits edits,
                                            uint64_t version, uint64_t& gone_bytes) {
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
    gone_bytes += BytesOf(*old);
  }
  next->polygon_bytes -= std::min(next->polygon_bytes, gone_bytes);
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
  // Polygons that both have are counted for both.
  const uint64_t gone_bytes = newest()->polygon_bytes;
  uint64_t reserved = 0;
  if (absl::Status status = Publish(next, gone_bytes, reserved); !status.ok()) return status;
  published(next->summary.version);
  return SceneOf(next);
}

// The charge comes first: what is not counted is not visible. Of its pages a version that is no
// longer the newest has alone what neither the next one nor the base has.
absl::Status Fork::Publish(const VersionPtr& next, uint64_t gone_bytes, uint64_t& reserved) {
  next->index_bytes = next->scene->BytesBeyond(*base_.kept->scene());
  next->bytes = kVersionBytes + next->summary.edit_id.size() +
                next->edited_ids.size() * sizeof(uint64_t) + next->polygon_bytes +
                next->index_bytes;
  VersionPtr before;
  bool is_id_more = false;  // to be known when its version is gone
  {
    absl::MutexLock lock(&mu_);
    if (!versions_.empty()) before = versions_.back();
    is_id_more = versions_.size() + gone_edit_ids_.size() < kMaxGoneEditIds;
  }
  uint64_t of_before = 0, beside_next = 0;
  if (before != nullptr) {
    of_before = before->bytes;
    const uint64_t pages = std::min(before->index_bytes, before->scene->BytesBeyond(*next->scene));
    beside_next = kVersionBytes + before->edited_ids.size() * sizeof(uint64_t) + gone_bytes + pages;
  }
  const uint64_t more = next->bytes + beside_next + (is_id_more ? kGoneEditIdBytes : 0);
  absl::Status status = Charge(static_cast<int64_t>(more - of_before - reserved));
  if (!status.ok()) return status;
  reserved = 0;
  if (before != nullptr) before->bytes = beside_next;
  next->share = share_;
  std::vector<VersionPtr> dropped;  // destroyed without the lock, which readers need
  absl::MutexLock lock(&mu_);
  if (is_closed_) return NoSuchScene();
  // What takes memory comes first: a version is there with its id, or not at all.
  versions_.reserve(versions_.size() + 1);
  if (!next->summary.edit_id.empty()) by_edit_id_[next->summary.edit_id] = next;
  versions_.push_back(next);
  while (versions_.size() > limits_.max_versions) {
    LetGo(*versions_.front(), IsRead(versions_.front()));
    dropped.push_back(DropOldest());
  }
  return status;
}

// What somebody reads would give nothing back, so it is no part of what is offered.
absl::Status Fork::Charge(int64_t more) {
  ForkCharge& charge = share_->charge;
  absl::Status status = charge.Set(charge.bytes() + static_cast<uint64_t>(more));
  if (status.ok()) return status;
  std::vector<VersionPtr> dropped;  // destroyed without the lock
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
    if (offers[i] == 0) LetGo(*versions_.front(), true);  // or else it has gone back
    dropped.push_back(DropOldest());
  }
  return status;
}

// By its count, as nobody gets at a version without the lock but from another one who has it.
bool Fork::IsRead(const VersionPtr& version) const {
  return version.use_count() > (by_edit_id_.contains(version->summary.edit_id) ? 2 : 1);
}

// One that is read counts with all that it has beside the base: later versions give back what they
// share with it, and do not know of readers.
void Fork::LetGo(ForkVersion& version, bool is_read) {
  version.own_charge.emplace(share_->charge.memory(), peer_);
  share_->charge.MoveTo(*version.own_charge, version.bytes);
  if (!is_read) return;
  version.own_charge->GrowAnyway(kVersionBytes + version.polygon_bytes + version.index_bytes);
}

Fork::VersionPtr Fork::DropOldest() {
  VersionPtr oldest = std::move(versions_.front());
  versions_.erase(versions_.begin());
  if (oldest->summary.edit_id.empty()) return oldest;
  by_edit_id_.erase(oldest->summary.edit_id);
  const uint64_t hash = absl::HashOf(oldest->summary.edit_id);
  if (is_gone_.insert(hash).second) gone_edit_ids_.push_back(hash);
  if (gone_edit_ids_.size() > kMaxGoneEditIds) {
    is_gone_.erase(gone_edit_ids_.front());
    gone_edit_ids_.erase(gone_edit_ids_.begin());
  }
  return oldest;
}

}  // namespace carom::server
