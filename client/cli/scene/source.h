// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene of which file does a command read?
//
// `AddSource` adds the flags about a file, and `ReadSource` reads it: a map of any format of
// client/maps, by its content, among them Carom's own JSON, JSON Lines and bundles.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "client/maps/map_import.h"

namespace CLI {
class App;
}  // namespace CLI

namespace carom::cli {

// No limits: files of any size are read, because each server enforces its own limits.
inline constexpr SceneLimits kAnyScene{.max_polygons = std::numeric_limits<size_t>::max(),
                                       .max_vertices = std::numeric_limits<size_t>::max()};

// The source of a scene, as given on the command line.
struct SceneSource {
  std::string file;     // path of the file; "-" is standard input
  std::string id;       // id of the scene in the file; empty: the file must have one scene
  bool strict = false;  // a part that is skipped is an error instead of a warning
  ImportOptions map;
};

// Adds the flags `--id`, `--strict`, and those of `AddMapOptions`.
void AddSource(CLI::App& command, SceneSource& source);

// A scene of a file.
struct SourceScene {
  std::string id;     // of the scene; empty if the file has none
  Scene::Ptr bundle;  // the scene, if the file is a bundle that was opened as it is; else null
  ImportedMap map;    // has polygons unless `bundle` is set

  // Each may be called once, since it takes the polygons.
  std::vector<Polygon> TakePolygons();
  // Errors: those of `Scene::Create`.
  absl::StatusOr<Scene::Ptr> TakeScene();
};

// Reads the scene of `source`, and prints how it was read (`PrintReport`). The id of a scene in a
// bundle or in a format of another program is the name of the file without folder and extension.
// Errors: NOT_FOUND if the file cannot be read, or has no scene of the id `source.id`; those of
// `OpenBundle` and `ImportMap`; INVALID_ARGUMENT if a part was skipped and `source.strict` is set.
absl::StatusOr<SourceScene> ReadSource(const SceneSource& source);

}  // namespace carom::cli
