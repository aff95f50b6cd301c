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
#include "client/cli/scene_source.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

struct BundleCommandOptions {
  SceneSource source;
  std::string output;  // empty: nothing is written
  bool no_index = false;
};

// One line of JSON. `open_ms` is what it took from opening the file to a scene that answers.
void PrintBundle(const std::string& path, const Scene& scene, double open_ms) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  std::string line = "{\"file\":";
  AppendString(path, line);
  absl::StrAppend(&line, ",\"bytes\":", error ? 0 : size,
                  ",\"polygon_count\":", scene.polygon_count(),
                  ",\"vertex_count\":", scene.vertex_count(), ",\"open_ms\":");
  AppendNumber(open_ms, line);
  std::cout << line << "}\n";
}

// A bundle that is only read is checked, and so is one that is written again.
int Bundle(const BundleCommandOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  const absl::StatusOr<Scene::Ptr> scene = source->file.scene(source->index);
  if (!scene.ok()) return Fail(scene.status());
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  if (!options.output.empty()) {
    const absl::Status saved = SaveBundle(
        **scene, options.output, options.no_index ? BundleIndex::kNone : BundleIndex::kArranged);
    if (!saved.ok()) return Fail(saved);
  }
  PrintBundle(options.output.empty() ? options.source.file : options.output, **scene,
              static_cast<double>(taken.count()) / 1000);
  return kSuccess;
}

}  // namespace

void AddBundleCommand(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "bundle", "Write a scene to a bundle, a file that opens at once; or check one");
  const auto options = std::make_shared<BundleCommandOptions>();
  command
      ->add_option("FILE", options->source.file,
                   "A JSON or JSON Lines file, or a bundle; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The bundle, NAME.carom; without it FILE is only checked");
  command->add_option("--id", options->source.id, "The scene's id, in a file of several");
  command->add_flag("--no-index", options->no_index,
                    "Leave the arrangement of the index out: equal polygons are equal bytes then");
  command->add_flag("--strict", options->source.strict,
                    "Refuse a file with members that nothing reads, in place of a warning");
  command->callback([options, &exit_status] { exit_status = Bundle(*options); });
}

}  // namespace carom::cli
