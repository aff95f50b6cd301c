// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did a version of a scene change?
//
// A `SceneChange` is the difference of two versions that follow each other, polygon by polygon. It
// is a list where that is short; where much changed, it is the two scenes, which are compared as
// the difference is read (`ChangeCursor`), so that an import makes no second copy of what it
// brings.
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

// What a polygon of a scene takes, about, its part of the index included.
uint64_t BytesOf(const Polygon& polygon);
// What an edit brings; null if it removes.
const Polygon* PolygonOf(const SceneEdit& edit);
// The same of one that is not yet complete.
uint64_t BytesOf(size_t rings, size_t vertices);

// The id that an edit is about.
uint64_t IdOf(const SceneEdit& edit);

// Whether two polygons differ in nothing.
bool AreEqual(const Polygon& a, const Polygon& b);

enum class ChangeKind : uint8_t { kAdded, kReplaced, kRemoved };

struct PolygonChange {
  uint64_t id = 0;
  ChangeKind kind = ChangeKind::kAdded;
  Box bounds;                      // of the polygon as it was and as it is
  std::optional<Polygon> polygon;  // as it is; none: it is removed
};

// The change of a polygon that was `before` and is `after`, either of them null if it is not there.
// None if they are equal.
std::optional<PolygonChange> ChangeOf(const Polygon* before, const Polygon* after);

struct SceneChange {
  using Ptr = std::shared_ptr<const SceneChange>;

  VersionSummary summary;  // of the version that it made
  uint64_t base = 0;       // the version before; 0: none, and all polygons are added
  // Ascending by id; or what they are the difference of, `before` null for no polygons.
  std::vector<PolygonChange> list;
  Scene::Ptr before;
  Scene::Ptr after;  // null: `list` it is
  // Edits made it: the two versions share all that is neither in the list nor replaced by an equal
  // polygon, as these are.
  bool is_by_edits = false;
  std::vector<uint64_t> equal_ids;
  uint64_t bytes = 0;
  MemoryCharge charge;   // of the list
  bool is_kept = false;  // by the store, for watches that come by later
};

// Goes over a change. Not thread-safe.
class ChangeCursor {
 public:
  ChangeCursor() = default;  // at the end
  explicit ChangeCursor(SceneChange::Ptr change);

  // The change that it stands at; null at the end.
  const PolygonChange* current() const { return compared_.has_value() ? &*compared_ : listed_; }
  // Cost: O(1); of two scenes, the polygons up to the next one that differs.
  void Next();

 private:
  SceneChange::Ptr change_;
  const PolygonChange* listed_ = nullptr;
  size_t next_ = 0;         // of the list
  size_t next_before_ = 0;  // polygons of the two scenes
  size_t next_after_ = 0;
  std::optional<PolygonChange> compared_;
};

// The changes by `edits`, which made `after` of `before`.
std::vector<PolygonChange> ChangesOf(const Scene& before, const Scene& after,
                                     std::span<const SceneEdit> edits);

// How much memory the entries of a list take.
uint64_t BytesOf(const PolygonChange& change);
uint64_t BytesOf(std::span<const PolygonChange> changes);

}  // namespace carom::server
