// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/memory_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
namespace {

// A stale commit is ABORTED, unless its edits are wrong whatever the scene: against an empty scene
// the core finds just that.
absl::Status StaleCommit(uint64_t current, std::vector<SceneEdit> edits) {
  const absl::StatusOr<Scene::Ptr> empty = Scene::Create({});
  if (!empty.ok()) return empty.status();
  const absl::Status status = (*empty)->Commit(std::move(edits), 1).status();
  if (absl::IsInvalidArgument(status)) return status;
  return StaleVersion("base_version", current);
}

// What an edit brings; null if it removes.
const Polygon* PolygonOf(const SceneEdit& edit) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) return &add->polygon;
  if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) return &replace->polygon;
  return nullptr;
}

uint64_t IdOf(const SceneEdit& edit) {
  const Polygon* const polygon = PolygonOf(edit);
  return polygon != nullptr ? polygon->id() : std::get<RemovePolygon>(edit).id;
}

// A scene takes about that much for a polygon: the polygon itself, its places in the pages, and
// parts of their trees.
constexpr uint64_t kPolygonBytes = 320;
constexpr uint64_t kRingBytes = 64;
constexpr uint64_t kVertexBytes = 24;

}  // namespace

uint64_t BytesOf(const Polygon& polygon) {
  return kPolygonBytes + kRingBytes * polygon.ring_count() + kVertexBytes * polygon.vertex_count() +
         polygon.user_data().size();
}

Scene::Ptr MemoryStore::Find(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  return it == scenes_.end() ? nullptr : it->second.scene;
}

ScenePage MemoryStore::List(absl::string_view after, size_t limit) const {
  ScenePage page;
  absl::ReaderMutexLock lock(&mu_);
  auto it = scenes_.upper_bound(after);
  for (; it != scenes_.end() && page.scenes.size() < limit; ++it) {
    page.scenes.push_back({it->first, it->second.scene});
  }
  page.last = it == scenes_.end();
  return page;
}

absl::Status MemoryStore::CheckImport(absl::string_view name, ImportMode mode) const {
  if (scenes_.contains(name)) {
    if (mode == ImportMode::kReplace) return absl::OkStatus();
    return Refused(absl::StatusCode::kAlreadyExists, "name", "a scene of this name is there");
  }
  if (scenes_.size() < max_scenes_) return absl::OkStatus();
  return Refused(absl::StatusCode::kResourceExhausted, "name",
                 absl::StrCat("the server keeps at most ", max_scenes_, " scenes"));
}

absl::StatusOr<Scene::Ptr> MemoryStore::Import(absl::string_view name, ImportMode mode,
                                               std::vector<Polygon> polygons,
                                               absl::FunctionRef<bool()> abandoned) {
  KeyedMutex::Lock writer(writers_, name);
  {
    absl::ReaderMutexLock lock(&mu_);
    if (absl::Status status = CheckImport(name, mode); !status.ok()) return status;
  }
  MemoryCharge charge(account_, MemoryShare::kScenes);
  for (const Polygon& polygon : polygons) {
    if (absl::Status status = charge.Add(BytesOf(polygon)); !status.ok()) return status;
  }
  // Built without mu_: readers go on, and so do writers of other scenes.
  absl::StatusOr<Scene::Ptr> scene = Scene::Create(std::move(polygons), NextVersion(), limits_);
  if (!scene.ok()) return scene.status();
  if (abandoned()) return absl::CancelledError("the caller is gone; nothing is registered");
  Entry old;  // destroyed after the lock is released
  {
    absl::MutexLock lock(&mu_);
    // Scenes of other names may have come meanwhile.
    if (absl::Status status = CheckImport(name, mode); !status.ok()) return status;
    old = std::exchange(scenes_[std::string(name)], Entry{*scene, std::move(charge)});
  }
  Notify(name, (*scene)->version());
  return scene;
}

absl::StatusOr<Scene::Ptr> MemoryStore::Commit(absl::string_view name, uint64_t base_version,
                                               std::vector<SceneEdit> edits) {
  KeyedMutex::Lock writer(writers_, name);
  // It stays the current one: only the holder of `writer` replaces it.
  const Scene::Ptr base = Find(name);
  if (base == nullptr) return NoSuchScene();
  if (base_version != 0 && base_version != base->version()) {
    return StaleCommit(base->version(), std::move(edits));
  }
  MemoryCharge added(account_, MemoryShare::kScenes);
  uint64_t removed = 0;
  for (const SceneEdit& edit : edits) {
    if (const Polygon* polygon = PolygonOf(edit)) {
      if (absl::Status status = added.Add(BytesOf(*polygon)); !status.ok()) return status;
    }
    if (const Polygon* old = base->Find(IdOf(edit))) removed += BytesOf(*old);
  }
  absl::StatusOr<Scene::Ptr> scene = base->Commit(std::move(edits), NextVersion(), limits_);
  if (!scene.ok()) return scene.status();
  {
    absl::MutexLock lock(&mu_);
    Entry& entry = scenes_.find(name)->second;
    entry.scene = *scene;  // `base` keeps the old version alive
    entry.charge.Set(entry.charge.bytes() + added.bytes() - removed);
  }
  Notify(name, (*scene)->version());
  return scene;
}

absl::Status MemoryStore::Delete(absl::string_view name, uint64_t version) {
  KeyedMutex::Lock writer(writers_, name);
  const Scene::Ptr current = Find(name);
  if (current == nullptr) return NoSuchScene();
  if (version != 0 && version != current->version())
    return StaleVersion("version", current->version());
  {
    absl::MutexLock lock(&mu_);
    scenes_.erase(scenes_.find(name));
  }
  Notify(name, 0);
  return absl::OkStatus();
}

void MemoryStore::AddListener(SceneListener* listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.push_back(listener);
}

void MemoryStore::Notify(absl::string_view name, uint64_t version) {
  absl::ReaderMutexLock lock(&listeners_mu_);
  for (SceneListener* listener : listeners_) listener->OnSceneChanged(name, version);
}

}  // namespace carom::server
