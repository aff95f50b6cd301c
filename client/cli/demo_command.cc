// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
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
#include "client/cli/output.h"
#include "client/cli/scene/progress.h"
#include "client/cli/scene/source.h"
#include "client/cli/scene/transfer.h"
#include "client/cli/server_options.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

constexpr char kScene[] = "scenes/demo-arena";
constexpr char kMatchScene[] = "scenes/demo-match";

struct DemoCommandOptions {
  ServerOptions server;
  SceneSource map;
  OutputOptions output;
  std::string svg;
  uint64_t ticks = 600;
  WorldOptions world;
};

struct MatchCommandOptions {
  ServerOptions server;
  SceneSource map;
  OutputOptions output;
  std::string svg = "match.svg";
  uint64_t ticks = 600;
  uint64_t rate = 0;  // ticks per second; 0: as fast as the server answers
  MatchOptions match;
};

// Returns the members about the map.
std::string MapMembers(const SceneSummary& scene) {
  return absl::StrCat("{\"polygon_count\":", scene.polygon_count,
                      ",\"vertex_count\":", scene.vertex_count);
}

// Returns the members that are measurements, latencies, server time and throughput, and the last
// one, the picture.
std::string TimeMembers(const DemoFigures& figures, const std::string& svg) {
  std::string line;
  for (const auto& [name, value] : {std::pair{"latency_p50_ms", figures.latency_p50_ms},
                                    {"latency_p99_ms", figures.latency_p99_ms},
                                    {"evaluate_ns_per_query", figures.evaluate_ns_per_query},
                                    {"queries_per_second", figures.queries_per_second}}) {
    absl::StrAppend(&line, ",\"", name, "\":");
    AppendNumber(value, line);
  }
  line += ",\"picture\":";
  AppendString(svg, line);
  return line + "}";
}

// Returns the figures of `carom demo`: the map, the load, the answers and the times.
std::string DemoLine(const SceneSummary& scene, const DemoCommandOptions& options,
                     const DemoFigures& figures) {
  return absl::StrCat(MapMembers(scene), ",\"moving_shapes\":", options.world.shapes,
                      ",\"ticks\":", figures.ticks, ",\"queries\":", figures.queries,
                      ",\"bullets\":", figures.bullets, ",\"hits\":", figures.hits,
                      ",\"overlapping_pairs\":", figures.overlapping_pairs,
                      TimeMembers(figures, options.svg));
}

// Returns the figures of `carom demo match`: first the events, which are equal in every run with
// equal options, then the times.
std::string MatchLine(const SceneSummary& scene, const MatchWorld& world,
                      const MatchCommandOptions& options, const DemoFigures& figures) {
  const MatchCounts& counts = world.counts();
  std::string line = absl::StrCat(MapMembers(scene), ",\"bots\":", world.bots().size(),
                                  ",\"doors\":", world.doors().size(), ",\"ticks\":", figures.ticks,
                                  ",\"queries\":", figures.queries);
  for (const auto& [name, count] : {std::pair{"pairs", counts.pairs},
                                    {"seen", counts.seen},
                                    {"moves", counts.moves},
                                    {"slid", counts.slid},
                                    {"doors_opened", counts.doors_opened},
                                    {"doors_shut", counts.doors_shut},
                                    {"bullets", counts.shots},
                                    {"bot_hits", counts.bot_hits},
                                    {"missed_at_present", counts.missed_at_present},
                                    {"wall_hits", counts.wall_hits},
                                    {"deaths", counts.deaths}}) {
    absl::StrAppend(&line, ",\"", name, "\":", count);
  }
  return line + TimeMembers(figures, options.svg);
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
  PrintAnswer(DemoLine(scene, options, outcome->figures), options.output);
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
  PrintAnswer(MatchLine(scene, world, options, *figures), options.output);
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
  command->add_option("--map", options->map.file, "Map file of any format")
      ->required()
      ->group("Demo");
  command->add_option("--ticks", options->ticks, "Ticks, with one frame and one round trip each")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group("Demo");
  command->add_option("--rate", options->rate, "Ticks per second; 0: as fast as the server answers")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->group("Demo");
  command->add_option("--bots", options->match.bots, "Number of bots, in two teams")
      ->check(CLI::Range(2, 200))
      ->capture_default_str()
      ->group("Demo");
  AddSource(*command, options->map);
  AddServer(*command, options->server);
  AddOutput(*command, options->output);
  command->add_option("--svg", options->svg, "SVG file to write")
      ->capture_default_str()
      ->group("Output");
  AddExample(*command, "carom demo match --map client/examples/arena.json --ticks 60");
  command->callback(
      [options, &exit_status] { exit_status = RunWithScene(*options, kMatchScene, MatchInScene); });
}

}  // namespace

void AddDemoCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DemoCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "demo",
      "Stream queries of moving shapes and bullets to a server; print figures, write a picture");
  // The callback below requires --map and --svg, unless the subcommand `match` is given.
  CLI::Option* map =
      command->add_option("--map", options->map.file, "Map file of any format; required")
          ->group("Demo");
  command->add_option("--ticks", options->ticks, "Ticks, with one frame each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->group("Demo");
  command->add_option("--shapes", options->world.shapes, "Number of moving shapes")
      ->check(CLI::Range(1, 4000))
      ->capture_default_str()
      ->group("Demo");
  command->add_option("--bullets", options->world.bullets, "Bullets per tick")
      ->check(CLI::Range(0, 50000))
      ->capture_default_str()
      ->group("Demo");
  AddSource(*command, options->map);
  AddServer(*command, options->server);
  AddOutput(*command, options->output);
  CLI::Option* svg =
      command->add_option("--svg", options->svg, "SVG file to write; required")->group("Output");
  AddMatchCommand(*command, exit_status);
  AddExample(*command, "carom demo --map client/examples/arena.json --svg demo.svg --ticks 60");
  command->callback([=, &exit_status] {
    if (!command->get_subcommands().empty()) return;
    for (const CLI::Option* option : {map, svg}) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
    exit_status = RunWithScene(*options, kScene, RunInScene);
  });
}

}  // namespace carom::cli
