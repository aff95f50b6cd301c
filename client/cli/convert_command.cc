// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "carom/bundle_file.h"
#include "carom/svg.h"
#include "client/cli/command.h"
#include "client/cli/map_options.h"
#include "client/cli/scene_source.h"
#include "client/formats/geojson_writer.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

struct ConvertOptions {
  SceneSource source;
  std::string output;
  std::string format;  // empty: by the suffix of `output`
};

// Returns the format to write, or "" if the suffix of the file is that of none.
std::string FormatOf(const ConvertOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string suffix = std::filesystem::path(options.output).extension().string();
  if (options.output == "-" || suffix == ".json") return "json";
  if (suffix == ".geojson") return "geojson";
  if (suffix == ".svg") return "svg";
  return suffix == ".carom" ? "bundle" : "";
}

// Writes to a file, or to standard output.
absl::Status WriteOutput(const std::string& output, const std::string& text) {
  if (output != "-") return WriteFile(output, text);
  std::cout << text << std::flush;
  return std::cout ? absl::OkStatus() : absl::UnknownError("cannot write to standard output");
}

// Writes a form that needs the index of a scene.
absl::Status WriteIndexed(SourceScene& source, const std::string& format,
                          const std::string& output) {
  const absl::StatusOr<Scene::Ptr> scene = source.TakeScene();
  if (!scene.ok()) return scene.status();
  if (format == "svg") return WriteOutput(output, DrawSvg(**scene, nullptr, nullptr));
  return output == "-" ? WriteOutput(output, WriteBundle(**scene)) : SaveBundle(**scene, output);
}

int Convert(const ConvertOptions& options) {
  const std::string format = FormatOf(options);
  if (format.empty()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "--to is required: ", options.output, " does not end in .json, .geojson, .svg or .carom")));
  }
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  absl::Status written;
  if (format == "json" || format == "geojson") {
    const std::string mapping = source->map.mapping.empty() ? "" : MappingObject(source->map);
    const std::vector<Polygon> polygons = source->TakePolygons();
    written = WriteOutput(
        options.output, format == "json" ? WriteScene(polygons, mapping) : WriteGeoJson(polygons));
  } else {
    written = WriteIndexed(*source, format, options.output);
  }
  return written.ok() ? kSuccess : Fail(written);
}

}  // namespace

void AddConvertCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand(
      "convert",
      "Convert a map: Tiled, LDtk, Godot, GeoJSON, SVG and others to Carom's JSON, "
      "GeoJSON, a bundle, or a picture");
  command->add_option("IN", options->source.file, "Map of any format; - is standard input")
      ->required();
  command
      ->add_option("OUT", options->output,
                   "File to write, .json, .geojson, .carom (bundle) or .svg (picture); - is "
                   "standard output")
      ->required();
  command
      ->add_option("--to", options->format,
                   "Format to write; default: by the suffix of OUT, json for -")
      ->check(CLI::IsMember({"json", "geojson", "bundle", "svg"}));
  AddSource(*command, options->source);
  AddExample(*command, "carom convert client/examples/arena.json - --to geojson");
  command->callback([options, &exit_status] { exit_status = Convert(*options); });
}

}  // namespace carom::cli
