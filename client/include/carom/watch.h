// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program follow a scene that others edit?
//
// A `SceneWatch` gives the versions of a scene as they are made, each with what it changed. It is
// made by `Client::WatchScene` (carom/client.h). To ask once: `Client::GetScene`; for all polygons
// of a version: `Client::ExportScene`.
//
//   auto watch = client->WatchScene("scenes/arena");
//   auto update = watch->Next();  // the current version; the next call waits for a commit
//   // update->scene.polygon_count == 1
//
// Lengths are in the unit of the caller's coordinates. Error: none, polygons come bit for bit.
// Cost: bytes O(n), n the polygons that changed, or their vertices. Thread-safe, but for two calls
// of `Next` at a time. Cheaper: `Client::GetScene` now and then; richer: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom {

// One version of a scene, without its polygons.
struct SceneSummary {
  std::string name;      // `scenes/{scene}`
  uint64_t version = 0;  // grows with every change; not consecutive
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  Box bounds;  // empty if the scene has no polygon
  // Of a fork, as ForkScene, GetScene and ListScenes give it: what it was made from. Else empty.
  std::string base = {};
  uint64_t base_version = 0;

  // Member by member; empty boxes are equal.
  friend bool operator==(const SceneSummary& a, const SceneSummary& b) {
    return a.name == b.name && a.version == b.version && a.polygon_count == b.polygon_count &&
           a.vertex_count == b.vertex_count && a.bounds.min == b.bounds.min &&
           a.bounds.max == b.bounds.max && a.base == b.base && a.base_version == b.base_version;
  }
};

// A version, and how it came about.
struct SceneVersion {
  SceneSummary scene;
  std::string edit_id;  // of the commit that made it; empty: it was no commit of edits
  std::chrono::sys_time<std::chrono::microseconds> created;
};

// What a version did to a polygon: it is not in the version before; it is in both and differs; it
// is in the version before alone.
enum class PolygonChange : uint8_t { kAdded, kReplaced, kRemoved };

struct PolygonUpdate {
  uint64_t id = 0;
  PolygonChange change = PolygonChange::kAdded;
  Box bounds;  // the least box that holds the polygon as it was and as it is
};

// A version that a watch gives.
struct SceneUpdate {
  SceneSummary scene;
  std::string edit_id;  // as in `SceneVersion`
  std::chrono::sys_time<std::chrono::microseconds> created;
  // The version that it was made from, which is that of the update before. 0: none; this is the
  // current version as a whole, with which a watch without `from_version` begins.
  uint64_t base_version = 0;
  std::vector<PolygonUpdate> changes;  // from that one, by ascending id
  // If the watch asks for them: those that were added or replaced, or all of them where
  // `base_version` is 0; by ascending id.
  std::vector<Polygon> polygons;
};

struct WatchOptions {
  // The version that the caller has: the first update is of the one made after it. 0: none, and the
  // first update is of the current version.
  uint64_t from_version = 0;
  bool polygons = false;
  // How long a watch whose call broke tries to go on with another one. Zero: it ends at once.
  std::chrono::milliseconds reconnect_timeout{30000};
};

// Versions of one scene, in order, each once, none left out. When its call breaks (UNAVAILABLE, or
// a status with a `RetryDelay`), it goes on at the next address of the client after the last
// version that it gave. Thread-safe: one thread waits in `Next`, others may cancel. May outlive its
// client.
class SceneWatch {
 public:
  ~SceneWatch();
  SceneWatch(const SceneWatch&) = delete;
  SceneWatch& operator=(const SceneWatch&) = delete;

  // Waits for the next version, without end.
  //
  // Errors, each of which ends the watch, so that a further call returns the same: NOT_FOUND, there
  // is no such scene, or it was deleted; OUT_OF_RANGE, what came after the last version that the
  // caller has is not kept: begin with the current one; RESOURCE_EXHAUSTED, updates were taken too
  // slowly; UNAVAILABLE, no server for `reconnect_timeout`; CANCELLED by `Cancel`; INVALID_ARGUMENT
  // naming `name`; INTERNAL, the server breaks the protocol.
  absl::StatusOr<SceneUpdate> Next();

  // Ends the watch, from any thread.
  void Cancel();

 private:
  friend class Client;
  class Impl;

  explicit SceneWatch(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
