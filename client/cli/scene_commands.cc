// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "carom/client.h"
#include "carom/status.h"
#include "client/cli/command.h"
#include "client/cli/scene_source.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

struct SceneOptions {
  std::string address;
  ClientOptions client;
  std::string name;
  SceneSource source;
  uint64_t version = 0;
  std::string fork;
  uint64_t lease_seconds = 0;
  bool replace = false;
  bool polygons = false;
};

// Appends a box as `[[min x,min y],[max x,max y]]`, or null if the box is empty.
void AppendBox(const Box& box, std::string& line) {
  if (box.empty()) {
    line += "null";
    return;
  }
  const double corners[] = {box.min.x, box.min.y, box.max.x, box.max.y};
  for (size_t i = 0; i < 4; ++i) {
    line += i == 0 ? "[[" : i == 2 ? "],[" : ",";
    AppendNumber(corners[i], line);
  }
  line += "]]";
}

// Appends the JSON members `created` (the time) and, unless it is empty, `edit_id` of a version.
void AppendOrigin(std::chrono::sys_time<std::chrono::microseconds> created,
                  const std::string& edit_id, std::string& line) {
  line += ",\"created\":";
  AppendString(
      absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromChrono(created), absl::UTCTimeZone()),
      line);
  if (edit_id.empty()) return;
  line += ",\"edit_id\":";
  AppendString(edit_id, line);
}

// Prints a line with a JSON object that has the members of `scene`, followed by `more`, the JSON
// text of further members.
void Print(const SceneSummary& scene, absl::string_view more = "") {
  std::string line = "{\"name\":";
  AppendString(scene.name, line);
  absl::StrAppend(&line, ",\"version\":", scene.version, ",\"polygon_count\":", scene.polygon_count,
                  ",\"vertex_count\":", scene.vertex_count, ",\"bounds\":");
  AppendBox(scene.bounds, line);
  if (!scene.base.empty()) {
    line += ",\"base\":";
    AppendString(scene.base, line);
    absl::StrAppend(&line, ",\"base_version\":", scene.base_version);
  }
  std::cout << line << more << "}\n";
}

// Prints the scene that a command has returned, or its error. Returns the exit status.
int PrintOrFail(const SceneOptions& options, const absl::StatusOr<SceneSummary>& scene) {
  if (!scene.ok()) return FailOf(options.name, scene.status());
  Print(*scene);
  return kSuccess;
}

// Returns the polygons of the scene in the source file.
absl::StatusOr<std::vector<Polygon>> ReadPolygonsOf(const SceneSource& source) {
  const absl::StatusOr<SourceScene> scene = ReadSource(source);
  if (!scene.ok()) return scene.status();
  return scene->file.polygons(scene->index);
}

// Imports a scene without a deadline, because the time of an import depends on the size of the
// scene.
int Import(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<Polygon>> polygons = ReadPolygonsOf(options.source);
  if (!polygons.ok()) return Fail(polygons.status());
  const absl::StatusOr<SceneSummary> scene =
      client.ImportScene(FullName(options.name), *polygons,
                         options.replace ? ImportMode::kReplace : ImportMode::kCreate,
                         {.timeout = std::chrono::milliseconds(0)});
  // Replaces the server's message for ALREADY_EXISTS, which cannot mention the flag --replace.
  if (!absl::IsAlreadyExists(scene.status())) return PrintOrFail(options, scene);
  return Fail(Refused(scene.status().code(), FullName(options.name),
                      "a scene of this name exists; --replace replaces it"));
}

// Prints all scenes, one JSON object per line, so that `jq` and `wc -l` can process them.
int List(const SceneOptions&, Client& client) {
  const absl::StatusOr<std::vector<SceneSummary>> scenes = client.ListAllScenes();
  if (!scenes.ok()) return Fail(scenes.status());
  for (const SceneSummary& scene : *scenes) Print(scene);
  return kSuccess;
}

int Show(const SceneOptions& options, Client& client) {
  return PrintOrFail(options, client.GetScene(FullName(options.name)));
}

// Prints the versions of a scene, one JSON object per line, the current version last.
int History(const SceneOptions& options, Client& client) {
  const absl::StatusOr<std::vector<SceneVersion>> versions =
      client.ListSceneVersions(FullName(options.name));
  if (!versions.ok()) return FailOf(options.name, versions.status());
  for (const SceneVersion& version : *versions) {
    std::string more;
    AppendOrigin(version.created, version.edit_id, more);
    Print(version.scene, more);
  }
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
    if (!update.ok()) return FailOf(options.name, update.status());
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
    Print(update->scene, more);
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
  const absl::StatusOr<std::vector<Polygon>> polygons = client.ExportScene(
      FullName(options.name), options.version, {.timeout = std::chrono::milliseconds(0)});
  if (!polygons.ok()) return FailOf(options.name, polygons.status());
  std::cout << WriteScene(*polygons);
  return kSuccess;
}

int Delete(const SceneOptions& options, Client& client) {
  const absl::Status status = client.DeleteScene(FullName(options.name));
  return status.ok() ? kSuccess : FailOf(options.name, status);
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
  AddAddress(*command, options->address);
  AddSecurity(*command, options->client);
  // CLI11 has checked the command line except for the form of --address: `Connect` refuses a
  // malformed address, with exit status 1.
  command->callback([options, run = added.run, &exit_status] {
    const absl::StatusOr<std::unique_ptr<Client>> client =
        Client::Connect(options->address, options->client);
    exit_status = client.ok() ? run(*options, **client) : Fail(client.status());
  });
  return command;
}

}  // namespace

void AddSceneCommands(CLI::App& app, int& exit_status) {
  CLI::App* scene = app.add_subcommand("scene", "Import, list, watch, fork and delete scenes");
  scene->require_subcommand(1);
  const auto options = std::make_shared<SceneOptions>();
  const auto add = [&](const SceneCommand& command) {
    return AddCommand(*scene, command, options, exit_status);
  };
  const auto add_named = [&](const SceneCommand& command) {
    CLI::App* added = add(command);
    added->add_option("NAME", options->name, "Name of the scene, such as arena or scenes/arena")
        ->required();
    return added;
  };

  CLI::App* import =
      add_named({"import", "Import a scene from a JSON file, JSON Lines file or bundle", Import});
  import->add_option("FILE", options->source.file, "The file; - is standard input")->required();
  import->add_option("--id", options->source.id, "Id of the scene, if FILE has several scenes");
  import->add_flag("--replace", options->replace, "Replace the scene if it exists");
  import->add_flag("--strict", options->source.strict,
                   "Refuse a file with unknown JSON members instead of printing a warning");
  add({"list", "Print all scenes, one JSON object per line", List});
  add_named(
      {"get", "Print the current version of a scene, without polygons, as a JSON object", Show});
  add_named({"history", "Print the version history of a scene, one JSON object per line", History});
  add_named({"export", "Print a scene as a JSON file that import accepts", Export})
      ->add_option("--version", options->version, "Older version, as history prints it");
  CLI::App* watch = add_named(
      {"watch", "Print each version of a scene when it is made, one JSON object per line", Watch});
  watch->add_option("--from", options->version, "Version: begin with the version made after it");
  watch->add_flag("--polygons", options->polygons, "Also print the polygons that were changed");
  add_named({"rollback", "Make a version with the polygons of an older version", Rollback})
      ->add_option("VERSION", options->version, "Older version, as history prints it")
      ->required();
  CLI::App* fork =
      add_named({"fork", "Make a scene that begins as a copy of a version of NAME", Fork});
  fork->add_option("FORK", options->fork, "Name of the fork; default: a random name");
  fork->add_option("--version", options->version,
                   "Older version of NAME; default: the current one");
  fork->add_option("--lease", options->lease_seconds,
                   "Seconds without use after which the server deletes the fork; default: 60")
      ->check(CLI::Range(uint64_t{1}, uint64_t{86400}));
  add_named({"delete", "Delete a scene", Delete});
}

}  // namespace carom::cli
