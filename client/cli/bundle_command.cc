// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "carom/bundle_file.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/scene/source.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

struct BundleCommandOptions {
  SceneSource source;
  std::string output;  // bundle file to write; empty: the scene is only checked
  bool no_index = false;
  OutputOptions printed;
};

// Prints what a bundle or another map file has. `open_ms` is the time in milliseconds from opening
// the file to a scene that can be queried.
void PrintBundle(const std::string& path, const Scene& scene, double open_ms,
                 const OutputOptions& output) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  std::string line = "{\"file\":";
  AppendString(path, line);
  absl::StrAppend(&line, ",\"bytes\":", error ? 0 : size,
                  ",\"polygon_count\":", scene.polygon_count(),
                  ",\"vertex_count\":", scene.vertex_count(), ",\"open_ms\":");
  AppendNumber(open_ms, line);
  PrintAnswer(line + "}", output);
}

// Reads a scene, and writes it as a bundle (a scene in a binary format) if `options.output` is set.
// Prints the size of the bundle or source file, the counts of the scene, and the time that reading
// took. Reading a bundle also checks the bundle.
int Bundle(const BundleCommandOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  const absl::StatusOr<Scene::Ptr> scene = source->TakeScene();
  if (!scene.ok()) return Fail(scene.status());
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  if (!options.output.empty()) {
    const absl::Status saved = SaveBundle(
        **scene, options.output, options.no_index ? BundleIndex::kNone : BundleIndex::kArranged);
    if (!saved.ok()) return Fail(saved);
  }
  PrintBundle(options.output.empty() ? options.source.file : options.output, **scene,
              static_cast<double>(taken.count()) / 1000, options.printed);
  return kSuccess;
}

}  // namespace

void AddBundleCommand(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "bundle", "Write a scene as a bundle, a file that opens without parsing; or check a bundle");
  const auto options = std::make_shared<BundleCommandOptions>();
  command
      ->add_option("FILE", options->source.file,
                   "Map of any format, such as a bundle; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output,
                      "Bundle to write, NAME.carom; default: only check FILE");
  command->add_flag("--no-index", options->no_index,
                    "Write no index arrangement, so that equal polygons give equal bytes");
  AddSource(*command, options->source);
  AddOutput(*command, options->printed);
  AddExample(*command, "carom bundle client/examples/arena.json -o arena.carom");
  command->callback([options, &exit_status] { exit_status = Bundle(*options); });
}

}  // namespace carom::cli
