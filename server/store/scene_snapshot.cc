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

// Estimated bytes of the index that an edit copies: a tile and a page of ids, of some hundred
// polygons each, and a few words for each other page of the scene; at most the whole index.
constexpr uint64_t kEditBytes = 64 << 10;
constexpr uint64_t kIndexBytesAPolygon = 160;

// Returns the bytes of the index of `before` that `after` does not share. A rebuilt index shares
// nothing.
uint64_t IndexBytes(const Scene& before, const Scene& after, uint64_t edits) {
  const uint64_t polygons = before.polygon_count();
  const uint64_t copied =
      std::max<uint64_t>(edits * kEditBytes + polygons / 2, before.BytesBeyond(after));
  return std::min(copied, polygons * kIndexBytesAPolygon);
}

}  // namespace

// Charges the versions of a line: the newest version with all its polygons, and each older version
// with the polygons that the next one does not have. A removed polygon never returns, so this
// covers all polygons of all versions.
class SceneSnapshot::VersionLine {
 public:
  // A polygon that a version has and the next existing version does not have. The address
  // identifies the polygon in older versions, which share it.
  struct RemovedPolygon {
    uint64_t id;
    const void* address;
    uint64_t bytes;
  };

  explicit VersionLine(MemoryCharge charge) : charge_(std::move(charge)) {}

  // Adds the first version.
  void Begin(const Scene& scene) {
    absl::MutexLock lock(&mu_);
    versions_.emplace(scene.version(), Version{.scene = &scene, .bytes = charge_.bytes()});
  }

  // Adds the version after the newest one. `removed` has the polygons, and `index_bytes` is the
  // bytes of the index, that the newest one has and the added one does not.
  void Follow(const Scene& scene, std::vector<RemovedPolygon> removed, uint64_t index_bytes,
              MemoryCharge added) {
    absl::MutexLock lock(&mu_);
    const auto before = std::prev(versions_.end());
    Version next{.scene = &scene, .bytes = before->second.bytes + added.bytes()};
    uint64_t removed_bytes = 0;
    for (const RemovedPolygon& polygon : removed) removed_bytes += polygon.bytes;
    next.bytes -= removed_bytes;
    versions_.emplace_hint(versions_.end(), scene.version(), std::move(next));
    // The statements below cannot fail.
    Version& older = std::prev(versions_.end(), 2)->second;
    older.removed = std::move(removed);
    older.removed_bytes = removed_bytes;
    older.index_bytes = index_bytes;
    charge_.Join(std::move(added));
    charge_.Set(charge_.bytes() + older.index_bytes);
  }

  // Removes a version. Returns the charge of everything that no other version has, for the caller
  // to release once the scene is destroyed.
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
    // The members below are empty for the newest version.
    std::vector<RemovedPolygon> removed = {};
    uint64_t removed_bytes = 0;
    uint64_t index_bytes = 0;  // bytes of the index that the next version does not share

    uint64_t OwnBytes() const { return removed_bytes + index_bytes; }
    void BecomeNewest() {
      removed = {};
      removed_bytes = index_bytes = 0;
    }
    // Takes over the polygons and the index that `next` has and the version after `next` does not
    // have, because `next` is removed.
    void TakeOver(const Version& next) {
      index_bytes =
          std::min(index_bytes + next.index_bytes, scene->polygon_count() * kIndexBytesAPolygon);
      for (const RemovedPolygon& polygon : next.removed) {
        const Polygon* const own = scene->Find(polygon.id);
        if (own == nullptr || own->memory() != polygon.address) continue;
        removed_bytes += polygon.bytes;
        try {
          removed.push_back(polygon);
        } catch (const std::bad_alloc&) {  // NOLINT: it counts until this version goes
        }
      }
    }
  };

  absl::Mutex mu_;  // acquired after any other lock
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

// Releases the charge after the scene is destroyed. The version leaves its line first, because
// other versions read its scene until then.
SceneSnapshot::~SceneSnapshot() {
  const MemoryCharge freed = line_->Leave(scene_->version());
  scene_.reset();
}

}  // namespace carom::server
