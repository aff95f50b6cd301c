// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/client.h"
#include "client/cli/command.h"
#include "client/cli/demo/demo_picture.h"
#include "client/cli/demo/demo_run.h"
#include "client/cli/demo/demo_world.h"
#include "client/cli/demo/match_picture.h"
#include "client/cli/demo/match_run.h"
#include "client/cli/demo/match_world.h"
#include "client/cli/scene_source.h"
#include "client/formats/grouped.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

constexpr char kScene[] = "scenes/demo-arena";
constexpr char kMatchScene[] = "scenes/demo-match";

struct DemoCommandOptions {
  std::string address;
  ClientOptions client;
  std::string map;
  std::string svg;
  uint64_t ticks = 600;
  WorldOptions world;
};

struct MatchCommandOptions {
  std::string address;
  ClientOptions client;
  std::string map;
  std::string svg = "match.svg";
  uint64_t ticks = 600;
  MatchOptions match;
};

// One line, rewritten in place on a terminal; else a line for each quarter.
class ProgressLine {
 public:
  ProgressLine() : in_place_(isatty(STDERR_FILENO) == 1) {}

  void operator()(uint64_t done, uint64_t ticks, uint64_t hits) {
    const auto now = std::chrono::steady_clock::now();
    // At most 20 lines a second on a terminal; elsewhere four in all, so that logs stay short.
    const bool is_due = in_place_ ? now - last_ > std::chrono::milliseconds(50)
                                  : done * 4 / ticks > (done - 1) * 4 / ticks;
    if (!is_due && done != ticks) return;
    last_ = now;
    const std::string line = absl::StrCat("carom: ", Grouped(done), " of ", Grouped(ticks),
                                          " ticks, ", Grouped(hits), " hits");
    std::cerr << (in_place_ ? "\r" : "") << line << (in_place_ && done != ticks ? "" : "\n")
              << std::flush;
  }

 private:
  const bool in_place_;
  std::chrono::steady_clock::time_point last_;
};

void PrintRow(const char* name, const std::string& value) {
  std::cout << absl::StrFormat("  %-18s %s\n", name, value);
}

void PrintMap(const SceneSummary& scene) {
  PrintRow("map", absl::StrCat(Grouped(scene.polygon_count), " polygons, ",
                               Grouped(scene.vertex_count), " vertices"));
}

// Times are of this run, on this machine.
void PrintTimes(const DemoFigures& figures) {
  PrintRow("latency p50", absl::StrFormat("%.2f ms a frame", figures.latency_p50_ms));
  PrintRow("latency p99", absl::StrFormat("%.2f ms a frame", figures.latency_p99_ms));
  PrintRow("server time", absl::StrFormat("%.0f ns a query", figures.evaluate_ns_per_query));
  PrintRow("throughput", absl::StrCat(Grouped(static_cast<uint64_t>(figures.queries_per_second)),
                                      " queries a second"));
}

// Figures of the map, the load and the answers.
void PrintTable(const SceneSummary& scene, const DemoCommandOptions& options,
                const DemoFigures& figures) {
  const auto row = PrintRow;
  std::cout << "carom demo\n";
  PrintMap(scene);
  row("moving shapes", Grouped(options.world.shapes));
  row("ticks", Grouped(figures.ticks));
  row("queries", Grouped(figures.queries));
  row("hits", absl::StrCat(Grouped(figures.hits), " of ", Grouped(figures.bullets), " bullets"));
  row("overlapping pairs", Grouped(figures.overlapping_pairs));
  PrintTimes(figures);
}

// The same of a match: first what happened, which is the same in every run, then times.
void PrintMatch(const SceneSummary& scene, const MatchWorld& world, const DemoFigures& figures) {
  const MatchCounts& counts = world.counts();
  const auto share = [](uint64_t part, uint64_t whole, const char* what) {
    return absl::StrCat(Grouped(part), " of ", Grouped(whole), what);
  };
  std::cout << "carom demo match\n";
  PrintMap(scene);
  PrintRow("bots", Grouped(world.bots().size()));
  PrintRow("ticks", Grouped(figures.ticks));
  PrintRow("queries", Grouped(figures.queries));
  PrintRow("seen", share(counts.seen, counts.sights, " pairs in range"));
  PrintRow("slid", share(counts.slid, counts.moves, " moves"));
  PrintRow("doors",
           absl::StrCat(Grouped(world.doors().size()), ", opened ", Grouped(counts.doors_opened),
                        " times, shut ", Grouped(counts.doors_shut)));
  PrintRow("hits", absl::StrCat(Grouped(counts.bot_hits), " bots, ", Grouped(counts.wall_hits),
                                " walls, of ", Grouped(counts.shots), " bullets"));
  PrintRow("deaths", Grouped(counts.deaths));
  PrintTimes(figures);
}

// The polygons of the first scene in the file: what the shapes move in.
absl::StatusOr<std::vector<Polygon>> ReadMap(const std::string& path) {
  const absl::StatusOr<SceneFile> file = SceneFile::Read(path);
  if (!file.ok()) return file.status();
  if (file->size() == 0) return absl::InvalidArgumentError("the map holds no scene");
  Warn(path, file->UnknownMembers(0));
  return file->polygons(0);
}

// Whether there is room to move in.
absl::Status CheckBounds(const Box& bounds) {
  // A line will do: the shapes then move along it.
  const bool has_room =
      !bounds.empty() && (bounds.max.x > bounds.min.x || bounds.max.y > bounds.min.y);
  return has_room ? absl::OkStatus()
                  : absl::InvalidArgumentError("the map has no extent: nothing can move in it");
}

// What happens between the import of the scene and its deletion, which errors must not skip.
absl::Status RunInScene(Client& client, const SceneSummary& scene, const std::vector<Polygon>& map,
                        const DemoCommandOptions& options) {
  const absl::Status bounds = CheckBounds(scene.bounds);
  if (!bounds.ok()) return bounds;
  DemoWorld world(options.world, scene.bounds);
  // The picture is drawn after the run, from the last tick's answers.
  ProgressLine progress;
  const absl::StatusOr<DemoOutcome> outcome =
      RunDemo(client, kScene, options.ticks, world, std::ref(progress));
  if (!outcome.ok()) return outcome.status();
  const std::string title = std::filesystem::path(options.map).filename().string();
  const absl::Status written = WriteFile(options.svg, DemoPicture(title, map, world, *outcome));
  if (!written.ok()) return written;
  PrintTable(scene, options, outcome->figures);
  std::cout << "  picture            " << options.svg << '\n';
  return absl::OkStatus();
}

// The demo's scene has one name, which a demo that was killed leaves behind: hence kReplace.
int Run(const DemoCommandOptions& options) {
  const absl::StatusOr<std::vector<Polygon>> map = ReadMap(options.map);
  if (!map.ok()) return Fail(map.status());
  const absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Connect(options.address, options.client);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<SceneSummary> scene =
      (*client)->ImportScene(kScene, *map, ImportMode::kReplace);
  if (!scene.ok()) return Fail(scene.status());
  absl::Status status = RunInScene(**client, *scene, *map, options);
  status.Update((*client)->DeleteScene(kScene));
  return status.ok() ? kSuccess : Fail(status);
}

// As `RunInScene`, for a match.
absl::Status MatchInScene(Client& client, const SceneSummary& scene,
                          const std::vector<Polygon>& map, const MatchCommandOptions& options) {
  const absl::Status bounds = CheckBounds(scene.bounds);
  if (!bounds.ok()) return bounds;
  // Ids of doors: above those of the map, or from 0 on where these end at the last there is.
  uint64_t door_id = 0;
  for (const Polygon& polygon : map) door_id = std::max(door_id, polygon.id() + 1);
  MatchWorld world(options.match, scene.bounds, door_id);
  ProgressLine progress;
  const absl::StatusOr<DemoFigures> figures =
      RunMatch(client, kMatchScene, options.ticks, world, std::ref(progress));
  if (!figures.ok()) return figures.status();
  const std::string title = std::filesystem::path(options.map).filename().string();
  const absl::Status written = WriteFile(options.svg, MatchPicture(title, map, world));
  if (!written.ok()) return written;
  PrintMatch(scene, world, *figures);
  std::cout << "  picture            " << options.svg << '\n';
  return absl::OkStatus();
}

// As `Run`, for a match.
int RunMatchCommand(const MatchCommandOptions& options) {
  const absl::StatusOr<std::vector<Polygon>> map = ReadMap(options.map);
  if (!map.ok()) return Fail(map.status());
  const absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Connect(options.address, options.client);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<SceneSummary> scene =
      (*client)->ImportScene(kMatchScene, *map, ImportMode::kReplace);
  if (!scene.ok()) return Fail(scene.status());
  absl::Status status = MatchInScene(**client, *scene, *map, options);
  status.Update((*client)->DeleteScene(kMatchScene));
  return status.ok() ? kSuccess : Fail(status);
}

// Adds `carom demo match`.
void AddMatchCommand(CLI::App& demo, int& exit_status) {
  const auto options = std::make_shared<MatchCommandOptions>();
  CLI::App* command = demo.add_subcommand(
      "match", "Bots that see, walk, open doors and shoot; print figures, draw a moving picture");
  command->add_option("--map", options->map, "Scene file to play in")->required();
  command->add_option("--svg", options->svg, "The picture to write")->capture_default_str();
  command->add_option("--ticks", options->ticks, "Ticks, one frame and one trip each")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--bots", options->match.bots, "Bots, in two teams")
      ->check(CLI::Range(2, 200))
      ->capture_default_str();
  AddAddress(*command, options->address);
  AddSecurity(*command, options->client);
  command->callback([options, &exit_status] { exit_status = RunMatchCommand(*options); });
}

}  // namespace

void AddDemoCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DemoCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Stream moving shapes and bullets through a server; print figures, draw a picture");
  // Required unless a match is played, which has options of its own.
  CLI::Option* map = command->add_option("--map", options->map, "Scene file to play in; required");
  CLI::Option* svg = command->add_option("--svg", options->svg, "The picture to write; required");
  command->add_option("--ticks", options->ticks, "Ticks, one frame each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--shapes", options->world.shapes, "Moving shapes")
      ->check(CLI::Range(1, 4000))
      ->capture_default_str();
  command->add_option("--bullets", options->world.bullets, "Bullets a tick")
      ->check(CLI::Range(0, 50000))
      ->capture_default_str();
  AddAddress(*command, options->address);
  AddSecurity(*command, options->client);
  AddMatchCommand(*command, exit_status);
  command->callback([=, &exit_status] {
    if (!command->get_subcommands().empty()) return;
    for (const CLI::Option* option : {map, svg}) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
    exit_status = Run(*options);
  });
}

}  // namespace carom::cli
