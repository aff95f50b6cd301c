// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/kept_versions.h"

#include <algorithm>

namespace carom::server {
namespace {

// Of what scenes may take, what all pasts may have.
constexpr uint64_t kPinnedPart = 16;
// Names that are looked at at once.
constexpr size_t kPageSize = 1000;

}  // namespace

// Counts are from above: of versions that share pages with each other, but not with the current
// one, each has all of them.
void KeptVersion::Outdate(const Scene& current, const SceneChange& change) {
  const auto lose = [this](uint64_t id) {
    const Polygon* const polygon = scene_->Find(id);
    if (polygon != nullptr && gone_.insert(id).second) polygon_bytes_ += BytesOf(*polygon);
  };
  for (const PolygonChange& changed : change.list) lose(changed.id);
  for (const uint64_t id : change.equal_ids) lose(id);
  bytes_.store(polygon_bytes_ + scene_->BytesBeyond(current), std::memory_order_relaxed);
}

KeptVersions::KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits)
    : scenes_(scenes), account_(account), limits_(limits) {
  scenes_.AddListener(this);
  account_.set_spare([this](uint64_t bytes) { return GiveUp(bytes); });
}

KeptVersions::~KeptVersions() { account_.set_spare(nullptr); }

KeptVersions::PastPtr KeptVersions::FindPast(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = pasts_.find(name);
  return it == pasts_.end() ? nullptr : it->second;
}

// The scene is looked up under the lock: if it is deleted, then `Forget` comes after this.
KeptVersions::PastPtr KeptVersions::MakePast(absl::string_view name) {
  if (PastPtr past = FindPast(name)) return past;
  absl::MutexLock lock(&mu_);
  const Scene::Ptr current = scenes_.Find(name);
  if (current == nullptr) return nullptr;
  PastPtr& past = pasts_[std::string(name)];
  if (past != nullptr) return past;
  past = std::make_shared<Past>();
  absl::MutexLock of_past(&past->mu);
  past->kept.push_back(std::make_shared<KeptVersion>(current));
  return past;
}

// Versions are destroyed without the lock.
void KeptVersions::Forget(absl::string_view name) {
  PastPtr past;
  {
    absl::MutexLock lock(&mu_);
    const auto it = pasts_.find(name);
    if (it == pasts_.end()) return;
    past = std::move(it->second);
    pasts_.erase(it);
  }
  absl::MutexLock of_past(&past->mu);
  Count(*past, 0);
}

// A change that is visible, and of which this has not heard yet, is not here: whoever pins the
// current version is answered by the store.
KeptVersions::KeptPtr KeptVersions::FindIn(const Past& past, uint64_t version) {
  const auto found = std::lower_bound(
      past.kept.begin(), past.kept.end(), version,
      [](const KeptPtr& kept, uint64_t value) { return kept->scene()->version() < value; });
  const bool is_there = found != past.kept.end() && (*found)->scene()->version() == version;
  return is_there ? *found : nullptr;
}

// On the way of every group that pins a version.
std::shared_ptr<KeptVersion> KeptVersions::Find(absl::string_view name, uint64_t version) const {
  const PastPtr past = FindPast(name);
  if (past == nullptr) return nullptr;
  absl::MutexLock lock(&past->mu);
  return FindIn(*past, version);
}

// Versions that are no longer kept are there all the same as long as another fork has them.
std::shared_ptr<KeptVersion> KeptVersions::Share(absl::string_view name, uint64_t version) {
  const PastPtr past = MakePast(name);
  if (past == nullptr) return nullptr;
  absl::MutexLock lock(&past->mu);
  if (version == 0) version = past->kept.back()->scene()->version();
  std::erase_if(past->shared, [](const auto& shared) { return shared.expired(); });
  for (const std::weak_ptr<KeptVersion>& shared : past->shared) {
    KeptPtr found = shared.lock();
    if (found != nullptr && found->scene()->version() == version) return found;
  }
  KeptPtr found = FindIn(*past, version);
  if (found != nullptr) past->shared.push_back(found);
  return found;
}

void KeptVersions::Add(absl::string_view name, const std::shared_ptr<KeptVersion>& version) {
  const PastPtr past = FindPast(name);
  if (past == nullptr) return;  // deleted meanwhile: no fork of it is to come
  absl::MutexLock lock(&past->mu);
  past->shared.push_back(version);
}

void KeptVersions::Begin() {
  std::string after;
  for (ScenePage page;; after = page.scenes.back().name) {
    page = scenes_.List(after, kPageSize);
    for (const NamedScene& named : page.scenes) MakePast(named.name);
    if (page.last || page.scenes.empty()) return;
  }
}

// By the writer of the scene, one at a time. What the change costs is worked out without a lock,
// and so are versions destroyed.
void KeptVersions::OnSceneChanged(absl::string_view name, uint64_t version,
                                  const SceneChange::Ptr& change) {
  if (version == 0) return Forget(name);
  const Scene::Ptr current = scenes_.Find(name);
  if (current == nullptr) return;  // of a fork
  const PastPtr past = MakePast(name);
  if (past == nullptr) return;
  std::vector<KeptPtr> kept;
  {
    absl::MutexLock lock(&past->mu);
    kept.assign(past->kept.begin(), past->kept.end());
  }
  // It was found before by somebody who asked.
  if (kept.back()->scene()->version() >= current->version()) return;
  // An import or a rollback brings all polygons anew, however little of it is different: what it
  // leaves is not kept, but for forks.
  const bool is_large = change == nullptr || !change->is_by_edits;
  if (!is_large) {
    for (const KeptPtr& old : kept) old->Outdate(*current, *change);
  }
  auto next = std::make_shared<KeptVersion>(current);
  absl::MutexLock lock(&past->mu);
  // Others hold them still: none is destroyed under the lock.
  if (is_large) past->kept.clear();
  past->kept.push_back(std::move(next));
  Prune(*past, kept);
}

// What other pasts take may change meanwhile; each is looked at when its own scene changes.
void KeptVersions::Prune(Past& past, std::vector<KeptPtr>& dropped) {
  uint64_t bytes = 0;
  for (const KeptPtr& kept : past.kept) bytes += kept->bytes_.load(std::memory_order_relaxed);
  const uint64_t room = account_.limit(MemoryShare::kScenes) / kPinnedPart;
  const uint64_t others = kept_bytes_.load(std::memory_order_relaxed) - past.bytes;
  while (past.kept.size() > 1 && (past.kept.size() > limits_.max_versions ||
                                  bytes > limits_.max_bytes || others + bytes > room)) {
    bytes -= past.kept.front()->bytes_.load(std::memory_order_relaxed);
    dropped.push_back(std::move(past.kept.front()));
    past.kept.pop_front();
  }
  Count(past, bytes);
}

void KeptVersions::Count(Past& past, uint64_t bytes) {
  kept_bytes_.fetch_add(bytes - past.bytes, std::memory_order_relaxed);  // or less, modulo 2^64
  past.bytes = bytes;
}

// Of whichever scenes: nobody knows which of them somebody will go back to.
bool KeptVersions::GiveUp(uint64_t bytes) {
  if (kept_bytes_.load(std::memory_order_relaxed) < bytes) return false;
  std::vector<KeptPtr> dropped;  // destroyed without the locks
  uint64_t freed = 0;
  absl::ReaderMutexLock lock(&mu_);
  for (const auto& [name, past] : pasts_) {
    if (freed >= bytes) break;
    absl::MutexLock of_past(&past->mu);
    uint64_t left = past->bytes;
    for (; past->kept.size() > 1 && freed < bytes; past->kept.pop_front()) {
      KeptPtr& oldest = past->kept.front();
      const uint64_t of_it = std::min(left, oldest->bytes_.load(std::memory_order_relaxed));
      left -= of_it;
      if (oldest.use_count() == 1) freed += of_it;  // or a fork has it still
      dropped.push_back(std::move(oldest));
    }
    Count(*past, left);
  }
  return !dropped.empty();
}

}  // namespace carom::server
