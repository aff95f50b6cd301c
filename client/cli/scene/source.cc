// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/source.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "carom/bundle_file.h"
#include "client/cli/scene/map_options.h"
#include "client/cli/scene/progress.h"
#include "client/maps/carom_map.h"

namespace carom::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();
constexpr PolygonLimits kAnyPolygon{.max_vertices = kUnbounded, .max_user_data_bytes = kUnbounded};

// Returns the bytes of a file. A folder opens without an error, but cannot be read.
absl::StatusOr<std::string> BytesOf(const std::string& file, std::ifstream& stream) {
  std::error_code error;
  std::string bytes;
  const uintmax_t size = fs::file_size(file, error);
  if (!error) bytes.reserve(size + 1);
  std::string block(size_t{1} << 20, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    bytes.append(block, 0, static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) return absl::NotFoundError(absl::StrCat("cannot read the file ", file));
  return bytes;
}

// Opens a bundle that is a regular file where it is; returns null for any other file.
absl::StatusOr<Scene::Ptr> Opened(const std::string& file, std::ifstream& stream) {
  std::string head(8, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  stream.clear();
  stream.seekg(0);
  if (!IsBundle(head)) return Scene::Ptr();
  return OpenBundle(file, {.limits = kAnyScene, .polygon_limits = kAnyPolygon});
}

// Reads the map of an open file. A scene in Carom's JSON has an id of its own, or none.
absl::StatusOr<SourceScene> MapOf(const SceneSource& source, const std::string& file,
                                  std::ifstream& stream) {
  const absl::StatusOr<std::string> bytes = BytesOf(file, stream);
  if (!bytes.ok()) return bytes.status();
  ImportOptions options = source.map;
  options.scene = source.id;
  Progress line("read", "bytes");
  const ReadProgress show = [&line](uint64_t done, uint64_t total) { line(done, total); };
  options.progress = &show;
  absl::StatusOr<ImportedMap> map =
      ImportMap(*bytes, options, OpenBeside(source.file == "-" ? "" : source.file));
  if (!map.ok()) return map.status();
  SourceScene scene;
  scene.map = *std::move(map);
  const bool has_id =
      !scene.map.scene.empty() || (scene.map.format == "carom" && !IsBundle(*bytes));
  scene.id = has_id ? scene.map.scene : fs::path(source.file).stem().string();
  return scene;
}

}  // namespace

void AddSource(CLI::App& command, SceneSource& source) {
  command
      .add_option("--id", source.id,
                  "Id of the scene, or name of the world of LDtk, if the file has several")
      ->group("Map");
  command
      .add_flag("--strict", source.strict,
                "Refuse a file of which a part is skipped, such as an unknown JSON member, "
                "instead of printing a warning")
      ->group("Map");
  AddMapOptions(command, source.map);
}

std::vector<Polygon> SourceScene::TakePolygons() {
  if (bundle == nullptr) return std::move(map.polygons);
  std::vector<Polygon> polygons;
  polygons.reserve(bundle->polygon_count());
  for (size_t i = 0; i < bundle->polygon_count(); ++i) polygons.push_back(bundle->polygon(i));
  return polygons;
}

absl::StatusOr<Scene::Ptr> SourceScene::TakeScene() {
  if (bundle != nullptr) return bundle;
  return Scene::Create(std::move(map.polygons), 1, kAnyScene);
}

absl::StatusOr<SourceScene> ReadSource(const SceneSource& source) {
  const std::string file = source.file == "-" ? "/dev/stdin" : source.file;
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file, error)) {
    return absl::NotFoundError(absl::StrCat("cannot read the file ", file));
  }
  SourceScene scene;
  if (LeavesAll(source.map) && fs::is_regular_file(file, error)) {
    absl::StatusOr<Scene::Ptr> bundle = Opened(file, stream);
    if (!bundle.ok()) return bundle.status();
    scene.id = fs::path(source.file).stem().string();
    scene.bundle = *std::move(bundle);
    scene.map.format = "carom";
  }
  if (scene.bundle == nullptr) {
    absl::StatusOr<SourceScene> read = MapOf(source, file, stream);
    if (!read.ok()) return read.status();
    scene = *std::move(read);
  }
  if (!source.id.empty() && source.id != scene.id) {
    return absl::NotFoundError(absl::StrCat(source.file, " has no scene ", source.id));
  }
  if (source.strict) {
    const absl::Status skipped = SkippedStatus(scene.map);
    if (!skipped.ok()) return skipped;
  }
  PrintReport(source.file, scene.map);
  return scene;
}

}  // namespace carom::cli
