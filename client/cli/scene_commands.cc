// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "carom/status.h"
#include "client/cli/command.h"
#include "client/cli/lint_command.h"
#include "client/cli/map_options.h"
#include "client/cli/output.h"
#include "client/cli/scene_line.h"
#include "client/cli/scene_source.h"
#include "client/cli/scene_transfer.h"
#include "client/cli/server_options.h"
#include "client/cli/target.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

struct SceneOptions {
  ServerOptions server;
  OutputOptions output;
  std::string name;
  SceneSource source;
  uint64_t version = 0;
  uint64_t to_version = 0;
  std::vector<uint64_t> removed;
  std::string fork;
  uint64_t lease_seconds = 0;
  bool replace = false;
  bool polygons = false;
};

// The scene of a command, for its errors.
Target TargetOf(const SceneOptions& options) {
  return {.server = options.server, .name = options.name, .source = {}};
}

// Prints a scene, with the JSON text of further members.
void Print(const SceneOptions& options, const SceneSummary& scene, std::string_view more = "") {
  PrintAnswer(SceneLine(scene, more), options.output);
}

// Prints the scene that a command has returned, or its error. Returns the exit status.
int PrintOrFail(const SceneOptions& options, const absl::StatusOr<SceneSummary>& scene) {
  if (!scene.ok()) return FailAbout(TargetOf(options), scene.status());
  Print(options, *scene);
  return kSuccess;
}

// Returns the polygons of the scene in the source file.
absl::StatusOr<std::vector<Polygon>> ReadPolygonsOf(const SceneSource& source) {
  absl::StatusOr<SourceScene> scene = ReadSource(source);
  if (!scene.ok()) return scene.status();
  return scene->TakePolygons();
}

int Import(const SceneOptions& options, Client& client) {
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  const std::string report = PrintsTables(options.output) ? "" : ReportMembers(source->map);
  const absl::StatusOr<SceneSummary> scene = ImportShown(
      client, FullName(options.name), source->TakePolygons(),
      options.replace ? ImportMode::kReplace : ImportMode::kCreate, NoteOf(source->map));
  if (scene.ok()) {
    Print(options, *scene, report);
    return kSuccess;
  }
  // Replaces the server's message for ALREADY_EXISTS, which cannot mention the flag --replace.
  if (!absl::IsAlreadyExists(scene.status())) return FailAbout(TargetOf(options), scene.status());
  return Fail(Refused(scene.status().code(), FullName(options.name),
                      "a scene of this name exists; --replace replaces it"));
}

// Prints all scenes, one JSON object per line, so that `jq` and `wc -l` can process them.
int List(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<SceneSummary>> scenes = client.ListAllScenes();
  if (!scenes.ok()) return Fail(scenes.status());
  std::vector<std::string> lines;
  for (const SceneSummary& scene : *scenes) lines.push_back(SceneLine(scene));
  PrintAnswers(lines, options.output);
  return kSuccess;
}

int Show(const SceneOptions& options, Client& client) {
  return PrintOrFail(options, client.GetScene(FullName(options.name)));
}

// Prints the versions of a scene, one JSON object per line, the current version last.
int History(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<SceneVersion>> versions =
      client.ListSceneVersions(FullName(options.name));
  if (!versions.ok()) return FailAbout(TargetOf(options), versions.status());
  std::vector<std::string> lines;
  for (const SceneVersion& version : *versions) {
    std::string more;
    AppendOrigin(version.created, version.edit_id, more);
    if (!version.note.empty()) {
      more += ",\"note\":";
      AppendString(version.note, more);
    }
    lines.push_back(SceneLine(version.scene, more));
  }
  PrintAnswers(lines, options.output);
  return kSuccess;
}

// Prints each version of a scene when the version is made, one JSON object per line, until the
// scene is deleted or the user ends the process.
int Watch(const SceneOptions& options, Client& client) {
  constexpr const char* kChanges[] = {"added", "replaced", "removed"};
  const std::unique_ptr<SceneWatch> watch = client.WatchScene(
      FullName(options.name), {.from_version = options.version, .polygons = options.polygons});
  while (true) {
    const absl::StatusOr<SceneUpdate> update = watch->Next();
    if (!update.ok()) return FailAbout(TargetOf(options), update.status());
    std::string more;
    AppendOrigin(update->created, update->edit_id, more);
    absl::StrAppend(&more, ",\"base_version\":", update->base_version, ",\"changes\":[");
    for (const PolygonUpdate& changed : update->changes) {
      absl::StrAppend(&more, more.back() == '[' ? "" : ",", "{\"id\":", changed.id,
                      ",\"change\":\"", kChanges[static_cast<size_t>(changed.change)],
                      "\",\"bounds\":");
      AppendBox(changed.bounds, more);
      more += '}';
    }
    more += ']';
    if (options.polygons) {
      more += ",\"polygons\":[";
      for (const Polygon& polygon : update->polygons) {
        if (more.back() != '[') more += ',';
        AppendPolygon(polygon, more);
      }
      more += ']';
    }
    Print(options, update->scene, more);
    std::cout << std::flush;
  }
}

// Sends no `base_version`, with which the rollback would fail unless that version is current. So
// the rollback succeeds even if another client has committed edits meanwhile; the versions that
// these edits made stay in the version history.
int Rollback(const SceneOptions& options, Client& client) {
  return PrintOrFail(options, client.RollbackScene(FullName(options.name), options.version));
}

int Fork(const SceneOptions& options, Client& client) {
  const ForkOptions fork{.version = options.version,
                         .name = options.fork.empty() ? "" : FullName(options.fork),
                         .lease = std::chrono::seconds(options.lease_seconds)};
  return PrintOrFail(options, client.ForkScene(FullName(options.name), fork));
}

// Prints the scene after all polygons have arrived, because it is one JSON document.
int Export(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<Polygon>> polygons =
      ExportShown(client, FullName(options.name), options.version);
  if (!polygons.ok()) return FailAbout(TargetOf(options), polygons.status());
  std::cout << WriteScene(*polygons);
  return kSuccess;
}

int Delete(const SceneOptions& options, Client& client) {
  const absl::Status status = client.DeleteScene(FullName(options.name));
  return status.ok() ? kSuccess : FailAbout(TargetOf(options), status);
}

// The polygons of a version by their ids.
using ById = std::map<uint64_t, const Polygon*>;
ById ByIds(const std::vector<Polygon>& polygons) {
  ById result;
  for (const Polygon& polygon : polygons) result.emplace(polygon.id(), &polygon);
  return result;
}

std::string ChangeLine(const char* change, const Polygon& polygon) {
  std::string line = absl::StrCat("{\"id\":", polygon.id(), ",\"change\":\"", change,
                                  "\",\"vertices\":", polygon.vertex_count(), ",\"bounds\":");
  AppendBox(polygon.bounds(), line);
  return line + "}";
}

bool AreEqual(const Polygon& a, const Polygon& b) {
  std::string as_json, other;
  AppendPolygon(a, as_json);
  AppendPolygon(b, other);
  return as_json == other;
}

// Prints the polygons that differ between two versions, or between a version and a file.
int Diff(const SceneOptions& options, Client& client) {
  const std::string name = FullName(options.name);
  const absl::StatusOr<std::vector<Polygon>> from = ExportShown(client, name, options.version);
  if (!from.ok()) return FailAbout(TargetOf(options), from.status());
  const absl::StatusOr<std::vector<Polygon>> to =
      options.source.file.empty() ? ExportShown(client, name, options.to_version)
                                  : ReadPolygonsOf(options.source);
  if (!to.ok()) return FailAbout(TargetOf(options), to.status());
  const ById before = ByIds(*from), after = ByIds(*to);
  std::vector<std::string> lines;
  for (const auto& [id, polygon] : before) {
    const auto found = after.find(id);
    if (found == after.end()) {
      lines.push_back(ChangeLine("removed", *polygon));
    } else if (!AreEqual(*polygon, *found->second)) {
      lines.push_back(ChangeLine("replaced", *found->second));
    }
  }
  for (const auto& [id, polygon] : after) {
    if (!before.contains(id)) lines.push_back(ChangeLine("added", *polygon));
  }
  PrintAnswers(lines, options.output);
  return kSuccess;
}

// Commits the polygons of a file, which replace those with their ids or are added, and removals.
int Commit(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<Polygon>> polygons =
      options.source.file.empty() ? std::vector<Polygon>() : ReadPolygonsOf(options.source);
  if (!polygons.ok()) return Fail(polygons.status());
  const std::string name = FullName(options.name);
  const absl::StatusOr<std::vector<Polygon>> current = ExportShown(client, name);
  if (!current.ok()) return FailAbout(TargetOf(options), current.status());
  const ById existing = ByIds(*current);
  std::vector<SceneEdit> edits;
  for (const Polygon& polygon : *polygons) {
    if (existing.contains(polygon.id())) {
      edits.emplace_back(ReplacePolygon{polygon});
    } else {
      edits.emplace_back(AddPolygon{polygon});
    }
  }
  for (const uint64_t id : options.removed) edits.emplace_back(RemovePolygon{id});
  return PrintOrFail(options, client.CommitEdits(name, options.version, edits));
}

// Answers `get`, `list` and `export` from a file.
int Local(const SceneOptions& options, std::string_view command) {
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  if (command == "export") {
    std::cout << WriteScene(source->TakePolygons());
    return kSuccess;
  }
  const std::string id = source->id;
  const absl::StatusOr<Scene::Ptr> scene = source->TakeScene();
  if (!scene.ok()) return Fail(scene.status());
  Print(options, {.name = id.empty() ? options.source.file : id,
                  .version = (*scene)->version(),
                  .polygon_count = (*scene)->polygon_count(),
                  .vertex_count = (*scene)->vertex_count(),
                  .bounds = (*scene)->bounds()});
  return kSuccess;
}

struct SceneCommand {
  const char* name;
  const char* help;
  int (*run)(const SceneOptions&, Client&);
};

// Adds a subcommand of `carom scene` with the flags for the address and security of the server.
CLI::App* AddCommand(CLI::App& scene, const SceneCommand& added,
                     const std::shared_ptr<SceneOptions>& options, int& exit_status) {
  CLI::App* command = scene.add_subcommand(added.name, added.help);
  AddOutput(*command, options->output);
  AddServer(*command, options->server);
  // CLI11 has checked the command line except for the form of --address: `Connect` refuses a
  // malformed address, with exit status 1.
  command->callback([options, run = added.run, &exit_status] {
    const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(options->server);
    exit_status = client.ok() ? run(*options, **client) : Fail(client.status());
  });
  return command;
}

// Adds the commands of `carom scene`, which share their options.
class SceneCommands {
 public:
  SceneCommands(CLI::App& scene, int& exit_status) : scene_(scene), exit_status_(exit_status) {}

  // The commands that read and write files, and those that a file can answer.
  void AddFiles();
  // The commands about the versions of a scene.
  void AddVersions();

 private:
  CLI::App* Add(const SceneCommand& command) {
    return AddCommand(scene_, command, options_, exit_status_);
  }
  CLI::App* AddNamed(const SceneCommand& command) {
    CLI::App* added = Add(command);
    added->add_option("NAME", options_->name, "Name of the scene, such as arena or scenes/arena")
        ->required();
    return added;
  }
  // Adds a command that reads a file, where the command line has `--local`.
  void AddLocal(const char* name, const char* help) {
    CLI::App* command = scene_.add_subcommand(name, help);
    command->add_option("--local", options_->source.file, "Map file to read")->required();
    AddSource(*command, options_->source);
    AddOutput(*command, options_->output);
    command->callback([options = options_, name, &exit_status = exit_status_] {
      exit_status = Local(*options, std::string_view(name));
    });
  }

  CLI::App& scene_;
  int& exit_status_;
  const std::shared_ptr<SceneOptions> options_ = std::make_shared<SceneOptions>();
};

void SceneCommands::AddFiles() {
  CLI::App* import = AddNamed({"import", "Import a scene from a map file of any format", Import});
  import->add_option("FILE", options_->source.file, "The file; - is standard input")->required();
  import->add_flag("--replace", options_->replace, "Replace the scene if it exists");
  AddSource(*import, options_->source);
  if (HasLocal()) {
    AddLocal("get", "Print a summary of the scene in a file");
    AddLocal("list", "Print a summary of the scene in a file");
    AddLocal("export", "Print the scene in a file as JSON");
  } else {
    Add({"list", "Print all scenes", List});
    AddNamed({"get", "Print the current version of a scene, without polygons", Show});
    AddNamed({"export", "Print a scene as a JSON file that import accepts", Export})
        ->add_option("--version", options_->version, "Older version, as history prints it");
  }
}

void SceneCommands::AddVersions() {
  AddNamed({"history", "Print the version history of a scene", History});
  CLI::App* diff = AddNamed({"diff", "Print the polygons that differ between versions", Diff});
  diff->add_option("FROM", options_->version, "Older version; default: the current one");
  diff->add_option("TO", options_->to_version, "Newer version; default: the current one");
  diff->add_option("--with", options_->source.file, "Map file to compare with in place of TO");
  AddSource(*diff, options_->source);
  CLI::App* commit =
      AddNamed({"commit", "Add or replace the polygons of a file, and remove others", Commit});
  commit->add_option("FILE", options_->source.file, "Map file with the polygons");
  AddSource(*commit, options_->source);
  commit->add_option("--remove", options_->removed, "Ids of polygons to remove");
  commit->add_option("--base-version", options_->version,
                     "Version that must be current, else nothing changes; default: any");
  CLI::App* watch = AddNamed({"watch", "Print each version of a scene when it is made", Watch});
  watch->add_option("--from", options_->version, "Version: begin with the version made after it");
  watch->add_flag("--polygons", options_->polygons, "Also print the polygons that were changed");
  AddNamed({"rollback", "Make a version with the polygons of an older version", Rollback})
      ->add_option("VERSION", options_->version, "Older version, as history prints it")
      ->required();
  CLI::App* fork =
      AddNamed({"fork", "Make a scene that begins as a copy of a version of NAME", Fork});
  fork->add_option("FORK", options_->fork, "Name of the fork; default: a random name");
  fork->add_option("--version", options_->version,
                   "Older version of NAME; default: the current one");
  fork->add_option("--lease", options_->lease_seconds,
                   "Seconds without use after which the server deletes the fork; default: 60")
      ->check(CLI::Range(uint64_t{1}, uint64_t{86400}));
  AddNamed({"delete", "Delete a scene", Delete});
}

}  // namespace

void AddSceneCommands(CLI::App& app, int& exit_status) {
  CLI::App* scene =
      app.add_subcommand("scene", "Import, list, edit, check, watch, fork and delete scenes");
  scene->require_subcommand(1);
  SceneCommands commands(*scene, exit_status);
  commands.AddFiles();
  commands.AddVersions();
  AddLintCommand(*scene, exit_status);
}

}  // namespace carom::cli
