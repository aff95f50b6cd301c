// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do many streams cost, and one that asks little? `carom load` against a caromd of its own,
// both on the cores that there are; ping-pong beside an echo of gRPC alone.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/v1/query_service.pb.h"
#include "client/load/cpu_clock.h"
#include "client/load/load.h"
#include "tests/bench/groups.h"
#include "tests/bench/raw_stream.h"
#include "tests/bench/runner.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

using testing::ServerProcess;

constexpr double kMillisecond = 1e-6;  // of a nanosecond

// --- Ping-pong

void RunPingPong(Bench& bench) {
  bench.report.Title("service_ping");
  const auto caromd = ServerProcess::Start(CAROMD_BINARY, {"--threads", "1"});
  const auto echo = ServerProcess::Start(ECHO_BINARY);
  if (caromd == nullptr || echo == nullptr) return;
  v1::StreamRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/none");
  for (auto* column :
       {group.mutable_segments()->mutable_ax(), group.mutable_segments()->mutable_ay(),
        group.mutable_segments()->mutable_bx(), group.mutable_segments()->mutable_by()}) {
    column->Add(1);
  }
  // A scene of one polygon, by the service itself.
  {
    const auto client = Client::Connect(caromd->address());
    const auto square = Polygon::Create({.id = 1, .rings = {{{{5, 5}, {6, 5}, {6, 6}}}}});
    if (!client.ok() || !square.ok()) std::abort();
    const Polygon polygons[] = {*square};
    if (!(*client)->CreateScene("scenes/ping", polygons).ok()) std::abort();
    group.set_scene("scenes/ping");
  }
  RawStream ours(*caromd), theirs(*echo);
  const grpc::Slice slice(request.SerializeAsString());
  const grpc::ByteBuffer bytes(&slice, 1);
  std::vector<double> wall, cpu, echo_wall, echo_cpu;
  const int messages = bench.quick ? 500 : 5000;
  ours.Run(bytes, messages);
  theirs.Run(bytes, messages);
  for (int round = 0; round < bench.rounds(); ++round) {
    const RawStream::Cost a = ours.Run(bytes, messages), b = theirs.Run(bytes, messages);
    wall.push_back(a.wall_ns);
    cpu.push_back(a.server_ns);
    echo_wall.push_back(b.wall_ns);
    echo_cpu.push_back(b.server_ns);
  }
  bench.report.Add({"service_ping_round_trip", Median(wall), "echo", Median(echo_wall),
                    RatioAtMost(1.25), "ns on the wall, a frame of one bullet"});
  bench.report.Add({"service_ping_cpu", Median(cpu), "echo", Median(echo_cpu), RatioAtMost(1.25),
                    "ns of the server's CPU, a frame of one bullet"});
}

// --- Loads

load::LoadReport Load(const ServerProcess& server, load::LoadOptions options) {
  options.address = server.address();
  options.server_pid = server.pid();
  load::StopFlag stop = false;
  auto report = load::RunLoad(options, stop);
  if (!report.ok()) {
    std::fprintf(stderr, "bench: load: %s\n", std::string(report.status().message()).c_str());
    std::abort();
  }
  if (report->checks.differences != 0) std::abort();
  return *std::move(report);
}

void RunLoad(Bench& bench, const std::string& name, load::LoadOptions options) {
  if (!bench.Wants(name)) return;
  bench.report.Title(name);
  const auto server = ServerProcess::Start(CAROMD_BINARY);
  if (server == nullptr) return;
  options.duration_s = bench.quick ? 2 : 10;
  options.warmup_s = bench.quick ? 1 : 3;
  const load::LoadReport report = Load(*server, options);
  const load::Histogram& latency = report.tally.latency_ns;
  const auto at = [&](double share) {
    return static_cast<double>(latency.Quantile(share)) * kMillisecond;
  };
  const double cores = report.server_cpu_s.value_or(0) / report.measured_s;
  const std::string note =
      absl::StrFormat("p50 %.2f, p99.9 %.2f, max %.1f ms; %d lost; generator %.2f cores", at(0.5),
                      at(0.999), at(1), report.frames_lost(), report.own_cpu_s / report.measured_s);
  bench.report.Figure(name + " ns of the server a bullet",
                      report.server_cpu_ns_per_query().value_or(0), "ns");
  bench.report.Figure(name + " p99", at(0.99), "ms", note);
  bench.report.Figure(name + " of the server", cores, "cores");
}

// --- Memory

double ResidentBytes(pid_t pid) {
  std::FILE* file = std::fopen(absl::StrCat("/proc/", pid, "/statm").c_str(), "r");
  if (file == nullptr) return 0;
  long all = 0, resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &all, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * 4096 : 0;
}

// Idle streams on a scene of one polygon: how much more the server holds while they are there.
void RunMemory(Bench& bench, const std::string& name, uint32_t trackers, double goal) {
  if (!bench.Wants(name)) return;
  bench.report.Title(name);
  const auto server = ServerProcess::Start(CAROMD_BINARY);
  if (server == nullptr) return;
  load::LoadOptions options;
  options.polygons = 1;
  options.trackers = trackers;
  options.bullets = 0;
  options.connections = 10;
  options.streams = 10;
  options.rate_hz = trackers == 0 ? 0 : 2;
  options.warmup_s = 0;
  options.duration_s = 1;
  options.check = 0;
  Load(*server, options);  // what the first call of a kind takes is not a stream's
  const double before = ResidentBytes(server->pid());
  options.streams = bench.quick ? 200 : 2000;
  options.duration_s = 4;
  double most = before;
  std::atomic<bool> done = false;
  std::thread watch([&] {
    while (!done) {
      most = std::max(most, ResidentBytes(server->pid()));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  Load(*server, options);
  done = true;
  watch.join();
  bench.report.Add({name + "_bytes", (most - before) / options.streams, "-", 0, ValueAtMost(goal),
                    "resident bytes of the server a stream"});
}

void RunManyIdle(Bench& bench) {
  if (!bench.Wants("service_idle_10000")) return;
  bench.report.Title("service_idle_10000");
  const auto server = ServerProcess::Start(CAROMD_BINARY);
  if (server == nullptr) return;
  load::LoadOptions busy;
  busy.duration_s = bench.quick ? 2 : 6;
  load::LoadOptions idle;
  idle.polygons = 1;
  idle.streams = bench.quick ? 1000 : 10000;
  idle.connections = 100;
  idle.rate_hz = 0;
  idle.warmup_s = 0;
  idle.duration_s = busy.duration_s + busy.warmup_s;
  const load::LoadReport alone = Load(*server, busy);
  load::LoadReport beside;
  std::thread other([&] { beside = Load(*server, busy); });
  const load::LoadReport report = Load(*server, idle);
  other.join();
  bench.report.Add({"service_idle_10000_open_s", report.open_s, "-", 0, ValueAtMost(10),
                    "until the first frame of each was answered"});
  for (const auto& [what, load] : {std::pair{"alone", &alone}, {"beside them", &beside}}) {
    bench.report.Figure(absl::StrCat("service_idle_10000: p99 of 10 streams ", what),
                        static_cast<double>(load->tally.latency_ns.Quantile(0.99)) * kMillisecond,
                        "ms");
  }
}

}  // namespace

void RunFleet(Bench& bench) {
  if (bench.Wants("service_ping")) RunPingPong(bench);
  load::LoadOptions many;
  many.polygons = bench.quick ? 10000 : 100000;
  many.streams = bench.quick ? 100 : 1000;
  many.connections = 10;
  RunLoad(bench, "service_1000_streams", many);
  load::LoadOptions few = many;
  few.streams = 10;
  few.bullets = 1600;
  RunLoad(bench, "service_10_streams", few);
  RunMemory(bench, "service_idle_stream", 0, 32 << 10);
  RunMemory(bench, "service_100_trackers", 100, 48 << 10);
  RunManyIdle(bench);
}

}  // namespace carom::bench
