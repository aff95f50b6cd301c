// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did a version of a scene change?
//
// A `SceneChange` is the difference of two consecutive versions of a scene, polygon by polygon. A
// small change lists the changed polygons. A large change, such as that of an import, refers to the
// two versions instead, so that it needs no copy of the polygons; a `ChangeCursor` then compares
// the two versions as it advances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "server/base/memory_account.h"
#include "server/store/scene_journal.h"

namespace carom::server {

// Returns the approximate bytes that a polygon takes in a scene, including its entries in the
// scene's spatial index.
uint64_t BytesOf(const Polygon& polygon);
// Returns the polygon that an edit adds, or puts in place of another polygon; null if the edit
// removes a polygon.
const Polygon* PolygonOf(const SceneEdit& edit);
// Returns the approximate bytes that a polygon of `rings` rings and `vertices` vertices takes in a
// scene, without user data. Used for a polygon of which only a part has been received.
uint64_t BytesOf(size_t rings, size_t vertices);

// Returns the id of the polygon that an edit adds, replaces or removes.
uint64_t IdOf(const SceneEdit& edit);

// Returns whether two polygons are equal, including their ids and user data.
bool AreEqual(const Polygon& a, const Polygon& b);

enum class ChangeKind : uint8_t { kAdded, kReplaced, kRemoved };

struct PolygonChange {
  uint64_t id = 0;
  ChangeKind kind = ChangeKind::kAdded;
  Box bounds;                      // least box around both the old and the new polygon
  std::optional<Polygon> polygon;  // the new polygon; none: the change removed it
};

// Returns the change of a polygon from `before` (null: the change adds the polygon) to `after`
// (null: the change removes the polygon). None if the two polygons are equal, or if both are null.
std::optional<PolygonChange> ChangeOf(const Polygon* before, const Polygon* after);

// The difference between two consecutive versions of a scene, polygon by polygon: a list of changed
// polygons, or references to the scenes of both versions.
struct SceneChange {
  using Ptr = std::shared_ptr<const SceneChange>;

  VersionSummary summary;  // summary of the version that the change made
  // number of the version before the change; 0: there was none, and the change adds all polygons
  uint64_t base = 0;
  // The changed polygons, by ascending id, if `after` is null. Otherwise the change is the
  // difference between `before` (null: no polygons) and `after`.
  std::vector<PolygonChange> list;
  Scene::Ptr before;
  Scene::Ptr after;  // null: `list` holds the change
  // True if edits made the change, and not an import or a rollback. The versions before and after
  // the change then share the memory of all polygons but those in `list` and those with ids in
  // `equal_ids`, which edits replaced by polygons with equal contents.
  bool is_by_edits = false;
  std::vector<uint64_t> equal_ids;
  uint64_t bytes = 0;    // approximate bytes of a change that `list` holds; else 0
  MemoryCharge charge;   // accounts for the memory of `list`
  bool is_kept = false;  // the store keeps this change for WatchScene calls
};

// Iterates over the changed polygons of a `SceneChange`, by ascending id. Not thread-safe.
class ChangeCursor {
 public:
  ChangeCursor() = default;  // a cursor that is at its end
  explicit ChangeCursor(SceneChange::Ptr change);

  // Returns the change of the polygon at which the cursor is; null at the end.
  const PolygonChange* current() const { return compared_.has_value() ? &*compared_ : listed_; }
  // Moves to the next changed polygon. Cost: O(1) if the change is a list of polygons. If it refers
  // to two scenes, the time is proportional to the number of polygons up to the next one that
  // differs between the scenes.
  void Next();

 private:
  SceneChange::Ptr change_;
  const PolygonChange* listed_ = nullptr;
  size_t next_ = 0;  // index of the next polygon in `SceneChange::list`
  // indices of the next polygons to compare in `SceneChange::before` and in `SceneChange::after`
  size_t next_before_ = 0;
  size_t next_after_ = 0;
  std::optional<PolygonChange> compared_;
};

// Returns the changed polygons, by ascending id, of the change from `before` to `after`. `after`
// must be the result of applying `edits` to `before`.
std::vector<PolygonChange> ChangesOf(const Scene& before, const Scene& after,
                                     std::span<const SceneEdit> edits);

// The first function returns the approximate bytes that one changed polygon takes in a
// `SceneChange`, the second those of a whole `SceneChange` with the list `changes`.
uint64_t BytesOf(const PolygonChange& change);
uint64_t BytesOf(std::span<const PolygonChange> changes);

}  // namespace carom::server
