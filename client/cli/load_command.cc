// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"
#include "client/load/load.h"
#include "client/load/report.h"
#include "client/load/schedule.h"

namespace carom::cli {
namespace {

using load::LoadOptions;

load::StopFlag stop_requested = false;
static_assert(load::StopFlag::is_always_lock_free, "set by a signal handler");

// A second signal so much later ends the process at once. Not sooner: `timeout` and a terminal may
// both send the same one.
constexpr int64_t kForcedStopNs = 1000000000;
std::atomic<int64_t> stop_requested_ns = 0;

// Runs as a signal handler: it touches lock-free atomics and calls functions that are safe there.
void RequestStop(int signal_number) {
  const int64_t now = load::NowNs();
  if (!stop_requested.exchange(true)) {
    stop_requested_ns = now;
  } else if (now - stop_requested_ns > kForcedStopNs) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
}

// While it lives, SIGINT and SIGTERM ask the run to stop.
class StopOnSignals {
 public:
  StopOnSignals() {
    struct sigaction action {};
    action.sa_handler = RequestStop;
    // Calls that a signal interrupts go on; the run polls the flag.
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

int Run(const LoadOptions& options) {
  const absl::Status checked = load::CheckOptions(options);
  if (!checked.ok()) {
    std::cerr << "carom load: " << checked.message() << '\n';
    return kUsage;
  }
  // Otherwise gRPC's locks are watched for cycles, in Debian's build of Abseil.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // From here on the scene is there to be deleted, so signals must not end the process.
  const StopOnSignals signals;
  const absl::StatusOr<load::LoadReport> report = load::RunLoad(options, stop_requested);
  if (!report.ok()) return Fail(report.status());
  std::cout << load::ReportText(*report);
  // Both files are tried, so that one that cannot be written does not cost the other.
  absl::Status written;
  if (!options.json.empty()) written = WriteFile(options.json, load::ReportJson(*report));
  if (!options.plot.empty()) written.Update(WriteFile(options.plot, load::ReportPlot(*report)));
  if (!written.ok()) return Fail(written);
  return report->checks.differences == 0 ? kSuccess : kFailure;
}

// Each range is checked where it is shown in the help; what depends on several flags is
// CheckOptions.
void AddTiming(CLI::App& command, LoadOptions& options) {
  const auto add = [&](const char* flag, auto& value, auto least, auto most, const char* help) {
    return command.add_option(flag, value, help)
        ->check(CLI::Range(least, most))
        ->capture_default_str();
  };
  add("--streams", options.streams, 1, 100000, "Streams, each a player or a game server");
  add("--connections", options.connections, 1, 10000, "Connections that they are spread over");
  add("--threads", options.threads, 1, 64, "Threads of this process that take answers");
  CLI::Option* rate = add("--rate", options.rate_hz, 0.0, 100000.0,
                          "Open loop: frames a second of each stream, sent when they are due, "
                          "whether or not answers came; latency counts from then. 0: idle streams");
  add("--closed", options.closed, 1, 1024,
      "Closed loop: frames in flight of each stream; latency counts from sending")
      ->default_str("")
      ->excludes(rate);
  add("--duration", options.duration_s, 0.001, 86400.0, "Seconds that are measured");
  add("--warmup", options.warmup_s, 0.0, 3600.0, "Seconds of load before them");
}

void AddQuestions(CLI::App& command, LoadOptions& options) {
  const auto add = [&](const char* flag, auto& value, auto least, auto most, const char* help) {
    return command.add_option(flag, value, help)
        ->check(CLI::Range(least, most))
        ->capture_default_str();
  };
  static const std::map<std::string, CastDetail> kDetails = {{"fraction", CastDetail::kFraction},
                                                             {"normal", CastDetail::kNormal},
                                                             {"edge", CastDetail::kEdge},
                                                             {"exit", CastDetail::kExit}};
  add("--bullets", options.bullets, 0, 65536, "Segment casts a frame");
  add("--trackers", options.trackers, 0, 65536, "Trackers of a stream, moved once a frame");
  add("--length", options.length, 0.0, 1e9,
      "World length of bullets; 0: half of the map's spacing, the root of its area a polygon");
  add("--speed", options.speed, 0.0, 1e9,
      "World length a second of trackers; 0: a tenth of the spacing");
  command.add_option("--detail", options.detail, "How much of a hit is answered")
      ->transform(CLI::CheckedTransformer(kDetails).description("fraction|normal|edge|exit"))
      ->default_str("fraction");
  CLI::Option* map =
      command.add_option("--map", options.map, "Scene file to play in; its first scene");
  add("--polygons", options.polygons, 1, 4194304,
      "Without --map: convex polygons of a made map, a dense field")
      ->excludes(map);
  add("--edits", options.edits_hz, 0.0, 10000.0, "Commits of one polygon a second");
  command.add_option("--seed", options.seed, "Of everything random")->capture_default_str();
}

}  // namespace

void AddLoadCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<LoadOptions>();
  CLI::App* command = app.add_subcommand(
      "load", "Put a server under load; print latencies, throughput and whether answers are right");
  AddAddress(*command, options->address);
  AddSecurity(*command, options->security);
  AddTiming(*command, *options);
  AddQuestions(*command, *options);
  command
      ->add_option("--check", options->check,
                   "Of every so many answers one is compared with the library's; 0: none")
      ->capture_default_str();
  command
      ->add_option("--server-pid", options->server_pid,
                   "The server's process on this host, whose CPU time is reported")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--json", options->json, "File for the report as JSON");
  command->add_option("--plot", options->plot, "File for latencies over percentiles, as SVG");
  command->footer(
      "The map is registered under a name of its own and deleted at the end, on SIGINT too. Exit\n"
      "status 1: a request failed, or an answer differs from the library's. Lost, refused and "
      "late\n"
      "frames are counted and leave it 0.");
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
