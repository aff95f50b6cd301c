// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene_output.h"

#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "carom/bundle_file.h"
#include "carom/svg.h"
#include "client/cli/command.h"
#include "client/cli/scene/map_options.h"
#include "client/formats/geojson_writer.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

namespace fs = std::filesystem;

// Writes to a file, or to standard output.
absl::Status WriteOutput(const std::string& output, const std::string& text) {
  if (output != "-") return WriteFile(output, text);
  std::cout << text << std::flush;
  return std::cout ? absl::OkStatus() : absl::UnknownError("cannot write to standard output");
}

}  // namespace

std::string OutputFormat(const std::string& format, const std::string& output) {
  if (!format.empty()) return format;
  const std::string suffix = fs::path(output).extension().string();
  if (output == "-" || suffix == ".json") return "json";
  if (suffix == ".geojson") return "geojson";
  if (suffix == ".svg") return "svg";
  return suffix == ".carom" ? "bundle" : "";
}

absl::Status WriteSource(SourceScene source, const std::string& format, const std::string& output) {
  if (format == "json" || format == "geojson") {
    const std::string mapping = MappingObject(source.map), id = source.map.scene;
    const std::vector<Polygon> polygons = source.TakePolygons();
    return WriteOutput(output, format == "json" ? WriteScene(polygons, mapping, id)
                                                : WriteGeoJson(polygons, mapping));
  }
  const absl::StatusOr<Scene::Ptr> scene = source.TakeScene();
  if (!scene.ok()) return scene.status();
  if (format == "svg") return WriteOutput(output, DrawSvg(**scene, nullptr, nullptr));
  return output == "-" ? WriteOutput(output, WriteBundle(**scene)) : SaveBundle(**scene, output);
}

// `SaveBundle` replaces a file as a whole itself. A link stays one.
absl::Status ReplaceSource(SourceScene source, const std::string& format, const std::string& path) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return absl::UnknownError(absl::StrCat("cannot write ", path));
  if (format == "bundle") return WriteSource(std::move(source), format, file.string());
  const fs::path beside = file.string() + ".new";
  absl::Status status = WriteSource(std::move(source), format, beside.string());
  if (status.ok()) {
    fs::permissions(beside, fs::status(file, error).permissions(), error);
    fs::rename(beside, file, error);
    if (error) status = absl::UnknownError(absl::StrCat("cannot write ", path));
  }
  if (!status.ok()) fs::remove(beside, error);
  return status;
}

}  // namespace carom::cli
