// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons from JSON: the form that `carom eval`, `carom scene import` and the examples share.
//
//   {"id": 7, "fill": "evenodd", "rings": [[[0, 0], [4, 0], [4, 3]]]}
//
// `id` is an unsigned 64-bit integer. `fill` is "evenodd" (if absent) or "nonzero", `solidity` is
// "solid" (if absent) or "boundary", `category` an unsigned 64-bit integer, 1 if absent.
// `user_data` are bytes in base64, as in the JSON form of Protocol Buffers. A ring is an array of
// points [x, y], or {"points": [...], "open": true} for an open chain. Other members are ignored;
// `SceneFile::UnknownMembers` names them, since `"solidty"` is one.
//
// Errors name a field in these words: `polygons[3].rings[0][5]` is a point, `polygons[3].fill` a
// member. They are INVALID_ARGUMENT; `Violations` (carom/status.h) reads the field. The limits of
// `Polygon::Create` are none here: those of a server are its own to enforce.
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

namespace carom {

// What is said of a number that cannot be used.
inline constexpr char kNumberRange[] = "must be a number, finite and at most 2^53 in magnitude";

// `status` with `prefix` before the path of each violation: `rings[0]` under `polygons[3]` is
// `polygons[3].rings[0]`.
absl::Status Prefixed(const absl::Status& status, std::string_view prefix);

// A violation's field as the service names it, in the words above: `rings[0].x[5]` is
// `rings[0][5]`.
std::string LineField(std::string_view field);

// An accepted number (carom/geometry.h), read as `Normalized` does; nothing for anything else.
std::optional<double> ReadNumber(const nlohmann::json& value);

// The polygon described by the members `rings`, `fill`, `solidity` and `category` of `object`. Its
// id is 0: moving shapes have none. RESOURCE_EXHAUSTED above the limit of moving shapes.
absl::StatusOr<Polygon> ReadShape(const nlohmann::json& object);

// A shape with the member `id`.
absl::StatusOr<Polygon> ReadPolygon(const nlohmann::json& object);

// The polygons of the member `polygons` of `object`. Names the first offence of each of the first
// 16 bad polygons; the code is that of the first.
absl::StatusOr<std::vector<Polygon>> ReadPolygons(const nlohmann::json& object);

// A file of scenes: JSON Lines with one scene a line, or a single document over any lines. A scene
// is an object with `polygons`, and `id` (a string) where there are several. Or a bundle
// (carom/bundle_file.h), which is one scene, with the name of the file as its id: `arena` of
// maps/arena.carom. The first bytes decide which it is, not the name.
class SceneFile {
 public:
  // Errors: NOT_FOUND if the file cannot be read; INVALID_ARGUMENT if it is not JSON, naming the
  // line, or holds something that is not a scene; of a bundle those of `OpenBundle`.
  static absl::StatusOr<SceneFile> Read(const std::string& path);

  size_t size() const { return bundle_ != nullptr ? 1 : scenes_.size(); }
  // The scene of a bundle, else null.
  const Scene::Ptr& bundle() const { return bundle_; }
  // Of scene `index`; empty if it has none.
  std::string id(size_t index) const;
  // The first scene with this id.
  std::optional<size_t> Find(std::string_view id) const;
  // Errors as for ReadPolygons.
  absl::StatusOr<std::vector<Polygon>> polygons(size_t index) const;
  // The same as a scene. Errors: also those of Scene::Create.
  absl::StatusOr<Scene::Ptr> scene(size_t index) const;
  // The members of scene `index`, its polygons and their rings that nothing reads: OK if there are
  // none, else INVALID_ARGUMENT with the paths of the first 16 and, if one is near, the name meant.
  absl::Status UnknownMembers(size_t index) const;

 private:
  std::vector<nlohmann::json> scenes_;
  Scene::Ptr bundle_;
  std::string bundle_id_;
};

}  // namespace carom
