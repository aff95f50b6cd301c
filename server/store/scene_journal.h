// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where a store writes scenes down, so that they outlive the process.
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

namespace carom::server {

// What a store knows of a version without its polygons.
struct VersionSummary {
  uint64_t version = 0;
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  Box bounds;
  std::string edit_id;          // of the commit that made it, if the client gave one
  int64_t created_us = 0;       // since 1970, UTC
  bool follows_damage = false;  // what is stored of the version before it is damaged
};

// A scene as it was written down last.
struct SavedScene {
  std::string name;
  std::vector<VersionSummary> versions;  // ascending; the last one is current
  std::vector<Polygon> polygons;         // of that one
  absl::Status status;  // DATA_LOSS: what is stored is damaged, and there are no polygons
};

// What came of a change that was written down.
struct Written {
  uint64_t version = 0;  // its number: that of the summary, unless the journal gives numbers itself
  uint64_t oldest = 0;   // version that is kept from here on
};

// Thread-safe, but writers of one scene come one after the other. Each function that writes returns
// once the change will survive the end of the process and of the system, or made none; it blocks
// meanwhile.
class SceneJournal {
 public:
  virtual ~SceneJournal() = default;

  // All scenes, once, before anything else. Errors are of the journal as a whole.
  virtual absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) = 0;
  // The greatest version that was ever written. After `Recover`.
  virtual uint64_t last_version() const = 0;

  // The scene has these polygons, whatever it had.
  virtual absl::StatusOr<Written> Replace(absl::string_view name, const Scene& scene,
                                          const VersionSummary& summary) = 0;
  // The scene has changed by these edits.
  virtual absl::StatusOr<Written> Edit(absl::string_view name, absl::Span<const SceneEdit> edits,
                                       const VersionSummary& summary) = 0;
  // An old version, which is kept, is current again, as `summary`.
  virtual absl::StatusOr<Written> Restore(absl::string_view name, uint64_t version,
                                          const VersionSummary& summary) = 0;
  virtual absl::Status Delete(absl::string_view name) = 0;

  // The polygons of a version that is kept, by ascending id, until `visit` fails; on another
  // thread. OUT_OF_RANGE if it is not kept.
  virtual absl::Status Load(absl::string_view name, uint64_t version,
                            absl::FunctionRef<absl::Status(Polygon)> visit) = 0;

  // The polygons in which two versions that are kept differ, by ascending id, null where they are
  // not there, until `visit` fails; on another thread. Equal ones may be among them. OUT_OF_RANGE
  // if one of the two is not kept.
  virtual absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) = 0;
};

}  // namespace carom::server
