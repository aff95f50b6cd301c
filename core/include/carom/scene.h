// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a scene, and how does it change?
//
// `Scene` is an immutable, versioned set of polygons with an index. Queries (carom/cast.h,
// locate.h, overlap.h) read one snapshot; an edit makes another snapshot that shares what did not
// change. Start with `Scene::Create`, then `Scene::Commit`.
//
//   const Scene::Ptr first = Scene::Create({polygon}, 1).value();
//   const Scene::Ptr second = first->Commit({RemovePolygon{7}}, 2).value();
//   // second->polygon_count() == 0
//   // first->polygon_count() == 1: whoever reads the first snapshot is not disturbed
//
// Lengths are in the unit of the caller's coordinates. Error: none, polygons are kept as given.
// Cost: O(n log n) to create, n the polygons; `Commit` as it says. Thread-safe. Cheaper:
// carom/convex.h or carom/covering.h for one polygon; richer: carom/group.h, all questions of a
// tick at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom {

class Scene;

namespace internal {
class EditHistory;
class SceneIndex;
// For the bundle reader: the scene without a past that has this index.
std::shared_ptr<const Scene> SceneOf(std::unique_ptr<const SceneIndex> index, uint64_t version);
}  // namespace internal

// One change in a commit.
struct AddPolygon {
  Polygon polygon;
};
struct ReplacePolygon {
  Polygon polygon;
};
struct RemovePolygon {
  uint64_t id = 0;
};
using SceneEdit = std::variant<AddPolygon, ReplacePolygon, RemovePolygon>;

// The caps that `Scene::Create` and `Scene::Commit` enforce.
struct SceneLimits {
  size_t max_polygons = 4194304;
  size_t max_vertices = 16777216;

  // OK, or RESOURCE_EXHAUSTED naming `polygons` and the limit. For whoever counts a scene before it
  // has all of it, to stop early.
  absl::Status Check(size_t polygons, size_t vertices) const;
};

// How `Scene::Create` shares its work, for the library starts no threads: `run(parts, work)` calls
// work(0) to work(parts - 1), in any order, perhaps at the same time, and returns when all are
// done. Each of those that work calls `between` between pieces of some ten to a hundred
// microseconds, if it is there: such as to let another thread have the processor. What is made does
// not depend on any of it.
struct Workers {
  size_t parts = 1;  // as many as may run at the same time, at least 1
  std::function<void(size_t parts, const std::function<void(size_t)>& work)> run =
      [](size_t parts, const std::function<void(size_t)>& work) {
        for (size_t i = 0; i < parts; ++i) work(i);
      };
  std::function<void()> between = {};
};

// An immutable snapshot. Thread-safe; readers take no lock. Shared by reference count: whoever
// holds the pointer keeps the snapshot alive, whatever is committed meanwhile.
class Scene {
 public:
  using Ptr = std::shared_ptr<const Scene>;

  // A scene of `polygons`. `version` is the caller's number for it; the library only echoes it.
  //
  // Errors: INVALID_ARGUMENT naming `polygons[i].id` for each id that occurs twice (the first 16
  // and their number); RESOURCE_EXHAUSTED over `limits`. Cost O(n log n) in the polygons, shared by
  // `workers`.
  static absl::StatusOr<Ptr> Create(std::vector<Polygon> polygons, uint64_t version = 1,
                                    const SceneLimits& limits = {}, const Workers& workers = {});

  // The scene after all of `edits`, or an error and no change at all. This scene is untouched.
  //
  // Errors, naming the first 16 offences as `edits[i]...` and their number: INVALID_ARGUMENT for
  // an id that occurs twice in one commit; ALREADY_EXISTS for an added id that is there; NOT_FOUND
  // for a replaced or removed id that is not; RESOURCE_EXHAUSTED over `limits`. Where kinds mix,
  // the first in this list that occurs. An empty list makes an equal scene under the new version.
  //
  // Cost: pages of some hundred polygons for each edit, and a few words for each other page; now
  // and then, when the scene has doubled its extent or half of it is edited, that of `Create`.
  absl::StatusOr<Ptr> Commit(std::vector<SceneEdit> edits, uint64_t version,
                             const SceneLimits& limits = {}) const;

  // What `Commit` of these edits would refuse; else OK. O(edits).
  absl::Status CheckCommit(std::span<const SceneEdit> edits, const SceneLimits& limits = {}) const;

  // Whether `Commit` of these edits makes the index anew, which takes as long as `Create` and
  // shares nothing but the polygons: they are more than half of the polygons, or one lies outside
  // of twice the extent that the scene was made with. O(edits).
  bool IsRebuiltBy(std::span<const SceneEdit> edits) const;

  // This scene under another version number, on the same memory. O(1).
  Ptr WithVersion(uint64_t version) const;

  // Bytes, about, that this scene takes and `base` does not: of one that was made from `base` by
  // edits, the pages of the index that were made anew, and squares that queries will make again;
  // not the polygons that the edits brought. 0 if the two share all. O(n / 512), n the polygons.
  size_t BytesBeyond(const Scene& base) const;

  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  uint64_t version() const { return version_; }
  size_t polygon_count() const;
  size_t vertex_count() const;
  const Box& bounds() const;

  // The polygon with this id, or null. O(log n).
  const Polygon* Find(uint64_t id) const;
  // Polygon `index` in [0, polygon_count()), by ascending id.
  const Polygon& polygon(size_t index) const;

  // For the query sources of the library. Not part of the stable interface.
  const internal::SceneIndex& index() const { return *index_; }
  const internal::EditHistory& history() const { return *history_; }

 private:
  friend Ptr internal::SceneOf(std::unique_ptr<const internal::SceneIndex> index, uint64_t version);

  Scene(std::shared_ptr<const internal::SceneIndex> index,
        std::shared_ptr<const internal::EditHistory> history, uint64_t version);

  uint64_t version_;
  // Shared with the same scene of other versions.
  std::shared_ptr<const internal::SceneIndex> index_;
  std::shared_ptr<const internal::EditHistory> history_;
};

}  // namespace carom
