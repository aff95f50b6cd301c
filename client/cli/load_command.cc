// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/scene/progress.h"
#include "client/cli/scene/source.h"
#include "client/cli/server_options.h"
#include "client/load/load.h"
#include "client/load/report.h"
#include "client/load/schedule.h"

namespace carom::cli {
namespace {

using load::LoadOptions;

load::StopFlag stop_requested = false;
static_assert(load::StopFlag::is_always_lock_free, "set by a signal handler");

// A second signal more than this many nanoseconds after the first signal ends the process at once.
// A second signal within this time has no effect, because the program `timeout` and the terminal
// may both send a signal at almost the same time.
constexpr int64_t kForcedStopNs = 1000000000;
std::atomic<int64_t> stop_requested_ns = 0;

// Sets the stop flag `stop_requested`, which the load test polls to end early. Runs as a signal
// handler, so it uses only lock-free atomics and async-signal-safe functions.
void RequestStop(int signal_number) {
  const int64_t now = load::NowNs();
  if (!stop_requested.exchange(true)) {
    stop_requested_ns = now;
  } else if (now - stop_requested_ns > kForcedStopNs) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
}

// While a `StopOnSignals` exists, SIGINT and SIGTERM set the flag `stop_requested` instead of
// ending the process.
class StopOnSignals {
 public:
  StopOnSignals() {
    struct sigaction action {};
    action.sa_handler = RequestStop;
    // Restarts system calls that a signal interrupts: a system call need not fail with EINTR to end
    // the load test, because the load test polls the flag.
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~StopOnSignals() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

// Runs the load, and shows how far its import and its measured time are.
absl::StatusOr<load::LoadReport> RunShown(LoadOptions options) {
  Progress import("import", "vertices");
  std::optional<Progress> load;
  options.progress = [&](std::string_view part, uint64_t done, uint64_t total) {
    if (part == "import") {
      import(done, total);
    } else {
      import.Erase();
      if (!load) load.emplace("load", "seconds");
      (*load)(done, total);
    }
  };
  absl::StatusOr<load::LoadReport> report = load::RunLoad(options, stop_requested);
  if (report.ok()) report->options.progress = nullptr;
  return report;
}

int Run(const LoadOptions& options, const OutputOptions& output) {
  const absl::Status checked = load::CheckOptions(options);
  if (!checked.ok()) {
    std::cerr << "carom load: " << checked.message() << '\n';
    return kUsage;
  }
  // Turns off the deadlock detection of Debian's build of Abseil, which slows gRPC's locks down.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Signals must not end the process, because `RunLoad` has to delete its scene.
  const StopOnSignals signals;
  const absl::StatusOr<load::LoadReport> report = RunShown(options);
  if (!report.ok()) return Fail(report.status());
  std::cout << (PrintsTables(output) ? load::ReportText(*report) : load::ReportJson(*report));
  // Writes the file of `--plot` even if the file of `--report` cannot be written.
  absl::Status written;
  if (!options.report.empty()) written = WriteFile(options.report, load::ReportJson(*report));
  if (!options.plot.empty()) written.Update(WriteFile(options.plot, load::ReportPlot(*report)));
  if (!written.ok()) return Fail(written);
  return report->checks.differences == 0 ? kSuccess : kFailure;
}

// Adds options with a range each to one group of the help.
class RangedOptions {
 public:
  RangedOptions(CLI::App& command, const char* group) : command_(command), group_(group) {}

  template <class Value, class Bound>
  CLI::Option* operator()(const char* flag, Value& value, Bound least, Bound most,
                          const char* help) const {
    return command_.add_option(flag, value, help)
        ->check(CLI::Range(least, most))
        ->capture_default_str()
        ->group(group_);
  }

 private:
  CLI::App& command_;
  const char* group_;
};

// Adds the flags about streams and time. Checks the range of each flag; `CheckOptions` checks the
// limits that involve several flags.
void AddTiming(CLI::App& command, LoadOptions& options) {
  const RangedOptions add(command, "Load");
  add("--streams", options.streams, 1, 100000,
      "Number of streams, each of which stands for a player or a game server");
  add("--connections", options.connections, 1, 10000, "Number of connections that streams share");
  add("--threads", options.threads, 1, 64, "Threads of this process that receive answers");
  CLI::Option* rate = add("--rate", options.rate_hz, 0.0, 100000.0,
                          "Open loop: frames a second of each stream, sent when they are due, even "
                          "if answers are outstanding; latency is measured from the due time. 0: "
                          "idle streams");
  add("--closed", options.closed, 1, 1024,
      "Closed loop: frames in flight of each stream; latency is measured from sending")
      ->default_str("")
      ->excludes(rate);
  add("--duration", options.duration_s, 0.001, 86400.0, "Length of the measured time in seconds");
  add("--warmup", options.warmup_s, 0.0, 3600.0, "Seconds of load before the measured time");
}

// Adds the flags about the queries of each frame and about the scene.
void AddQuestions(CLI::App& command, LoadOptions& options) {
  const RangedOptions add(command, "Questions");
  static const std::map<std::string, CastDetail> kDetails = {{"fraction", CastDetail::kFraction},
                                                             {"normal", CastDetail::kNormal},
                                                             {"edge", CastDetail::kEdge},
                                                             {"exit", CastDetail::kExit}};
  add("--bullets", options.bullets, 0, 65536, "Segment casts per frame");
  add("--trackers", options.trackers, 0, 65536, "Trackers per stream, each moved once per frame");
  add("--length", options.length, 0.0, 1e9,
      "Length of a bullet in world units; 0: half of the map's spacing, which is the square root "
      "of its area per polygon");
  add("--speed", options.speed, 0.0, 1e9,
      "Speed of a tracker in world units a second; 0: a tenth of the map's spacing");
  command.add_option("--detail", options.detail, "Detail of the hits in answers")
      ->transform(CLI::CheckedTransformer(kDetails).description("fraction|normal|edge|exit"))
      ->default_str("fraction")
      ->group("Questions");
  CLI::Option* map =
      command.add_option("--map", options.map, "Map file of any format")->group("Questions");
  add("--polygons", options.polygons, 1, 4194304,
      "Without --map: number of polygons of a generated map of convex polygons in a grid")
      ->excludes(map);
  add("--edits", options.edits_hz, 0.0, 10000.0,
      "Commits a second, each of which edits one polygon");
  command.add_option("--seed", options.seed, "Seed of the random numbers")
      ->capture_default_str()
      ->group("Questions");
}

// Adds the flags about what is measured and printed.
void AddReport(CLI::App& command, LoadOptions& options, OutputOptions& output) {
  command
      .add_option("--check", options.check,
                  "Compare one of every CHECK answers with the library's answer; 0: none")
      ->capture_default_str()
      ->group("Load");
  command
      .add_option("--server-pid", options.server_pid,
                  "Process id of the server, if it runs on this host, to report its CPU time")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Load");
  AddOutput(command, output);
  command.add_option("--report", options.report, "JSON file to write the report to, too")
      ->group("Output");
  command.add_option("--plot", options.plot, "SVG file to write a plot of latency percentiles to")
      ->group("Output");
}

// Reads the polygons of the map file.
absl::Status ReadLoadMap(SceneSource source, LoadOptions& options) {
  source.file = options.map;
  absl::StatusOr<SourceScene> scene = ReadSource(source);
  if (scene.ok()) options.map_polygons = scene->TakePolygons();
  return scene.status();
}

}  // namespace

void AddLoadCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<LoadOptions>();
  const auto server = std::make_shared<ServerOptions>();
  const auto map = std::make_shared<SceneSource>();
  CLI::App* command = app.add_subcommand(
      "load", "Put a server under load; print latencies and throughput, and check answers");
  AddServer(*command, *server);
  AddTiming(*command, *options);
  AddQuestions(*command, *options);
  AddSource(*command, *map);
  const auto output = std::make_shared<OutputOptions>();
  AddReport(*command, *options, *output);
  AddNote(
      *command,
      "The map is imported as a scene with a random name, which is deleted at the end, also after\n"
      "SIGINT. Lost, refused and late frames are counted and do not change the exit status.");
  AddExample(*command, "carom load --streams 4 --duration 1 --warmup 0");
  command->callback([options, server, map, output, &exit_status] {
    const absl::StatusOr<ServerOptions> resolved = Resolved(*server);
    absl::Status status = resolved.status();
    if (resolved.ok()) {
      options->address = resolved->address;
      options->security = resolved->client;
    }
    if (status.ok() && !options->map.empty()) status = ReadLoadMap(*map, *options);
    exit_status = status.ok() ? Run(*options, *output) : Fail(status);
  });
}

}  // namespace carom::cli
