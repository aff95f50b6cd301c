// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/kept_versions.h"

#include <algorithm>

namespace carom::server {
namespace {

// The old versions that are kept in memory, of all scenes together, may take 1/kPinnedPart of the
// memory that scenes may take.
constexpr uint64_t kPinnedPart = 16;
// Number of scenes that `Begin` requests from the store in one call of `SceneStore::List`.
constexpr size_t kPageSize = 1000;

}  // namespace

// `bytes_`, the bytes of this version that `current` does not have, is an upper bound: polygons,
// and pages of the spatial index, that old versions share with each other, but not with the current
// version, count for each of these old versions.
void KeptVersion::MarkSuperseded(const Scene& current, const SceneChange& change) {
  const auto lose = [this](uint64_t id) {
    const Polygon* const polygon = scene_->Find(id);
    if (polygon != nullptr && removed_ids_.insert(id).second) polygon_bytes_ += BytesOf(*polygon);
  };
  for (const PolygonChange& changed : change.list) lose(changed.id);
  for (const uint64_t id : change.equal_ids) lose(id);
  bytes_.store(polygon_bytes_ + scene_->BytesBeyond(current), std::memory_order_relaxed);
}

KeptVersions::KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits)
    : scenes_(scenes), account_(account), limits_(limits) {
  scenes_.AddListener(this);
  account_.set_reclaimer([this](uint64_t bytes) { return Release(bytes); });
}

KeptVersions::~KeptVersions() { account_.set_reclaimer(nullptr); }

KeptVersions::HistoryPtr KeptVersions::FindHistory(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = histories_.find(name);
  return it == histories_.end() ? nullptr : it->second;
}

// Holds `mu_` from the lookup of the scene until the history is added: if the scene is deleted
// after the lookup, `Forget` waits for `mu_` and then removes the history.
KeptVersions::HistoryPtr KeptVersions::FindOrMakeHistory(absl::string_view name) {
  if (HistoryPtr history = FindHistory(name)) return history;
  absl::MutexLock lock(&mu_);
  const Scene::Ptr current = scenes_.Find(name);
  if (current == nullptr) return nullptr;
  HistoryPtr& history = histories_[std::string(name)];
  if (history != nullptr) return history;
  history = std::make_shared<VersionHistory>();
  absl::MutexLock of_past(&history->mu);
  history->kept.push_back(std::make_shared<KeptVersion>(current));
  return history;
}

// Destroys the versions after it has released `mu_`, because freeing their polygons may take long.
void KeptVersions::Forget(absl::string_view name) {
  HistoryPtr history;
  {
    absl::MutexLock lock(&mu_);
    const auto it = histories_.find(name);
    if (it == histories_.end()) return;
    history = std::move(it->second);
    histories_.erase(it);
  }
  absl::MutexLock of_past(&history->mu);
  Count(*history, 0);
}

// Returns null for a version that has just become current and that `OnSceneChanged` has not yet
// added to `history.kept`. Callers get that version from the store, as the scene's current version.
KeptVersions::KeptPtr KeptVersions::FindIn(const VersionHistory& history, uint64_t version) {
  const auto found = std::lower_bound(
      history.kept.begin(), history.kept.end(), version,
      [](const KeptPtr& kept, uint64_t value) { return kept->scene()->version() < value; });
  const bool is_found = found != history.kept.end() && (*found)->scene()->version() == version;
  return is_found ? *found : nullptr;
}

// `Find` runs for every group of queries that names a version, in every query frame (a client's
// message of queries for one tick), so `FindHistory` acquires `mu_` only as a reader: concurrent
// calls do not wait for each other there.
std::shared_ptr<KeptVersion> KeptVersions::Find(absl::string_view name, uint64_t version) const {
  const HistoryPtr history = FindHistory(name);
  if (history == nullptr) return nullptr;
  absl::MutexLock lock(&history->mu);
  return FindIn(*history, version);
}

// Also finds a version that `history->kept`, the versions kept in memory, no longer contains, as
// long as a fork (a temporary copy of the scene) holds that version (`history->shared`).
std::shared_ptr<KeptVersion> KeptVersions::Acquire(absl::string_view name, uint64_t version) {
  const HistoryPtr history = FindOrMakeHistory(name);
  if (history == nullptr) return nullptr;
  absl::MutexLock lock(&history->mu);
  if (version == 0) version = history->kept.back()->scene()->version();
  std::erase_if(history->shared, [](const auto& shared) { return shared.expired(); });
  for (const std::weak_ptr<KeptVersion>& shared : history->shared) {
    KeptPtr found = shared.lock();
    if (found != nullptr && found->scene()->version() == version) return found;
  }
  KeptPtr found = FindIn(*history, version);
  if (found != nullptr) history->shared.push_back(found);
  return found;
}

void KeptVersions::Add(absl::string_view name, const std::shared_ptr<KeptVersion>& version) {
  const HistoryPtr history = FindHistory(name);
  if (history == nullptr) return;  // the scene was deleted, so no later fork needs the version
  absl::MutexLock lock(&history->mu);
  history->shared.push_back(version);
}

void KeptVersions::Begin() {
  std::string after;
  for (ScenePage page;; after = page.scenes.back().name) {
    page = scenes_.List(after, kPageSize);
    for (const NamedScene& named : page.scenes) FindOrMakeHistory(named.name);
    if (page.last || page.scenes.empty()) return;
  }
}

// Runs on the thread that changes the scene, so never twice at a time for one scene. Computes the
// bytes of the old versions, and destroys dropped versions, while it holds no lock.
void KeptVersions::OnSceneChanged(absl::string_view name, uint64_t version,
                                  const SceneChange::Ptr& change) {
  if (version == 0) return Forget(name);
  const Scene::Ptr current = scenes_.Find(name);
  if (current == nullptr) return;  // the changed scene is a fork
  const HistoryPtr history = FindOrMakeHistory(name);
  if (history == nullptr) return;
  std::vector<KeptPtr> kept;
  {
    absl::MutexLock lock(&history->mu);
    kept.assign(history->kept.begin(), history->kept.end());
  }
  // If the last version in `kept` is already the current one, `FindOrMakeHistory` has just made the
  // history with that version, and nothing remains to be done.
  if (kept.back()->scene()->version() >= current->version()) return;
  // An import or a rollback makes a copy of every polygon, even of a polygon that does not differ,
  // so the old versions share no memory with the current one. The old versions are then removed
  // from the history; each stays in memory only as long as a fork or a reader holds it.
  const bool is_large = change == nullptr || !change->is_by_edits;
  if (!is_large) {
    for (const KeptPtr& old : kept) old->MarkSuperseded(*current, *change);
  }
  auto next = std::make_shared<KeptVersion>(current);
  absl::MutexLock lock(&history->mu);
  // The local `kept` also has references to the versions that are dropped here, so no version is
  // destroyed while the lock is held.
  if (is_large) history->kept.clear();
  history->kept.push_back(std::move(next));
  Prune(*history, kept);
}

// Writers of other scenes may change `kept_bytes_` during this call, so the common limit `room` of
// all scenes holds only approximately. The history of a scene is pruned only when that scene
// changes.
void KeptVersions::Prune(VersionHistory& history, std::vector<KeptPtr>& dropped) {
  uint64_t bytes = 0;
  for (const KeptPtr& kept : history.kept) bytes += kept->bytes_.load(std::memory_order_relaxed);
  const uint64_t room = account_.limit(MemoryShare::kScenes) / kPinnedPart;
  const uint64_t others = kept_bytes_.load(std::memory_order_relaxed) - history.bytes;
  while (history.kept.size() > 1 && (history.kept.size() > limits_.max_versions ||
                                     bytes > limits_.max_bytes || others + bytes > room)) {
    bytes -= history.kept.front()->bytes_.load(std::memory_order_relaxed);
    dropped.push_back(std::move(history.kept.front()));
    history.kept.pop_front();
  }
  Count(history, bytes);
}

void KeptVersions::Count(VersionHistory& history, uint64_t bytes) {
  // If `bytes` < `history.bytes`, the difference wraps around modulo 2^64, and adding it decreases
  // `kept_bytes_`.
  kept_bytes_.fetch_add(bytes - history.bytes, std::memory_order_relaxed);
  history.bytes = bytes;
}

// `bytes` is the memory that the caller needs. Visits the scenes in no particular order, because it
// is not known which versions clients will read, and drops the oldest versions of each scene until
// `bytes` bytes are freed.
bool KeptVersions::Release(uint64_t bytes) {
  if (kept_bytes_.load(std::memory_order_relaxed) < bytes) return false;
  std::vector<KeptPtr> dropped;  // declared before the locks, so destroyed after their release
  uint64_t freed = 0;
  absl::ReaderMutexLock lock(&mu_);
  for (const auto& [name, history] : histories_) {
    if (freed >= bytes) break;
    absl::MutexLock of_past(&history->mu);
    uint64_t left = history->bytes;
    for (; history->kept.size() > 1 && freed < bytes; history->kept.pop_front()) {
      KeptPtr& oldest = history->kept.front();
      const uint64_t of_it = std::min(left, oldest->bytes_.load(std::memory_order_relaxed));
      left -= of_it;
      if (oldest.use_count() == 1) freed += of_it;  // otherwise a fork still holds it
      dropped.push_back(std::move(oldest));
    }
    Count(*history, left);
  }
  return !dropped.empty();
}

}  // namespace carom::server
