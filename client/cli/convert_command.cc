// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/scene/source.h"
#include "client/cli/scene_output.h"

namespace carom::cli {
namespace {

struct ConvertOptions {
  SceneSource source;
  std::string output;
  std::string format;  // empty: by the suffix of `output`
};

int Convert(const ConvertOptions& options) {
  const std::string format = OutputFormat(options.format, options.output);
  if (format.empty()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "--to is required: ", options.output, " does not end in .json, .geojson, .svg or .carom")));
  }
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  const absl::Status written = WriteSource(*std::move(source), format, options.output);
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
