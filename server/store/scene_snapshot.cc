// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/scene_snapshot.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"
#include "server/store/scene_change.h"

namespace carom::server {
namespace {

// An estimate of the bytes of the spatial index that one edit copies: a tile, which is a group of
// at most 1024 neighboring polygons, and a page of polygon ids. Edits never copy more than the
// whole index.
constexpr uint64_t kEditBytes = 64 << 10;

// Returns the estimated bytes of the spatial index of `before` that `after` does not share, where
// `edits` is the number of edits that made `after` from `before`. At most the bytes of the whole
// index, which is not shared at all if the edits made the scene build its index anew.
uint64_t IndexBytes(const Scene& before, const Scene& after, uint64_t edits) {
  const uint64_t polygons = before.polygon_count();
  const uint64_t copied =
      std::max<uint64_t>(edits * kEditBytes + polygons / 2, before.BytesBeyond(after));
  return std::min(copied, polygons * kIndexBytesAPolygon);
}

}  // namespace

// Charges the memory of consecutive versions of a scene, where edits made each version from the
// preceding one. Charges all polygons of the newest version and, for each older version, the
// polygons that the next version does not have. This counts each polygon once, because a polygon
// that edits removed is in no later version.
class SceneSnapshot::VersionLine {
 public:
  // A polygon of an older version in `versions_` that the next version in `versions_` does not
  // have. `address` is the address of the polygon's memory: a polygon of another version with this
  // address is the same, shared polygon.
  struct RemovedPolygon {
    uint64_t id;
    const void* address;
    uint64_t bytes;
  };

  explicit VersionLine(MemoryCharge charge) : charge_(std::move(charge)) {}

  // Adds `scene` as the first version.
  void Begin(const Scene& scene) {
    absl::MutexLock lock(&mu_);
    versions_.emplace(scene.version(), Version{.scene = &scene, .bytes = charge_.bytes()});
  }

  // Adds `scene` as the newest version. `before` is the version that was newest before. `removed`
  // lists the polygons of `before` that `scene` does not have, `index_bytes` is the size of the
  // pages of the spatial index of `before` that `scene` does not have, and `added` is the charge of
  // the polygons that the edits added.
  void Follow(const Scene& scene, std::vector<RemovedPolygon> removed, uint64_t index_bytes,
              MemoryCharge added) {
    absl::MutexLock lock(&mu_);
    const auto before = std::prev(versions_.end());
    Version next{.scene = &scene, .bytes = before->second.bytes + added.bytes()};
    uint64_t removed_bytes = 0;
    for (const RemovedPolygon& polygon : removed) removed_bytes += polygon.bytes;
    next.bytes -= removed_bytes;
    versions_.emplace_hint(versions_.end(), scene.version(), std::move(next));
    // No statement below can throw, so the version is added completely or not at all.
    Version& older = std::prev(versions_.end(), 2)->second;
    older.removed = std::move(removed);
    older.removed_bytes = removed_bytes;
    older.index_bytes = index_bytes;
    charge_.Join(std::move(added));
    charge_.Set(charge_.bytes() + older.index_bytes);
  }

  // Removes the version with the number `version` from `versions_`. Returns the charge of the
  // memory of that version that no other version in `versions_` shares; the caller releases this
  // charge after it has destroyed the version's scene.
  MemoryCharge Leave(uint64_t version) {
    absl::MutexLock lock(&mu_);
    const auto it = versions_.find(version);
    if (it == versions_.end()) return {};  // the version was never added, because memory ran out
    const bool is_newest = std::next(it) == versions_.end();
    uint64_t freed = is_newest ? it->second.bytes : it->second.OwnBytes();
    if (it != versions_.begin()) {
      Version& older = std::prev(it)->second;
      const uint64_t before = older.OwnBytes();
      if (is_newest) {
        older.BecomeNewest();
        freed += before;
        freed -= std::min(freed, older.bytes);
      } else {
        older.TakeOver(it->second);
        freed -= std::min(freed, older.OwnBytes() - before);
      }
    }
    versions_.erase(it);
    return charge_.Split(freed);
  }

 private:
  struct Version {
    const Scene* scene;
    uint64_t bytes;  // bytes of all polygons of the version
    // polygons that this version has and the next version does not have; empty for the newest
    // version
    std::vector<RemovedPolygon> removed = {};
    uint64_t removed_bytes = 0;
    uint64_t index_bytes = 0;  // bytes of spatial index that the next version lacks

    uint64_t OwnBytes() const { return removed_bytes + index_bytes; }
    void BecomeNewest() {
      removed = {};
      removed_bytes = index_bytes = 0;
    }
    // Called when `next`, the version after this one, is removed from `versions_`. Adds to this
    // version's charge the polygons, and the part of the index, that this version shares with
    // `next` and that the version after `next` does not have.
    void TakeOver(const Version& next) {
      index_bytes =
          std::min(index_bytes + next.index_bytes, scene->polygon_count() * kIndexBytesAPolygon);
      for (const RemovedPolygon& polygon : next.removed) {
        const Polygon* const own = scene->Find(polygon.id);
        if (own == nullptr || own->memory() != polygon.address) continue;
        removed_bytes += polygon.bytes;
        try {
          removed.push_back(polygon);
        } catch (const std::bad_alloc&) {  // NOLINT: the bytes count until this version is removed
        }
      }
    }
  };

  absl::Mutex mu_;  // acquired after all other locks
  MemoryCharge charge_ ABSL_GUARDED_BY(mu_);
  absl::btree_map<uint64_t, Version> versions_ ABSL_GUARDED_BY(mu_);
};

SceneSnapshot::Ptr SceneSnapshot::Create(Scene::Ptr scene, MemoryCharge charge) {
  auto line = std::make_shared<VersionLine>(std::move(charge));
  Ptr snapshot(new SceneSnapshot(line, std::move(scene)));
  line->Begin(*snapshot->scene_);
  return snapshot;
}

SceneSnapshot::Ptr SceneSnapshot::Follow(const Ptr& before, Scene::Ptr scene,
                                         std::span<const SceneEdit> edits, MemoryCharge added) {
  std::vector<VersionLine::RemovedPolygon> removed;
  for (const SceneEdit& edit : edits) {
    if (std::holds_alternative<AddPolygon>(edit)) continue;
    const Polygon* const old = before->scene_->Find(IdOf(edit));
    if (old != nullptr) removed.push_back({old->id(), old->memory(), BytesOf(*old)});
  }
  Ptr snapshot(new SceneSnapshot(before->line_, std::move(scene)));
  const uint64_t index_bytes = IndexBytes(*before->scene_, *snapshot->scene_, edits.size());
  before->line_->Follow(*snapshot->scene_, std::move(removed), index_bytes, std::move(added));
  return snapshot;
}

// First removes this version from the `VersionLine`, because `Leave` for another version may read
// this version's scene until then. Then destroys the scene. Releases the charge `freed` last, so
// that the memory stays charged until it is free.
SceneSnapshot::~SceneSnapshot() {
  const MemoryCharge freed = line_->Leave(scene_->version());
  scene_.reset();
}

}  // namespace carom::server
