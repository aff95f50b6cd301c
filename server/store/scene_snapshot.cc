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

// What an edit copies of the index: a tile and a page of ids, of some hundred polygons each, and
// for each other page of the scene a few words. In all no more than the index has.
constexpr uint64_t kEditBytes = 64 << 10;
constexpr uint64_t kIndexBytesAPolygon = 160;

// Of an index that was made anew, whatever the edits, nothing is shared.
uint64_t IndexBytes(const Scene& before, const Scene& after, uint64_t edits) {
  const uint64_t polygons = before.polygon_count();
  const uint64_t copied =
      std::max<uint64_t>(edits * kEditBytes + polygons / 2, before.BytesBeyond(after));
  return std::min(copied, polygons * kIndexBytesAPolygon);
}

}  // namespace

// The line takes what its newest version does, and of each older one what the next one does not
// have. Polygons that went never come back, so that is all of what the versions have.
class SceneSnapshot::Line {
 public:
  // A polygon that a version has and the next one that is there does not. By its address it is
  // known in older ones, which had it before.
  struct Gone {
    uint64_t id;
    const void* address;
    uint64_t bytes;
  };

  explicit Line(MemoryCharge charge) : charge_(std::move(charge)) {}

  // The first version.
  void Begin(const Scene& scene) {
    absl::MutexLock lock(&mu_);
    versions_.emplace(scene.version(), Version{.scene = &scene, .bytes = charge_.bytes()});
  }

  // Another one. Of the newest so far it does not have what is gone, and so much of the index.
  void Follow(const Scene& scene, std::vector<Gone> gone, uint64_t index_bytes,
              MemoryCharge added) {
    absl::MutexLock lock(&mu_);
    const auto before = std::prev(versions_.end());
    Version next{.scene = &scene, .bytes = before->second.bytes + added.bytes()};
    uint64_t gone_bytes = 0;
    for (const Gone& polygon : gone) gone_bytes += polygon.bytes;
    next.bytes -= gone_bytes;
    versions_.emplace_hint(versions_.end(), scene.version(), std::move(next));
    // Nothing fails from here on.
    Version& older = std::prev(versions_.end(), 2)->second;
    older.gone = std::move(gone);
    older.gone_bytes = gone_bytes;
    older.index_bytes = index_bytes;
    charge_.Join(std::move(added));
    charge_.Set(charge_.bytes() + older.index_bytes);
  }

  // A version goes. Returns what nobody has then, to be given back once it is gone.
  MemoryCharge Leave(uint64_t version) {
    absl::MutexLock lock(&mu_);
    const auto it = versions_.find(version);
    if (it == versions_.end()) return {};  // it could not be added
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
    uint64_t bytes;  // of all its polygons
    // Of one that is not the newest.
    std::vector<Gone> gone = {};
    uint64_t gone_bytes = 0;
    uint64_t index_bytes = 0;  // that it does not share with the next one

    uint64_t OwnBytes() const { return gone_bytes + index_bytes; }
    void BecomeNewest() {
      gone = {};
      gone_bytes = index_bytes = 0;
    }
    // What the next version had, which goes, and the one after that does not.
    void TakeOver(const Version& next) {
      index_bytes =
          std::min(index_bytes + next.index_bytes, scene->polygon_count() * kIndexBytesAPolygon);
      for (const Gone& polygon : next.gone) {
        const Polygon* const own = scene->Find(polygon.id);
        if (own == nullptr || own->memory() != polygon.address) continue;
        gone_bytes += polygon.bytes;
        try {
          gone.push_back(polygon);
        } catch (const std::bad_alloc&) {  // NOLINT: it counts until this version goes
        }
      }
    }
  };

  absl::Mutex mu_;  // after any other
  MemoryCharge charge_ ABSL_GUARDED_BY(mu_);
  absl::btree_map<uint64_t, Version> versions_ ABSL_GUARDED_BY(mu_);
};

SceneSnapshot::Ptr SceneSnapshot::Create(Scene::Ptr scene, MemoryCharge charge) {
  auto line = std::make_shared<Line>(std::move(charge));
  Ptr snapshot(new SceneSnapshot(line, std::move(scene)));
  line->Begin(*snapshot->scene_);
  return snapshot;
}

SceneSnapshot::Ptr SceneSnapshot::Follow(const Ptr& before, Scene::Ptr scene,
                                         std::span<const SceneEdit> edits, MemoryCharge added) {
  std::vector<Line::Gone> gone;
  for (const SceneEdit& edit : edits) {
    if (std::holds_alternative<AddPolygon>(edit)) continue;
    const Polygon* const old = before->scene_->Find(IdOf(edit));
    if (old != nullptr) gone.push_back({old->id(), old->memory(), BytesOf(*old)});
  }
  Ptr snapshot(new SceneSnapshot(before->line_, std::move(scene)));
  const uint64_t index_bytes = IndexBytes(*before->scene_, *snapshot->scene_, edits.size());
  before->line_->Follow(*snapshot->scene_, std::move(gone), index_bytes, std::move(added));
  return snapshot;
}

// Given back after the scene is gone. Other versions look into it until it has left their line.
SceneSnapshot::~SceneSnapshot() {
  const MemoryCharge freed = line_->Leave(scene_->version());
  scene_.reset();
}

}  // namespace carom::server
