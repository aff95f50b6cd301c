// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom scene get|list|export|diff|commit --local FILE`: these commands for a scene in a file,
// without a server.

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/scene/changes.h"
#include "client/cli/scene/line.h"
#include "client/cli/scene/source.h"
#include "client/cli/scene_output.h"

namespace carom::cli {
namespace {

struct SceneFileOptions {
  OutputOptions output;
  std::string local;
  SceneSource source;  // the flags about files
  std::string other;   // of diff and commit: the file to compare with, or with the polygons
  std::vector<uint64_t> removed;
  std::string written;  // of commit
};

// Returns the source of one of the files.
SceneSource SourceOf(const SceneFileOptions& options, const std::string& file) {
  SceneSource source = options.source;
  source.file = file;
  return source;
}

// Prints a summary of a scene, with the name that `source` has for it.
void PrintSummary(const SceneFileOptions& options, const std::string& id, const Scene& scene) {
  PrintAnswer(SceneLine({.name = id.empty() ? options.local : id,
                         .version = scene.version(),
                         .polygon_count = scene.polygon_count(),
                         .vertex_count = scene.vertex_count(),
                         .bounds = scene.bounds()}),
              options.output);
}

int ShowFile(const SceneFileOptions& options) {
  absl::StatusOr<SourceScene> source = ReadSource(SourceOf(options, options.local));
  if (!source.ok()) return Fail(source.status());
  const absl::StatusOr<Scene::Ptr> scene = source->TakeScene();
  if (!scene.ok()) return Fail(scene.status());
  PrintSummary(options, source->id, **scene);
  return kSuccess;
}

int ExportFile(const SceneFileOptions& options) {
  absl::StatusOr<SourceScene> source = ReadSource(SourceOf(options, options.local));
  if (!source.ok()) return Fail(source.status());
  const absl::Status written = WriteSource(*std::move(source), "json", "-");
  return written.ok() ? kSuccess : Fail(written);
}

int DiffFiles(const SceneFileOptions& options) {
  absl::StatusOr<SourceScene> from = ReadSource(SourceOf(options, options.local));
  if (!from.ok()) return Fail(from.status());
  absl::StatusOr<SourceScene> to = ReadSource(SourceOf(options, options.other));
  if (!to.ok()) return Fail(to.status());
  PrintAnswers(DiffLines(from->TakePolygons(), to->TakePolygons()), options.output);
  return kSuccess;
}

// Writes the edited scene to `--output`, else in place of the file, whose form must be one that the
// command can write: a scene of Carom's own, alone in its file.
absl::Status WriteEdited(const SceneFileOptions& options, SourceScene edited, bool is_bundle) {
  if (!options.written.empty()) {
    const std::string format = OutputFormat("", options.written);
    if (!format.empty()) return WriteSource(std::move(edited), format, options.written);
    return absl::InvalidArgumentError(absl::StrCat(
        "--output: ", options.written, " does not end in .json, .geojson, .svg or .carom"));
  }
  if (edited.map.format != "carom" || options.local == "-") {
    return absl::InvalidArgumentError(
        absl::StrCat(options.local, ": commit cannot write the format ", edited.map.format,
                     "; --output FILE names another file for the edited scene"));
  }
  return ReplaceSource(std::move(edited), is_bundle ? "bundle" : "json", options.local);
}

// Returns the polygons after edits that a scene has accepted, in the order of the file, new ones
// last.
std::vector<Polygon> Edited(std::span<const Polygon> before, std::span<const SceneEdit> edits) {
  std::map<uint64_t, const Polygon*> changed;  // null: removed
  std::vector<Polygon> added, result;
  for (const SceneEdit& edit : edits) {
    if (const auto* add = std::get_if<AddPolygon>(&edit)) added.push_back(add->polygon);
    if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) {
      changed[replace->polygon.id()] = &replace->polygon;
    }
    if (const auto* remove = std::get_if<RemovePolygon>(&edit)) changed[remove->id] = nullptr;
  }
  for (const Polygon& polygon : before) {
    const auto found = changed.find(polygon.id());
    if (found == changed.end()) {
      result.push_back(polygon);
    } else if (found->second != nullptr) {
      result.push_back(*found->second);
    }
  }
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

// The flags about files are those of the file with the edits; the other one is read as it is.
int CommitToFile(const SceneFileOptions& options) {
  absl::StatusOr<SourceScene> source = ReadSource({.file = options.local, .id = "", .map = {}});
  if (!source.ok()) return Fail(source.status());
  std::vector<Polygon> polygons;
  if (!options.other.empty()) {
    absl::StatusOr<SourceScene> edits = ReadSource(SourceOf(options, options.other));
    if (!edits.ok()) return Fail(edits.status());
    polygons = edits->TakePolygons();
  }
  const bool is_bundle = source->bundle != nullptr;
  const std::vector<Polygon> before = source->TakePolygons();
  const absl::StatusOr<Scene::Ptr> scene = Scene::Create(before, 1, kAnyScene);
  if (!scene.ok()) return Fail(scene.status());
  const std::vector<SceneEdit> edits = EditsOf(before, polygons, options.removed);
  const absl::StatusOr<Scene::Ptr> edited = (*scene)->Commit(edits, 1, kAnyScene);
  if (!edited.ok()) return Fail(edited.status());
  source->bundle = nullptr;
  source->map.polygons = Edited(before, edits);
  const std::string id = source->id;
  const absl::Status written = WriteEdited(options, *std::move(source), is_bundle);
  if (!written.ok()) return Fail(written);
  PrintSummary(options, id, **edited);
  return kSuccess;
}

struct SceneFileCommand {
  const char* name;
  const char* help;
  int (*run)(const SceneFileOptions&);
  const char* example;
};

CLI::App* AddFileCommand(CLI::App& scene, const SceneFileCommand& added,
                         const std::shared_ptr<SceneFileOptions>& options, int& exit_status) {
  CLI::App* command = scene.add_subcommand(added.name, added.help);
  command->add_option("--local", options->local, "Map file of any format")
      ->required()
      ->group("Scene");
  AddSource(*command, options->source);
  AddOutput(*command, options->output);
  AddExample(*command, added.example);
  command->callback([options, run = added.run, &exit_status] { exit_status = run(*options); });
  return command;
}

}  // namespace

void AddSceneFileCommands(CLI::App& scene, int& exit_status) {
  const auto options = std::make_shared<SceneFileOptions>();
  const auto add = [&](const SceneFileCommand& command) {
    return AddFileCommand(scene, command, options, exit_status);
  };
  constexpr char kSummary[] = "Print a summary of the scene in a file";
  add({"get", kSummary, ShowFile, "carom scene get --local client/examples/arena.json"});
  add({"list", kSummary, ShowFile, "carom scene list --local client/examples/arena.json"});
  add({"export", "Print the scene in a file as JSON", ExportFile,
       "carom scene export --local client/examples/level.tmx"});
  add({"diff", "Print the polygons that differ between two files", DiffFiles,
       "carom scene diff --local client/examples/arena.json --with client/examples/level.tmx"})
      ->add_option("--with", options->other, "Map file to compare with")
      ->required();
  CLI::App* commit =
      add({"commit", "Add or replace polygons in a file, and remove others", CommitToFile,
           "carom scene commit --local client/examples/arena.json --remove 1 -o edited.json"});
  commit->add_option("FILE", options->other, "Map file with the polygons");
  commit->add_option("--remove", options->removed, "Ids of polygons to remove");
  commit
      ->add_option("-o,--output", options->written,
                   "File to write, .json, .geojson, .carom or .svg; - is standard output; default: "
                   "the file of --local, if it is Carom's JSON or a bundle")
      ->group("Output");
}

}  // namespace carom::cli
