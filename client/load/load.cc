// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/load.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "client/load/cpu_clock.h"
#include "client/load/frames.h"
#include "client/load/map.h"
#include "client/load/questions.h"
#include "client/load/schedule.h"

namespace carom::load {
namespace {

constexpr CallOptions kNoTimeout{.timeout = std::chrono::milliseconds(0)};

// Returns the seconds since `start_ns`, a time of `NowNs`.
double SecondsSince(int64_t start_ns) { return static_cast<double>(NowNs() - start_ns) * 1e-9; }

int64_t Nanoseconds(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

// Returns a random scene name, which no other process uses.
std::string PrivateName() {
  std::random_device random;
  return absl::StrCat("scenes/carom-load-", getpid(), "-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// Sleeps until `time_ns`, or until up to 20 ms after `stop` is set; calls `show` every 20 ms.
void SleepUntilOrStop(int64_t time_ns, const StopFlag& stop, const std::function<void()>& show) {
  while (!stop && NowNs() < time_ns) {
    SleepUntil(std::min(time_ns, NowNs() + 20 * kMillisecondNs));
    show();
  }
}

// The CPU clocks of the processes whose CPU time is reported.
struct Clocks {
  CpuClock own;
  std::optional<CpuClock> server;
};

// Returns the clocks of this process and of `options.server_pid`. Called before the load, so that
// an unknown process is an error at once instead of a missing figure in the report.
absl::StatusOr<Clocks> ClocksFor(const LoadOptions& options) {
  const absl::StatusOr<CpuClock> own = CpuClock::Of(0);
  if (!own.ok()) return own.status();
  Clocks clocks{*own, std::nullopt};
  if (options.server_pid == 0) return clocks;
  const absl::StatusOr<CpuClock> server = CpuClock::Of(static_cast<pid_t>(options.server_pid));
  if (!server.ok()) return server.status();
  clocks.server = *server;
  return clocks;
}

// Runs the load for the warm-up and the measured time, and sets `run.time`, and `measured_s`,
// `is_stopped` and the CPU times of `report`.
void Measure(Run& run, Engine& engine, const Clocks& clocks, const StopFlag& stop,
             LoadReport& report) {
  // The sending threads get 5 ms to start before the first frame is due.
  const int64_t start = NowNs() + 5 * kMillisecondNs;
  const int64_t begin = start + Nanoseconds(run.options.warmup_s);
  const int64_t end = begin + Nanoseconds(run.options.duration_s);
  run.time.begin_ns = begin;
  run.time.end_ns = end;
  engine.Start(start);
  const double total_s = run.options.warmup_s + run.options.duration_s;
  const auto show = [&] {
    if (!run.options.progress) return;
    const double done_s = static_cast<double>(NowNs() - start) * 1e-9;
    run.options.progress("load", static_cast<uint64_t>(std::max(0.0, done_s)),
                         static_cast<uint64_t>(std::ceil(total_s)));
  };
  SleepUntilOrStop(begin, stop, show);
  // Reads the CPU times when the two sleeps return, at or shortly after the beginning and the end
  // of the measured time. The report divides the CPU times by `measured_s`.
  const int64_t measured_from = NowNs();
  const double own_before = clocks.own.Seconds().value_or(0);
  const std::optional<double> server_before =
      clocks.server ? clocks.server->Seconds() : std::nullopt;
  SleepUntilOrStop(end, stop, show);
  const int64_t measured_to = NowNs();
  report.own_cpu_s = clocks.own.Seconds().value_or(0) - own_before;
  const std::optional<double> server_after =
      clocks.server ? clocks.server->Seconds() : std::nullopt;
  if (server_before && server_after) report.server_cpu_s = *server_after - *server_before;
  report.is_stopped = stop && measured_to < end;
  if (report.is_stopped) run.time.end_ns = measured_to;
  report.measured_s = std::max(
      1e-9,
      static_cast<double>(std::min(end, measured_to) - std::min(begin, measured_from)) * 1e-9);
}

// Runs the load against the imported scene and fills `report`.
absl::Status RunInScene(const LoadScene& target, Scene::Ptr scene, const Clocks& clocks,
                        const StopFlag& stop, LoadReport& report) {
  const LoadOptions& options = report.options;
  const absl::StatusOr<ClientSecurity> security = ClientSecurity::Read(options.security);
  if (!security.ok()) return security.status();
  const absl::StatusOr<Questions> questions = Questions::Create(options, target.map, *scene);
  if (!questions.ok()) return questions.status();
  const Frames frames(*questions, target.name);
  SceneVersions versions(scene);
  Checker checker(*questions, versions);
  Run run{.options = options, .frames = frames, .checker = &checker};
  // The engine must end before the editor, so that the scene is edited as long as streams query it.
  // `checker.Finish` may wait for a version until `versions` is closed.
  std::unique_ptr<Editor> editor;
  absl::Status status;
  {
    Engine engine(run, *security);
    const int64_t start = NowNs();
    status = engine.Open(stop);
    report.open_s = SecondsSince(start);
    if (status.ok()) {
      if (options.edits_hz > 0) {
        editor = std::make_unique<Editor>(target, options, std::move(scene), versions);
      }
      Measure(run, engine, clocks, stop, report);
      report.tally = engine.Finish();
      report.stream_status = engine.status();
    }
  }
  if (editor) report.edits = editor->Finish();
  versions.Close();
  report.checks = checker.Finish();
  return status;
}

}  // namespace

uint64_t LoadReport::frames_lost() const {
  // A frame that was due and has none of the following outcomes was never sent, or was sent and not
  // answered.
  uint64_t outcomes = tally.frames_answered + tally.frames_skipped + tally.frames_refused;
  for (const auto& [code, count] : tally.frame_errors) outcomes += count;
  for (const auto& [code, count] : tally.group_errors) outcomes += count;
  return tally.frames_due > outcomes ? tally.frames_due - outcomes : 0;
}

double LoadReport::frames_per_second() const {
  return static_cast<double>(tally.frames_answered_in_time) / measured_s;
}

double LoadReport::queries_per_second() const {
  return frames_per_second() * options.queries_per_frame();
}

std::optional<double> LoadReport::server_cpu_ns_per_query() const {
  if (!server_cpu_s || queries_per_second() == 0) return std::nullopt;
  return *server_cpu_s * 1e9 / (queries_per_second() * measured_s);
}

absl::StatusOr<LoadReport> RunLoad(const LoadOptions& options, const StopFlag& stop) {
  const absl::Status checked = CheckOptions(options);
  if (!checked.ok()) return checked;
  const absl::StatusOr<Clocks> clocks = ClocksFor(options);
  if (!clocks.ok()) return clocks.status();
  ClientOptions client_options = options.security;
  client_options.own_connection = true;
  const absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Connect(options.address, client_options);
  if (!client.ok()) return client.status();
  const absl::StatusOr<Map> map = LoadMap(options);
  if (!map.ok()) return map.status();
  const std::string name = PrivateName();
  LoadReport report;
  report.options = options;
  const int64_t start = NowNs();
  const TransferProgress shown = [&options](uint64_t done, uint64_t total) {
    if (options.progress) options.progress("import", done, total);
  };
  const absl::StatusOr<SceneSummary> imported =
      (*client)->ImportScene(name, map->polygons, ImportMode::kCreate,
                             {.timeout = kNoTimeout.timeout, .progress = &shown});
  if (!imported.ok()) return imported.status();
  report.import_s = SecondsSince(start);
  report.polygon_count = imported->polygon_count;
  report.vertex_count = imported->vertex_count;
  const absl::StatusOr<Scene::Ptr> scene = Scene::Create(map->polygons, imported->version);
  absl::Status status = scene.status();
  if (status.ok()) status = RunInScene({**client, name, *map}, *scene, *clocks, stop, report);
  // Deletes the scene, whether or not the run succeeded.
  status.Update((*client)->DeleteScene(name));
  if (!status.ok()) return status;
  return report;
}

}  // namespace carom::load
