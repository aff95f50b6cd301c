// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom load`: short runs, in the process and as a command.
#include "client/load/load.h"

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/load/report.h"
#include "client/load/schedule.h"
#include "tests/client/fixture.h"
#include "tests/support/process.h"

namespace carom::load {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr int kMaxRuns = 5;

// Whether the host delayed the sender of a run that has no fault else: frames that are due long
// after their time are not sent, and those of a closed loop may begin after the measured time.
bool HadNoTime(const json& report) {
  const json& frames = report["frames"];
  if (frames["answered_count"] != frames["sent_count"] || frames["strange_answer_count"] != 0 ||
      !frames["stream_ends"].empty() || report["edits"]["status"] != "OK" ||
      report["checks"]["differences"] != 0) {
    return false;
  }
  if (frames["due_count"] == 0) return report["setting"]["rate_hz"] != 0;
  return frames["sent_count"] < frames["due_count"] || report["send_delay"]["max_ms"] > 200;
}

class LoadTest : public ClientTest {
 protected:
  LoadOptions Options() const {
    LoadOptions options;
    options.address = server_->address();
    options.polygons = 400;
    options.warmup_s = 0.1;
    options.duration_s = 0.3;
    return options;
  }
  // The report of a run whose sender had time, if one of the first runs is such.
  LoadReport Load(const LoadOptions& options) {
    const StopFlag stop = false;
    absl::StatusOr<LoadReport> report;
    for (int run = 0; run < kMaxRuns; ++run) {
      report = RunLoad(options, stop);
      EXPECT_TRUE(report.ok()) << report.status();
      const auto scenes = client_->ListAllScenes();
      EXPECT_TRUE(scenes.ok() && scenes->empty());
      if (!report.ok() || !report->stream_status.ok()) break;
      if (!HadNoTime(json::parse(ReportJson(*report)))) break;
    }
    return report.ok() ? *std::move(report) : LoadReport();
  }
  testing::ProcessResult Carom(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {Environment("CAROM_BINARY"), "load", "--address", server_->address()});
    return testing::RunProcess(arguments, "", 60);
  }
};

void ExpectNoFault(const LoadReport& report) {
  EXPECT_GT(report.tally.frames_due, 0u);
  EXPECT_EQ(report.tally.frames_answered, report.tally.frames_due);
  EXPECT_EQ(report.tally.frames_sent, report.tally.frames_due);
  EXPECT_EQ(report.frames_lost(), 0u);
  EXPECT_EQ(report.tally.unexpected_answers, 0u);
  EXPECT_TRUE(report.tally.stream_ends.empty());
  EXPECT_TRUE(report.stream_status.ok()) << report.stream_status;
  EXPECT_TRUE(report.edits.status.ok()) << report.edits.status;
  EXPECT_EQ(report.checks.differences, 0u) << report.checks.first_difference;
  EXPECT_EQ(report.tally.latency_ns.count(), report.tally.frames_answered);
}

TEST_F(LoadTest, AnOpenLoopWithEditsLosesNothingAndEveryAnswerIsRight) {
  LoadOptions options = Options();
  options.duration_s = 1;
  options.streams = 6;
  options.connections = 3;
  options.threads = 2;
  options.trackers = 8;
  options.edits_hz = 50;
  options.check = 3;
  options.detail = CastDetail::kExit;
  const LoadReport report = Load(options);
  ExpectNoFault(report);
  EXPECT_NEAR(static_cast<double>(report.tally.frames_due), 360, 6);
  EXPECT_GT(report.checks.checked, 60u);
  EXPECT_GT(report.edits.commits, 5u);
  const MoveTiers& moves = report.tally.moves;
  EXPECT_EQ(moves.quiet + moves.near + moves.refresh + moves.cold,
            8 * report.tally.frames_answered);
  EXPECT_GT(moves.quiet, moves.refresh);
}

TEST_F(LoadTest, AClosedLoopKeepsFramesInFlight) {
  LoadOptions options = Options();
  options.streams = 2;
  options.closed = 3;
  options.bullets = 4;
  const LoadReport report = Load(options);
  ExpectNoFault(report);
  EXPECT_EQ(report.tally.frames_late, 0u);
  EXPECT_GT(report.frames_per_second(), 0);
}

TEST_F(LoadTest, IdleStreamsAreOpenedAndClosed) {
  LoadOptions options = Options();
  options.streams = 300;
  options.connections = 10;
  options.rate_hz = 0;
  options.duration_s = 0.05;
  const LoadReport report = Load(options);
  EXPECT_EQ(report.tally.frames_due, 0u);
  EXPECT_TRUE(report.tally.stream_ends.empty());
  EXPECT_TRUE(report.stream_status.ok()) << report.stream_status;
  EXPECT_GT(report.open_s, 0);
}

TEST_F(LoadTest, AStopEndsTheRunAndTheSceneGoes) {
  LoadOptions options = Options();
  options.duration_s = 60;
  StopFlag stop = false;
  std::thread stopper([&] {
    SleepUntil(NowNs() + 300000000);
    stop = true;
  });
  const absl::StatusOr<LoadReport> report = RunLoad(options, stop);
  stopper.join();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_stopped);
  EXPECT_LT(report->measured_s, 30);
  EXPECT_EQ(report->frames_lost(), 0u);
  EXPECT_EQ(RunLoad(options, stop).status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

// More trackers than the server lets a stream have.
TEST_F(LoadTest, StreamsThatCannotBeOpenedAreAnError) {
  server::ServerOptions few;
  few.max_trackers_per_stream = 4;
  StartServer(few);
  LoadOptions options = Options();
  options.trackers = 5;
  const StopFlag stop = false;
  const absl::Status status = RunLoad(options, stop).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("a stream did not open"));
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

TEST_F(LoadTest, TheCommandWritesItsReport) {
  const std::string json_file = folder_ / "report.json", plot = folder_ / "latency.svg";
  const std::vector<std::string> arguments = {
      "--duration",
      "0.3",
      "--warmup",
      "0",
      "--streams",
      "3",
      "--trackers",
      "2",
      "--edits",
      "20",
      "--check",
      "2",
      "--map",
      Environment("CAROM_SOURCE_DIR") + "/client/examples/arena.json",
      "--server-pid",
      std::to_string(getpid()),
      "--text",
      "--report",
      json_file,
      "--plot",
      plot};
  testing::ProcessResult result;
  json report;
  for (int run = 0; run < kMaxRuns; ++run) {
    result = Carom(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
    report = json::parse(Contents(json_file));
    if (!HadNoTime(report)) break;
  }
  for (const char* row : {"map", "streams", "frames", "latency", "throughput", "server CPU",
                          "moves", "commits", "checked"}) {
    EXPECT_THAT(result.standard_output, HasSubstr(absl::StrCat("\n  ", row, " "))) << row;
  }
  EXPECT_EQ(report["setting"]["streams"], 3);
  EXPECT_EQ(report["frames"]["lost_count"], 0);
  EXPECT_GT(report["frames"]["queries_per_second"].get<double>(), 0);
  for (const char* name : {"p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms"}) {
    EXPECT_GT(report["latency"][name].get<double>(), 0) << name;
  }
  EXPECT_GT(report["server"]["cpu_ns_per_query"].get<double>(), 0);
  EXPECT_GT(report["server"]["quiet_moves"].get<uint64_t>(), 0u);
  EXPECT_GT(report["edits"]["commit_count"].get<uint64_t>(), 0u);
  EXPECT_GT(report["checks"]["checked_frames"].get<uint64_t>(), 0u);
  EXPECT_EQ(report["checks"]["differences"], 0);
  EXPECT_THAT(Contents(plot), HasSubstr("</svg>"));
  // Where there is no terminal, the report is one line of JSON.
  const auto printed = Carom({"--duration", "1", "--warmup", "0", "--polygons", "100"});
  EXPECT_EQ(std::count(printed.standard_output.begin(), printed.standard_output.end(), '\n'), 1);
  EXPECT_GT(json::parse(printed.standard_output)["frames"]["queries_per_second"].get<double>(), 0);
}

TEST_F(LoadTest, CommandLinesThatCannotBeReadAreExitStatusTwo) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const auto result = Carom(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.standard_error, HasSubstr(message));
    EXPECT_EQ(result.standard_output, "");
  };
  refused({"--streams", "2", "--connections", "4"}, "--connections 4 is above --streams 2");
  refused({"--closed", "2", "--rate", "60"}, "--rate excludes --closed");
  refused({"--streams", "0"}, "--streams: Value 0 not in range");
  refused({"--rate", "-1"}, "--rate: Value -1 not in range");
  refused({"--detail", "all"}, "--detail");
  refused({"--map", "a.json", "--polygons", "5"}, "--map excludes --polygons");
  const auto missing = Carom({"--map", "/no/such/file"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.standard_error, HasSubstr("NOT_FOUND"));
}

TEST_F(LoadTest, ASignalEndsTheCommandAndTheSceneGoes) {
  const std::string pid = folder_ / "pid";
  testing::ProcessResult result;
  std::thread command([&] {
    result = testing::RunProcess(
        {"sh", "-c", "echo $$ >\"$0\"; exec \"$@\"", pid, Environment("CAROM_BINARY"), "load",
         "--address", server_->address(), "--polygons", "400", "--warmup", "0", "--duration", "50"},
        "", 100);
  });
  // The command handles signals before it makes its scene.
  bool has_scene = false;
  for (int i = 0; i < 3000 && !has_scene; ++i) {
    SleepUntil(NowNs() + 10 * kMillisecondNs);
    has_scene = !client_->ListAllScenes()->empty();
  }
  SleepUntil(NowNs() + 1000 * kMillisecondNs);  // it opens its stream
  EXPECT_TRUE(has_scene);
  if (has_scene) kill(std::stoi(Contents(pid)), SIGINT);
  command.join();
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr("stopped"));
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

}  // namespace
}  // namespace carom::load
