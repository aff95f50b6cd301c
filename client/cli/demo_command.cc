// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <CLI/CLI.hpp>
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
#include "client/cli/demo_picture.h"
#include "client/cli/demo_run.h"
#include "client/cli/demo_world.h"
#include "client/cli/scene_source.h"
#include "client/formats/grouped.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

constexpr char kScene[] = "scenes/demo-arena";

struct DemoCommandOptions {
  std::string address;
  std::string map;
  std::string svg;
  uint64_t ticks = 600;
  WorldOptions world;
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

// Figures of the map, the load and the answers; times are of this run, on this machine.
void PrintTable(const SceneSummary& scene, const DemoCommandOptions& options,
                const DemoFigures& figures) {
  const auto row = [](const char* name, const std::string& value) {
    std::cout << absl::StrFormat("  %-18s %s\n", name, value);
  };
  std::cout << "carom demo\n";
  row("map", absl::StrCat(Grouped(scene.polygon_count), " polygons, ", Grouped(scene.vertex_count),
                          " vertices"));
  row("moving shapes", Grouped(options.world.shapes));
  row("ticks", Grouped(figures.ticks));
  row("queries", Grouped(figures.queries));
  row("hits", absl::StrCat(Grouped(figures.hits), " of ", Grouped(figures.bullets), " bullets"));
  row("overlapping pairs", Grouped(figures.overlapping_pairs));
  row("latency p50", absl::StrFormat("%.2f ms a frame", figures.latency_p50_ms));
  row("latency p99", absl::StrFormat("%.2f ms a frame", figures.latency_p99_ms));
  row("server time", absl::StrFormat("%.0f ns a query", figures.evaluate_ns_per_query));
  row("throughput", absl::StrCat(Grouped(static_cast<uint64_t>(figures.queries_per_second)),
                                 " queries a second"));
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
  const absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(options.address);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<SceneSummary> scene =
      (*client)->ImportScene(kScene, *map, ImportMode::kReplace);
  if (!scene.ok()) return Fail(scene.status());
  absl::Status status = RunInScene(**client, *scene, *map, options);
  status.Update((*client)->DeleteScene(kScene));
  return status.ok() ? kSuccess : Fail(status);
}

}  // namespace

void AddDemoCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DemoCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Stream moving shapes and bullets through a server; print figures, draw a picture");
  command->add_option("--map", options->map, "Scene file to play in")->required();
  command->add_option("--svg", options->svg, "The picture to write")->required();
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
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
