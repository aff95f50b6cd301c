// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did a version of a scene change?
//
// A `SceneChange` is the difference of two consecutive versions, polygon by polygon. A small change
// is a list of changed polygons. A large change refers to the two versions instead, and a
// `ChangeCursor` compares the two versions as it advances, so that an import makes no second copy
// of its polygons.
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

// Returns the approximate bytes of a polygon in a scene, including its part of the index.
uint64_t BytesOf(const Polygon& polygon);
// Returns the polygon that an edit adds or replaces; null for a removal.
const Polygon* PolygonOf(const SceneEdit& edit);
// Returns the approximate bytes of a polygon in a scene from its numbers of rings and vertices, for
// a polygon that is not yet complete.
uint64_t BytesOf(size_t rings, size_t vertices);

// Returns the id of the polygon that an edit changes.
uint64_t IdOf(const SceneEdit& edit);

// Returns whether two polygons are equal, including their ids and user data.
bool AreEqual(const Polygon& a, const Polygon& b);

enum class ChangeKind : uint8_t { kAdded, kReplaced, kRemoved };

struct PolygonChange {
  uint64_t id = 0;
  ChangeKind kind = ChangeKind::kAdded;
  Box bounds;                      // least box around the old and the new polygon
  std::optional<Polygon> polygon;  // the polygon after the change; none: it was removed
};

// Returns the change from polygon `before` to polygon `after`, either of which is null if the
// polygon does not exist. None if the two polygons are equal.
std::optional<PolygonChange> ChangeOf(const Polygon* before, const Polygon* after);

struct SceneChange {
  using Ptr = std::shared_ptr<const SceneChange>;

  VersionSummary summary;  // summary of the version that the change made
  // number of the preceding version; 0: none exists, and the change adds all polygons
  uint64_t base = 0;
  // The changed polygons, by ascending id, if `after` is null. Otherwise the change is the
  // difference between `before` (null: no polygons) and `after`.
  std::vector<PolygonChange> list;
  Scene::Ptr before;
  Scene::Ptr after;  // null: `list` is the change
  // True if edits made the change: the two versions then share the memory of all polygons, except
  // for the polygons in `list`, and for those in `equal_ids`, which edits replaced by equal
  // polygons.
  bool is_by_edits = false;
  std::vector<uint64_t> equal_ids;
  uint64_t bytes = 0;
  MemoryCharge charge;   // accounts for the memory of `list`
  bool is_kept = false;  // the store keeps the change in memory, for WatchScene
};

// Visits the changed polygons of a `SceneChange`, by ascending id. Not thread-safe.
class ChangeCursor {
 public:
  ChangeCursor() = default;  // a cursor at its end, without a change
  explicit ChangeCursor(SceneChange::Ptr change);

  // Returns the change of the current polygon; null at the end.
  const PolygonChange* current() const { return compared_.has_value() ? &*compared_ : listed_; }
  // Moves to the next changed polygon. Cost: O(1) for a list; for two scenes, the number of
  // polygons up to the next one that differs.
  void Next();

 private:
  SceneChange::Ptr change_;
  const PolygonChange* listed_ = nullptr;
  size_t next_ = 0;  // index of the next polygon in `SceneChange::list`
  // index of the next polygon in `SceneChange::before`, and in `SceneChange::after`
  size_t next_before_ = 0;
  size_t next_after_ = 0;
  std::optional<PolygonChange> compared_;
};

// Returns the changes that `edits` made from `before` to `after`, by ascending id.
std::vector<PolygonChange> ChangesOf(const Scene& before, const Scene& after,
                                     std::span<const SceneEdit> edits);

// Returns the approximate bytes that one changed polygon takes in a `SceneChange`, or that a
// `SceneChange` with the list `changes` takes.
uint64_t BytesOf(const PolygonChange& change);
uint64_t BytesOf(std::span<const PolygonChange> changes);

}  // namespace carom::server
