// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program follow the edits of a scene?
//
// A `SceneWatch` returns the versions of a scene as they are made, each with its changes.
// `Client::WatchScene` (carom/client.h) opens a watch. To read the current version once, call
// `Client::GetScene`; to read all polygons of a version, call `Client::ExportScene`.
//
//   auto watch = client->WatchScene("scenes/arena");
//   auto update = watch->Next();  // the current version; the next call waits for a commit
//   // update->scene.polygon_count == 1
//
// Lengths are in the unit of the caller's coordinates. Rounding error: none, polygons arrive bit
// for bit. Cost: O(n) bytes, where n is the number of changed polygons, or of their vertices if the
// watch returns polygons. Thread-safe, except that only one call of `Next` may run at a time.
// Cheaper alternative: `Client::GetScene` now and then. More powerful: none.
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

// One version of a scene (a set of polygons), without its polygons. A fork is a scene that
// `Client::ForkScene` made from a version of another scene.
struct SceneSummary {
  std::string name;      // `scenes/{scene}`
  uint64_t version = 0;  // grows with every change, by 1 or more
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  Box bounds;  // least box around all vertices; empty if the scene has no polygon
  // For a fork in a result of ForkScene, GetScene or ListScenes: the name and the version of the
  // scene that the fork was made from. Else empty and 0.
  std::string base = {};
  uint64_t base_version = 0;

  // Compares member by member; two empty boxes are equal.
  friend bool operator==(const SceneSummary& a, const SceneSummary& b) {
    return a.name == b.name && a.version == b.version && a.polygon_count == b.polygon_count &&
           a.vertex_count == b.vertex_count && a.bounds.min == b.bounds.min &&
           a.bounds.max == b.bounds.max && a.base == b.base && a.base_version == b.base_version;
  }
};

// One version in the version history of a scene.
struct SceneVersion {
  SceneSummary scene;
  std::string edit_id;  // id of the commit that made the version; empty: none
  std::chrono::sys_time<std::chrono::microseconds> created;
  std::string note;  // text of the client that imported the version; empty: none
};

// How one polygon differs between a version and the preceding version. ADDED: the polygon is in the
// version and not in the preceding one; REPLACED: the polygon is in both versions and differs;
// REMOVED: the polygon is in the preceding version only.
enum class PolygonChange : uint8_t { kAdded, kReplaced, kRemoved };

// The change of one polygon between a version and the preceding version.
struct PolygonUpdate {
  uint64_t id = 0;
  PolygonChange change = PolygonChange::kAdded;
  // least box that contains the polygon as it was before the change and as it is after the change
  Box bounds;
};

// A version that a watch returns, with its changes since the preceding version.
struct SceneUpdate {
  SceneSummary scene;
  std::string edit_id;  // id of the commit that made the version; empty: none
  std::chrono::sys_time<std::chrono::microseconds> created;
  // The preceding version: the one of the previous update or, for the first update,
  // `WatchOptions::from_version`. 0 means that this is the first update of a watch without
  // `from_version`, and that it contains the whole scene.
  uint64_t base_version = 0;
  std::vector<PolygonUpdate> changes;  // changes since `base_version`, by ascending polygon id
  // The added and replaced polygons as they are after the change, by ascending id; if
  // `base_version` is 0, all polygons. Empty unless `WatchOptions::polygons` is set.
  std::vector<Polygon> polygons;
};

struct WatchOptions {
  // Version that the caller already has; the first update is about the version after this one. 0
  // means that the caller has none; the first update is about the current version.
  uint64_t from_version = 0;
  bool polygons = false;  // whether the watch fills `SceneUpdate::polygons`
  // How long the watch, after its gRPC call broke, retries with other calls. Zero means that a
  // broken call ends the watch.
  std::chrono::milliseconds reconnect_timeout{30000};
};

// Returns the versions of one scene in order, each once, without gaps. If the gRPC call of the
// watch breaks (UNAVAILABLE, or a status with a `RetryDelay`), the watch opens another call, which
// continues after the last version that the watch returned; after UNAVAILABLE, the call goes to the
// next address of the client. Thread-safe, but only one thread at a time may call `Next`; any
// thread may call `Cancel`. A watch may outlive its client.
class SceneWatch {
 public:
  ~SceneWatch();
  SceneWatch(const SceneWatch&) = delete;
  SceneWatch& operator=(const SceneWatch&) = delete;

  // Waits for the next version, without a timeout, and returns it.
  //
  // An error ends the watch, and later calls return the same error: NOT_FOUND: no such scene, or
  // the scene was deleted; OUT_OF_RANGE: the server no longer keeps the version that would be next,
  // so the caller must begin another watch at the current version; RESOURCE_EXHAUSTED: the caller
  // received updates too slowly; UNAVAILABLE: no server could be reached for `reconnect_timeout`;
  // CANCELLED: `Cancel` was called; INVALID_ARGUMENT naming `name`; INTERNAL: the server broke the
  // protocol.
  absl::StatusOr<SceneUpdate> Next();

  // Ends the watch, from any thread; a waiting `Next` returns CANCELLED.
  void Cancel();

 private:
  friend class Client;
  class Impl;

  explicit SceneWatch(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
