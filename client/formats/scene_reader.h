// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads polygons from the JSON form that `carom eval`, `carom scene import` and the examples use.
//
//   {"id": 7, "fill": "evenodd", "rings": [[[0, 0], [4, 0], [4, 3]]]}
//
// `id` is an unsigned 64-bit integer. `fill` is "evenodd" (if absent) or "nonzero", `solidity` is
// "solid" (if absent) or "boundary", `category` an unsigned 64-bit integer, 1 if absent.
// `user_data` are bytes in base64, as in the JSON form of Protocol Buffers. A ring is an array of
// points [x, y], or {"points": [...], "open": true} for an open chain. Readers ignore other
// members; `SceneFile::UnknownMembers` lists them, because a misspelt `"solidty"` is an unknown
// member.
//
// Errors are INVALID_ARGUMENT and name a field by its path in the JSON document, such as
// `polygons[3].rings[0][5]` for a point or `polygons[3].fill` for a member; `Violations`
// (carom/status.h) returns the path. Readers do not enforce the limits of `PolygonLimits`: each
// server enforces its own.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/status.h"

namespace carom {

// The description of a violation for a number out of range.
inline constexpr char kNumberRange[] = "must be a number, finite and at most 2^53 in magnitude";

// Returns `status` with `prefix` before the path of each violation: `rings[0]` under `polygons[3]`
// becomes `polygons[3].rings[0]`.
absl::Status Prefixed(const absl::Status& status, std::string_view prefix);

// Converts a field path in an error of the service, which names columns of coordinates, to the path
// of the point in a JSON document: `rings[0].x[5]` becomes `rings[0][5]`.
std::string LineField(std::string_view field);

// Returns `value`, normalized by `Normalized` (carom/geometry.h), or nullopt unless it is a number
// that `IsAccepted` accepts.
std::optional<double> ReadNumber(const nlohmann::json& value);

// Returns the polygon that the members of `object` describe, with id 0: moving shapes have no id.
// Returns RESOURCE_EXHAUSTED if the polygon has more vertices than a moving shape may have.
absl::StatusOr<Polygon> ReadShape(const nlohmann::json& object);

// Returns the polygon that the members of `object`, including `id`, describe.
absl::StatusOr<Polygon> ReadPolygon(const nlohmann::json& object);

// Adds to `unknown` a violation for each unknown member of a polygon and of its rings; `path` is
// the path of the polygon, such as `polygons[3]`.
void AddUnknownMembers(const nlohmann::json& polygon, const std::string& path, Refusal& unknown);

// Returns the polygons of the member `polygons` of `object`. The error lists the first violation of
// each of the first 16 invalid polygons, and has the status code of the error of the first invalid
// polygon.
absl::StatusOr<std::vector<Polygon>> ReadPolygons(const nlohmann::json& object);

// The scenes of a file. The file is JSON Lines with one scene per line, or a single JSON document
// over several lines, or a bundle (a scene in a binary format, carom/bundle_file.h). A scene in
// JSON is an object with the member `polygons`, and `id` (a string) if the file has several scenes.
// A bundle is one scene whose id is the file name without folder and extension: `arena` for
// maps/arena.carom. The first bytes of the file, not its name, decide whether the file is a bundle.
class SceneFile {
 public:
  // Reads a file. Errors: NOT_FOUND if the file cannot be read; INVALID_ARGUMENT with the line if a
  // line is not a scene in JSON; for a bundle the errors of `OpenBundle`.
  static absl::StatusOr<SceneFile> Read(const std::string& path);

  size_t size() const { return bundle_ != nullptr ? 1 : scenes_.size(); }
  // Returns the scene if the file is a bundle (a scene in a binary format), else null.
  const Scene::Ptr& bundle() const { return bundle_; }
  // Returns the id of scene `index`, or "" if the scene has none.
  std::string id(size_t index) const;
  // Returns the index of the first scene with this id, or nullopt.
  std::optional<size_t> Find(std::string_view id) const;
  // Returns the polygons of scene `index`. Errors: those of `ReadPolygons`.
  absl::StatusOr<std::vector<Polygon>> polygons(size_t index) const;
  // Returns scene `index`. Errors: those of `ReadPolygons` and `Scene::Create`.
  absl::StatusOr<Scene::Ptr> scene(size_t index) const;
  // Returns INVALID_ARGUMENT if scene `index`, its polygons or their rings have unknown members,
  // with the paths of the first 16 unknown members and suggestions for misspelt names; else OK.
  absl::Status UnknownMembers(size_t index) const;

 private:
  std::vector<nlohmann::json> scenes_;
  Scene::Ptr bundle_;
  std::string bundle_id_;
};

}  // namespace carom
