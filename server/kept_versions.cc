// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/kept_versions.h"

#include <algorithm>
#include <utility>

namespace carom::server {
namespace {

// Of what scenes may take, what all pasts may have.
constexpr uint64_t kPinnedPart = 16;
// Names that are looked at at once.
constexpr size_t kPageSize = 1000;

// Whether a version is made of the polygons of the one before, as edits make it: an import or a
// rollback brings all anew, however little of it is different. One that is not in the list decides.
bool SharesPolygons(const Scene& before, const Scene& after, const SceneChange& change) {
  size_t listed = 0;
  for (size_t i = 0; i < after.polygon_count(); ++i) {
    const Polygon& polygon = after.polygon(i);
    while (listed < change.list.size() && change.list[listed].id < polygon.id()) ++listed;
    if (listed < change.list.size() && change.list[listed].id == polygon.id()) continue;
    const Polygon* const old = before.Find(polygon.id());
    return old != nullptr && old->memory() == polygon.memory();
  }
  return false;
}

}  // namespace

// Counts are from above: of versions that share pages with each other, but not with the current
// one, each has all of them.
void KeptVersion::Outdate(const Scene* current, const SceneChange* change) {
  if (is_alone_) return;
  const auto lose = [this](uint64_t id) {
    const Polygon* const polygon = scene_->Find(id);
    if (polygon != nullptr && gone_.insert(id).second) polygon_bytes_ += BytesOf(*polygon);
  };
  if (current != nullptr && change != nullptr && change->after == nullptr) {
    for (const PolygonChange& changed : change->list) lose(changed.id);
    charge_.Set(polygon_bytes_ + scene_->BytesBeyond(*current));
    return;
  }
  // Of an import no list says what it changed.
  is_alone_ = true;
  gone_ = {};
  polygon_bytes_ = 0;
  for (size_t i = 0; i < scene_->polygon_count(); ++i) {
    polygon_bytes_ += BytesOf(scene_->polygon(i));
  }
  charge_.Set(polygon_bytes_);
}

KeptVersions::KeptVersions(SceneStore& scenes, MemoryAccount& account, const KeptLimits& limits)
    : scenes_(scenes), account_(account), limits_(limits) {
  scenes_.AddListener(this);
}

KeptVersions::Past* KeptVersions::PastOf(absl::string_view name) {
  const Scene::Ptr current = scenes_.Find(name);
  if (current == nullptr) return nullptr;
  Past& past = pasts_[std::string(name)];
  if (past.kept.empty()) {
    past.kept.push_back(
        std::make_shared<KeptVersion>(current, MemoryCharge(account_, MemoryShare::kScenes)));
  }
  return &past;
}

// A change that is visible, and of which this has not heard yet, is not here: whoever pins the
// current version is answered by the store.
std::shared_ptr<KeptVersion> KeptVersions::FindLocked(Past* past, uint64_t version) {
  if (past == nullptr) return nullptr;
  if (version == 0) return past->kept.back();
  const auto found = std::lower_bound(past->kept.begin(), past->kept.end(), version,
                                      [](const std::shared_ptr<KeptVersion>& kept, uint64_t value) {
                                        return kept->scene()->version() < value;
                                      });
  const bool is_there = found != past->kept.end() && (*found)->scene()->version() == version;
  return is_there ? *found : nullptr;
}

std::shared_ptr<KeptVersion> KeptVersions::Find(absl::string_view name, uint64_t version) {
  absl::MutexLock lock(&mu_);
  return FindLocked(PastOf(name), version);
}

std::shared_ptr<KeptVersion> KeptVersions::Share(absl::string_view name, uint64_t version) {
  absl::MutexLock lock(&mu_);
  Past* const past = PastOf(name);
  std::shared_ptr<KeptVersion> found = FindLocked(past, version);
  if (past == nullptr) return nullptr;
  std::erase_if(past->shared, [](const auto& shared) { return shared.expired(); });
  // Or a version that other forks still have.
  for (const auto& shared : past->shared) {
    const std::shared_ptr<KeptVersion> kept = shared.lock();
    if (found == nullptr && kept != nullptr && kept->scene()->version() == version) found = kept;
  }
  if (found == nullptr) return nullptr;
  const bool is_known = std::any_of(past->shared.begin(), past->shared.end(),
                                    [&](const auto& it) { return it.lock() == found; });
  if (!is_known) past->shared.push_back(found);
  return found;
}

void KeptVersions::Begin() {
  std::string after;
  for (ScenePage page;; after = page.scenes.back().name) {
    page = scenes_.List(after, kPageSize);
    absl::MutexLock lock(&mu_);
    for (const NamedScene& named : page.scenes) PastOf(named.name);
    if (page.last || page.scenes.empty()) return;
  }
}

// Scenes are destroyed after the lock is released.
void KeptVersions::OnSceneChanged(absl::string_view name, uint64_t version,
                                  const SceneChange::Ptr& change) {
  std::vector<std::shared_ptr<KeptVersion>> dropped;
  const Scene::Ptr current = version == 0 ? nullptr : scenes_.Find(name);
  absl::MutexLock lock(&mu_);
  const auto it = pasts_.find(name);
  if (it == pasts_.end()) {
    PastOf(name);
    return;
  }
  Past& past = it->second;
  // It was found before by somebody who asked.
  if (current != nullptr && past.kept.back()->scene()->version() >= current->version()) return;
  // What an import leaves has little in common with what comes: it is not kept, but for forks.
  const bool is_large = current == nullptr || change == nullptr || change->after != nullptr ||
                        !SharesPolygons(*past.kept.back()->scene(), *current, *change);
  const SceneChange* const known = is_large ? nullptr : change.get();
  if (is_large) {
    dropped.assign(past.kept.begin(), past.kept.end());
    past.kept.clear();
  }
  for (const std::shared_ptr<KeptVersion>& kept : past.kept) {
    kept->Outdate(current.get(), known);
  }
  for (const std::weak_ptr<KeptVersion>& shared : past.shared) {
    if (const std::shared_ptr<KeptVersion> kept = shared.lock()) {
      kept->Outdate(current.get(), known);
    }
  }
  if (current == nullptr) {
    kept_bytes_ -= past.bytes;
    pasts_.erase(it);
    return;
  }
  past.kept.push_back(
      std::make_shared<KeptVersion>(current, MemoryCharge(account_, MemoryShare::kScenes)));
  Prune(past, dropped);
}

void KeptVersions::Prune(Past& past, std::vector<std::shared_ptr<KeptVersion>>& dropped) {
  kept_bytes_ -= std::exchange(past.bytes, 0);
  for (const std::shared_ptr<KeptVersion>& kept : past.kept) past.bytes += kept->charge_.bytes();
  const uint64_t room = account_.limit(MemoryShare::kScenes) / kPinnedPart;
  while (past.kept.size() > 1 &&
         (past.kept.size() > limits_.max_versions || past.bytes > limits_.max_bytes ||
          kept_bytes_ + past.bytes > room)) {
    past.bytes -= past.kept.front()->charge_.bytes();
    dropped.push_back(std::move(past.kept.front()));
    past.kept.pop_front();
  }
  kept_bytes_ += past.bytes;
}

}  // namespace carom::server
