// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "carom/status.h"
#include "client/cli/command.h"
#include "client/cli/lint_command.h"
#include "client/cli/output.h"
#include "client/cli/scene/changes.h"
#include "client/cli/scene/line.h"
#include "client/cli/scene/map_options.h"
#include "client/cli/scene/source.h"
#include "client/cli/scene/transfer.h"
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

// Returns the mapping that the note of the exported version keeps, or "".
std::string MappingIn(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<SceneVersion>> versions =
      client.ListSceneVersions(FullName(options.name));
  if (!versions.ok()) return "";
  for (const SceneVersion& version : *versions) {
    const bool is_exported = options.version == 0 ? &version == &versions->back()
                                                  : version.scene.version == options.version;
    const std::optional<JsonDocument> note = is_exported ? ParseJson(version.note) : std::nullopt;
    if (note && note->value.is_object()) return version.note;
  }
  return "";
}

// Prints the scene after all polygons have arrived, because it is one JSON document.
int Export(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<Polygon>> polygons =
      ExportShown(client, FullName(options.name), options.version);
  if (!polygons.ok()) return FailAbout(TargetOf(options), polygons.status());
  std::cout << WriteScene(*polygons, MappingIn(options, client));
  return kSuccess;
}

int Delete(const SceneOptions& options, Client& client) {
  const absl::Status status = client.DeleteScene(FullName(options.name));
  return status.ok() ? kSuccess : FailAbout(TargetOf(options), status);
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
  PrintAnswers(DiffLines(*from, *to), options.output);
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
  return PrintOrFail(options, client.CommitEdits(name, options.version,
                                                 EditsOf(*current, *polygons, options.removed)));
}

constexpr char kNoVersions[] =
    "a file has no versions: `carom scene import NAME FILE` puts it on a server, which keeps "
    "versions; `git` keeps versions of files";

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

  void AddFiles();
  void AddEdits();
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
  // Adds a command that has another form for files (`AddSceneFileCommands`).
  CLI::App* AddForServers(CLI::App* added, const char* example) {
    AddLocalHelp(*added);
    AddExample(*added, example);
    return added;
  }
  // Adds a command that cannot be asked about a file: `--local` is an error that says why.
  CLI::App* AddWithoutFiles(const SceneCommand& command, const char* example, const char* why) {
    CLI::App* added = AddNamed(command);
    AddExample(*added, example);
    added
        ->add_option_function<std::string>(
            "--local", [why](const std::string&) { throw CLI::ValidationError("--local", why); })
        ->group("");
    return added;
  }

  CLI::App& scene_;
  int& exit_status_;
  const std::shared_ptr<SceneOptions> options_ = std::make_shared<SceneOptions>();
};

void SceneCommands::AddFiles() {
  CLI::App* import = AddWithoutFiles(
      {"import", "Import a scene from a map file of any format", Import},
      "carom scene import arena client/examples/arena.json --replace",
      "import puts a file on a server; `carom convert` writes a file in another form");
  import->add_option("FILE", options_->source.file, "The file; - is standard input")->required();
  import->add_flag("--replace", options_->replace, "Replace the scene if it exists");
  AddSource(*import, options_->source);
  if (HasLocal()) return;
  AddForServers(Add({"list", "Print all scenes", List}), "carom scene list");
  AddForServers(AddNamed({"get", "Print the current version of a scene, without polygons", Show}),
                "carom scene get arena");
  AddForServers(AddNamed({"export", "Print a scene as a JSON file that import accepts", Export}),
                "carom scene export arena")
      ->add_option("--version", options_->version, "Older version, as history prints it");
}

void SceneCommands::AddEdits() {
  if (HasLocal()) return;
  CLI::App* diff =
      AddForServers(AddNamed({"diff", "Print the polygons that differ between versions", Diff}),
                    "carom scene diff arena --with client/examples/level.tmx");
  diff->add_option("FROM", options_->version, "Older version; default: the current one");
  diff->add_option("TO", options_->to_version, "Newer version; default: the current one");
  diff->add_option("--with", options_->source.file, "Map file to compare with in place of TO");
  AddSource(*diff, options_->source);
  CLI::App* commit = AddForServers(
      AddNamed({"commit", "Add or replace the polygons of a file, and remove others", Commit}),
      "carom scene commit arena client/examples/level.tmx --layer Rocks");
  commit->add_option("FILE", options_->source.file, "Map file with the polygons");
  AddSource(*commit, options_->source);
  commit->add_option("--remove", options_->removed, "Ids of polygons to remove");
  commit->add_option("--base-version", options_->version,
                     "Version that must be current, else nothing changes; default: any");
}

void SceneCommands::AddVersions() {
  AddWithoutFiles({"history", "Print the version history of a scene", History},
                  "carom scene history arena", kNoVersions);
  CLI::App* watch =
      AddWithoutFiles({"watch", "Print each version of a scene when it is made", Watch},
                      "carom scene watch arena", kNoVersions);
  watch->add_option("--from", options_->version, "Version: begin with the version made after it");
  watch->add_flag("--polygons", options_->polygons, "Also print the polygons that were changed");
  AddWithoutFiles({"rollback", "Make a version with the polygons of an older version", Rollback},
                  "carom scene rollback arena 1", kNoVersions)
      ->add_option("VERSION", options_->version, "Older version, as history prints it")
      ->required();
  CLI::App* fork =
      AddWithoutFiles({"fork", "Make a scene that begins as a copy of a version of NAME", Fork},
                      "carom scene fork arena rehearsal",
                      "a fork shares the memory of a scene of a server; `cp` copies a file");
  fork->add_option("FORK", options_->fork, "Name of the fork; default: a random name");
  fork->add_option("--version", options_->version,
                   "Older version of NAME; default: the current one");
  fork->add_option("--lease", options_->lease_seconds,
                   "Seconds without use after which the server deletes the fork; default: 60")
      ->check(CLI::Range(uint64_t{1}, uint64_t{86400}));
  AddWithoutFiles({"delete", "Delete a scene", Delete}, "carom scene delete arena",
                  "delete deletes a scene of a server; `rm` deletes a file");
}

}  // namespace

void AddSceneCommands(CLI::App& app, int& exit_status) {
  CLI::App* scene =
      app.add_subcommand("scene", "Import, list, edit, check, watch, fork and delete scenes");
  scene->require_subcommand(1);
  SceneCommands commands(*scene, exit_status);
  commands.AddFiles();
  commands.AddEdits();
  if (HasLocal()) AddSceneFileCommands(*scene, exit_status);
  AddLintCommand(*scene, exit_status);
  commands.AddVersions();
}

}  // namespace carom::cli
