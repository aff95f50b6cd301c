// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do scenes survive the end of the process?
//
// A store of scenes writes every change to a `SceneJournal`, which is durable storage. When the
// server starts again, the store loads all scenes from the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "server/base/metrics.h"

namespace carom::server {

// Summary of one version of a scene: everything but the version's polygons.
struct VersionSummary {
  uint64_t version = 0;
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  Box bounds;
  std::string edit_id;    // id that the client gave to the commit; empty: none
  std::string note = {};  // text of the client that imported the version; empty: none
  // time at which the version was made, in microseconds since 1970, UTC
  int64_t created_us = 0;
  // true: the stored data of the preceding version is damaged, so the difference between the
  // preceding version and this one is not known
  bool follows_damage = false;
};

// A scene as `SceneJournal::Recover` loads it.
struct SavedScene {
  std::string name;
  std::vector<VersionSummary> versions;  // ascending; the last one is current
  std::vector<Polygon> polygons;         // polygons of the current version
  absl::Status status;  // DATA_LOSS: the stored data is damaged, and `polygons` is empty
};

// Result of a change that the journal has made durable.
struct WriteResult {
  // number of the version that the change made: the caller's `summary.version`, unless the journal
  // assigns version numbers itself
  uint64_t version = 0;
  uint64_t oldest = 0;  // oldest version that the journal keeps of the scene
};

// Durable storage of scenes. Thread-safe, but two calls that change one scene must not run at the
// same time. A function that makes a change returns once the change is durable (survives a crash of
// the process or of the machine), or returns an error and changes nothing.
class SceneJournal {
 public:
  virtual ~SceneJournal() = default;

  // Calls `visit` for every stored scene. Must be called once, before any other function. Returns
  // an error if the journal as a whole cannot be read; damage of one scene is reported in
  // `SavedScene::status`.
  virtual absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) = 0;
  // Returns the greatest version number that any scene in the journal, even a deleted one, ever
  // had. Must be called after `Recover`.
  virtual uint64_t last_version() const = 0;
  // Makes the journal count what it writes. Must be called before any function that writes.
  virtual void set_metrics(Metrics&) {}

  // Creates the scene `name` with the polygons of `scene`, or replaces all its polygons. `summary`
  // describes the version that the call makes.
  virtual absl::StatusOr<WriteResult> Replace(absl::string_view name, const Scene& scene,
                                              const VersionSummary& summary) = 0;
  // Applies `edits` to the current version of the scene. `summary` describes the version that the
  // call makes.
  virtual absl::StatusOr<WriteResult> Edit(absl::string_view name,
                                           absl::Span<const SceneEdit> edits,
                                           const VersionSummary& summary) = 0;
  // Makes a version that has the polygons of the older version `version`, which the journal must
  // still keep. `summary` describes the version that the call makes.
  virtual absl::StatusOr<WriteResult> Restore(absl::string_view name, uint64_t version,
                                              const VersionSummary& summary) = 0;
  virtual absl::Status Delete(absl::string_view name) = 0;

  // Calls `visit` for the polygons of version `version`, by ascending id, until `visit` returns an
  // error. May be called while other threads change the scene. OUT_OF_RANGE if the journal does not
  // keep the version.
  virtual absl::Status Load(absl::string_view name, uint64_t version,
                            absl::FunctionRef<absl::Status(Polygon)> visit) = 0;

  // Calls `visit` for each polygon id under which the versions `before` and `after` differ, by
  // ascending id, with the polygon of each version (null: the version has no polygon with the id),
  // until `visit` returns an error. May call `visit` for two equal polygons, too. May be called
  // while other threads change the scene. OUT_OF_RANGE if the journal does not keep both versions.
  virtual absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) = 0;
};

}  // namespace carom::server
