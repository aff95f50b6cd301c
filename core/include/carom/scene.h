// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a scene, and how does it change?
//
// `Scene` is an immutable, versioned set of polygons with an index. Queries (carom/cast.h,
// locate.h, overlap.h) read one snapshot; an edit makes another snapshot, which shares all
// unchanged data. Start with `Scene::Create`, then `Scene::Commit`.
//
//   const Scene::Ptr first = Scene::Create({polygon}, 1).value();
//   const Scene::Ptr second = first->Commit({RemovePolygon{7}}, 2).value();
//   // second->polygon_count() == 0
//   // first->polygon_count() == 1: a commit does not change the first snapshot
//
// Lengths are in the unit of the caller's coordinates. Error: none, polygons are kept as given.
// Cost: O(n log n) to create a scene of n polygons; for edits see `Commit`. Thread-safe. Cheaper
// alternative: carom/convex.h or carom/covering.h for one polygon. More powerful: carom/group.h,
// which answers all questions of a tick at once.
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
// Returns, for the bundle reader, a scene with the index `index` and an empty edit history.
std::shared_ptr<const Scene> SceneOf(std::unique_ptr<const SceneIndex> index, uint64_t version);
}  // namespace internal

// The kinds of change in a commit: `SceneEdit` is one of these three.
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

// The limits that `Scene::Create` and `Scene::Commit` enforce.
struct SceneLimits {
  size_t max_polygons = 4194304;
  size_t max_vertices = 16777216;

  // Returns OK, or RESOURCE_EXHAUSTED naming `polygons` and the limit. A caller that counts a scene
  // before it has all of the scene can stop early.
  absl::Status Check(size_t polygons, size_t vertices) const;
};

// How `Scene::Create` divides its work, because the library starts no threads. `run(parts, work)`
// calls work(0) to work(parts - 1), in any order and possibly concurrently, and returns when all
// calls have returned. If `between` is set, each call of `work` calls it between pieces of work of
// ten to a hundred microseconds, for example to yield the processor to another thread. The scene
// does not depend on the workers.
struct Workers {
  size_t parts = 1;  // number of calls that may run concurrently, at least 1
  std::function<void(size_t parts, const std::function<void(size_t)>& work)> run =
      [](size_t parts, const std::function<void(size_t)>& work) {
        for (size_t i = 0; i < parts; ++i) work(i);
      };
  std::function<void()> between = {};
};

// An immutable snapshot of a set of polygons. Thread-safe; readers take no lock. Shared by
// reference count: a `Ptr` keeps its snapshot alive, whatever is committed meanwhile.
class Scene {
 public:
  using Ptr = std::shared_ptr<const Scene>;

  // Creates a scene of `polygons`. `version` is the caller's number for the scene; the library only
  // returns it.
  //
  // Errors: INVALID_ARGUMENT naming `polygons[i].id` for each id that occurs twice (the first 16
  // and their number); RESOURCE_EXHAUSTED if the scene is over `limits`. Cost: O(n log n) for n
  // polygons, divided among `workers`.
  static absl::StatusOr<Ptr> Create(std::vector<Polygon> polygons, uint64_t version = 1,
                                    const SceneLimits& limits = {}, const Workers& workers = {});

  // Returns the scene after all of `edits`, or an error; this scene stays unchanged.
  //
  // Errors name the first 16 violations as `edits[i]...` and their number: INVALID_ARGUMENT for an
  // id that occurs twice in one commit; ALREADY_EXISTS for an added id that exists; NOT_FOUND for a
  // replaced or removed id that does not exist; RESOURCE_EXHAUSTED if the result is over `limits`.
  // If violations of several codes occur, the status has the code that is first in this list. An
  // empty list of edits makes an equal scene with the version `version`.
  //
  // Cost: each edit rewrites pages of some hundred polygons, and each other page costs a few words.
  // When the scene has doubled its extent, or when half of it is edited, the cost is that of
  // `Create`.
  absl::StatusOr<Ptr> Commit(std::vector<SceneEdit> edits, uint64_t version,
                             const SceneLimits& limits = {}) const;

  // Returns the error of `Commit` with these edits; OK if it succeeds. O(edits).
  absl::Status CheckCommit(std::span<const SceneEdit> edits, const SceneLimits& limits = {}) const;

  // Returns whether `Commit` with these edits rebuilds the index. A rebuild takes as long as
  // `Create`, and the two scenes then share nothing but polygons. It happens if there are more
  // edits than half of the polygons, or if an added or replacing polygon lies outside of twice the
  // extent that the scene was created with. O(edits).
  bool IsRebuiltBy(std::span<const SceneEdit> edits) const;

  // Returns this scene with another version number, in shared memory. O(1).
  Ptr WithVersion(uint64_t version) const;

  // Returns about how many bytes this scene takes that `base` does not take. For a scene made from
  // `base` by edits: the pages of the index that were rebuilt, and the grid squares that queries
  // will rebuild; not the polygons that the edits added. 0 if the scenes share all memory. O(n /
  // 512) for n polygons.
  size_t BytesBeyond(const Scene& base) const;

  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  uint64_t version() const { return version_; }
  size_t polygon_count() const;
  size_t vertex_count() const;
  const Box& bounds() const;

  // Returns the polygon with the id `id`, or null. O(log n).
  const Polygon* Find(uint64_t id) const;
  // Returns polygon `index` in [0, polygon_count()), in ascending order of ids.
  const Polygon& polygon(size_t index) const;

  // Return the index and the edits for the query code of the library. Not part of the stable
  // interface.
  const internal::SceneIndex& index() const { return *index_; }
  const internal::EditHistory& history() const { return *history_; }

 private:
  friend Ptr internal::SceneOf(std::unique_ptr<const internal::SceneIndex> index, uint64_t version);

  Scene(std::shared_ptr<const internal::SceneIndex> index,
        std::shared_ptr<const internal::EditHistory> history, uint64_t version);

  uint64_t version_;
  // Shared with the scenes that `WithVersion` returns.
  std::shared_ptr<const internal::SceneIndex> index_;
  std::shared_ptr<const internal::EditHistory> history_;
};

}  // namespace carom
