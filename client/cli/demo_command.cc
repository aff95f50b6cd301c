// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "carom/client.h"
#include "client/cli/command.h"
#include "client/cli/demo/demo_picture.h"
#include "client/cli/demo/demo_run.h"
#include "client/cli/demo/demo_world.h"
#include "client/cli/demo/match_picture.h"
#include "client/cli/demo/match_run.h"
#include "client/cli/demo/match_world.h"
#include "client/cli/progress.h"
#include "client/cli/scene_source.h"
#include "client/cli/scene_transfer.h"
#include "client/cli/server_options.h"
#include "client/formats/grouped.h"

namespace carom::cli {
namespace {

constexpr char kScene[] = "scenes/demo-arena";
constexpr char kMatchScene[] = "scenes/demo-match";

struct DemoCommandOptions {
  ServerOptions server;
  SceneSource map;
  std::string svg;
  uint64_t ticks = 600;
  WorldOptions world;
};

struct MatchCommandOptions {
  ServerOptions server;
  SceneSource map;
  std::string svg = "match.svg";
  uint64_t ticks = 600;
  uint64_t rate = 0;  // ticks per second; 0: as fast as the server answers
  MatchOptions match;
};

void PrintRow(const char* name, const std::string& value) {
  std::cout << absl::StrFormat("  %-18s %s\n", name, value);
}

void PrintMap(const SceneSummary& scene) {
  PrintRow("map", absl::StrCat(Grouped(scene.polygon_count), " polygons, ",
                               Grouped(scene.vertex_count), " vertices"));
}

// Prints the rows that are measurements: latencies, server time and throughput.
void PrintTimes(const DemoFigures& figures) {
  PrintRow("latency p50", absl::StrFormat("%.2f ms a frame", figures.latency_p50_ms));
  PrintRow("latency p99", absl::StrFormat("%.2f ms a frame", figures.latency_p99_ms));
  PrintRow("server time", absl::StrFormat("%.0f ns a query", figures.evaluate_ns_per_query));
  PrintRow("throughput", absl::StrCat(Grouped(static_cast<uint64_t>(figures.queries_per_second)),
                                      " queries a second"));
}

// Prints the figures of `carom demo`: the map, the load, the answers and the times.
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

// Prints the figures of `carom demo match`: first the events, which are equal in every run with
// equal options, then the times.
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

// Returns the polygons of the map.
absl::StatusOr<std::vector<Polygon>> ReadMap(const SceneSource& map) {
  absl::StatusOr<SourceScene> scene = ReadSource(map);
  if (!scene.ok()) return scene.status();
  return scene->TakePolygons();
}

// Returns INVALID_ARGUMENT if the map's bounds are empty or a point.
absl::Status CheckBounds(const Box& bounds) {
  // Accepts bounds whose width or height is 0, but not both: the shapes then move to and fro along
  // a line.
  const bool has_room =
      !bounds.empty() && (bounds.max.x > bounds.min.x || bounds.max.y > bounds.min.y);
  return has_room ? absl::OkStatus()
                  : absl::InvalidArgumentError("the map has no extent, so nothing can move in it");
}

// Runs the demo in the imported scene, writes the picture and prints the figures. The caller
// deletes the scene even if this returns an error.
absl::Status RunInScene(Client& client, const SceneSummary& scene, const std::vector<Polygon>& map,
                        const DemoCommandOptions& options) {
  const absl::Status bounds = CheckBounds(scene.bounds);
  if (!bounds.ok()) return bounds;
  DemoWorld world(options.world, scene.bounds);
  // `outcome` below has the answers to the queries of the last tick, which the picture shows.
  Progress progress("demo", "ticks");
  const DemoProgress show = [&progress](uint64_t done, uint64_t ticks, uint64_t) {
    progress(done, ticks);
  };
  const absl::StatusOr<DemoOutcome> outcome = RunDemo(client, kScene, options.ticks, world, show);
  progress.Erase();
  if (!outcome.ok()) return outcome.status();
  const std::string title = std::filesystem::path(options.map.file).filename().string();
  const absl::Status written = WriteFile(options.svg, DemoPicture(title, map, world, *outcome));
  if (!written.ok()) return written;
  PrintTable(scene, options, outcome->figures);
  std::cout << "  picture            " << options.svg << '\n';
  return absl::OkStatus();
}

// Plays a match in the imported scene, writes the picture and prints the figures. The caller
// deletes the scene even if this returns an error.
absl::Status MatchInScene(Client& client, const SceneSummary& scene,
                          const std::vector<Polygon>& map, const MatchCommandOptions& options) {
  const absl::Status bounds = CheckBounds(scene.bounds);
  if (!bounds.ok()) return bounds;
  // The doors get consecutive ids from the greatest polygon id of the map plus 1, modulo 2^64.
  uint64_t door_id = 0;
  for (const Polygon& polygon : map) door_id = std::max(door_id, polygon.id() + 1);
  MatchWorld world(options.match, scene.bounds, door_id);
  Progress progress("demo", "ticks");
  const absl::Time begin = absl::Now();
  const DemoProgress show = [&](uint64_t done, uint64_t ticks, uint64_t) {
    progress(done, ticks);
    if (options.rate == 0) return;
    const double seconds = static_cast<double>(done) / static_cast<double>(options.rate);
    absl::SleepFor(begin + absl::Seconds(seconds) - absl::Now());
  };
  const absl::StatusOr<DemoFigures> figures =
      RunMatch(client, kMatchScene, options.ticks, world, show);
  progress.Erase();
  if (!figures.ok()) return figures.status();
  const std::string title = std::filesystem::path(options.map.file).filename().string();
  const absl::Status written = WriteFile(options.svg, MatchPicture(title, map, world));
  if (!written.ok()) return written;
  PrintMatch(scene, world, *figures);
  std::cout << "  picture            " << options.svg << '\n';
  return absl::OkStatus();
}

// Runs a demo: imports the map as the scene `name`, calls run(client, scene, map, options) and
// deletes the scene. The import replaces a scene of the name, because the name is fixed, and a demo
// that was killed may have left its scene on the server. Returns the exit status.
template <class Options, class Run>
int RunWithScene(const Options& options, const char* name, const Run& run) {
  const absl::StatusOr<std::vector<Polygon>> map = ReadMap(options.map);
  if (!map.ok()) return Fail(map.status());
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(options.server);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<SceneSummary> scene =
      ImportShown(**client, name, *map, ImportMode::kReplace);
  if (!scene.ok()) return Fail(scene.status());
  absl::Status status = run(**client, *scene, *map, options);
  status.Update((*client)->DeleteScene(name));
  return status.ok() ? kSuccess : Fail(status);
}

// Adds `carom demo match`.
void AddMatchCommand(CLI::App& demo, int& exit_status) {
  const auto options = std::make_shared<MatchCommandOptions>();
  CLI::App* command = demo.add_subcommand("match",
                                          "Play a match of bots that see, walk, open doors and "
                                          "shoot; print figures, write an animation");
  command->add_option("--map", options->map.file, "Map file of any format")->required();
  command->add_option("--svg", options->svg, "SVG file to write")->capture_default_str();
  command->add_option("--ticks", options->ticks, "Ticks, with one frame and one round trip each")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--rate", options->rate, "Ticks per second; 0: as fast as the server answers")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--bots", options->match.bots, "Number of bots, in two teams")
      ->check(CLI::Range(2, 200))
      ->capture_default_str();
  AddSource(*command, options->map);
  AddServer(*command, options->server);
  command->callback(
      [options, &exit_status] { exit_status = RunWithScene(*options, kMatchScene, MatchInScene); });
}

}  // namespace

void AddDemoCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DemoCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "demo",
      "Stream queries of moving shapes and bullets to a server; print figures, write a picture");
  // The callback below requires both options, unless the subcommand `match` is given.
  CLI::Option* map =
      command->add_option("--map", options->map.file, "Map file of any format; required");
  CLI::Option* svg = command->add_option("--svg", options->svg, "SVG file to write; required");
  command->add_option("--ticks", options->ticks, "Ticks, with one frame each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--shapes", options->world.shapes, "Number of moving shapes")
      ->check(CLI::Range(1, 4000))
      ->capture_default_str();
  command->add_option("--bullets", options->world.bullets, "Bullets per tick")
      ->check(CLI::Range(0, 50000))
      ->capture_default_str();
  AddSource(*command, options->map);
  AddServer(*command, options->server);
  AddMatchCommand(*command, exit_status);
  command->callback([=, &exit_status] {
    if (!command->get_subcommands().empty()) return;
    for (const CLI::Option* option : {map, svg}) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
    exit_status = RunWithScene(*options, kScene, RunInScene);
  });
}

}  // namespace carom::cli
