// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a call cost that is no stream? ghz, a load generator that nobody here wrote, calls
// `Evaluate`; beside it `carom load` asks as many bullets a frame of the same map over streams.
// Four frames in flight over two connections, both.

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "client/load/cpu_clock.h"
#include "client/load/load.h"
#include "tests/bench/groups.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

using testing::ServerProcess;

struct Calls {
  double per_second = 0, p50_us = 0, p99_us = 0, cpu_us = 0;  // of the server, a call
};

void AddFigures(Bench& bench, const char* who, const Calls& calls) {
  bench.report.Figure(absl::StrFormat("service_unary: %s, server's CPU a frame of 64", who),
                      calls.cpu_us, "us",
                      absl::StrFormat("%.0f frames a second, p50 %.0f us, p99 %.0f us",
                                      calls.per_second, calls.p50_us, calls.p99_us));
}

bool RunGhz(const ServerProcess& server, int seconds, Calls& calls) {
  const load::CpuClock clock = *load::CpuClock::Of(server.pid());
  const double before = clock.Seconds().value_or(0);
  const testing::ProcessResult result = testing::RunProcess(
      {"env", "CAROM_BINARY=" CAROM_BINARY, GHZ_SCRIPT, server.address(), std::to_string(seconds)},
      "", 1800);
  const double after = clock.Seconds().value_or(0);
  const size_t line = result.standard_output.find('\n');
  double requests = 0;
  if (result.exit_code != 0 || line == std::string::npos ||
      std::sscanf(result.standard_output.c_str() + line, "%lf %lf %lf %lf", &calls.per_second,
                  &calls.p50_us, &calls.p99_us, &requests) != 4) {
    std::fprintf(stderr, "bench: ghz: %s\n", result.standard_error.c_str());
    return false;
  }
  calls.cpu_us = (after - before) * 1e6 / requests;
  return true;
}

bool RunStreams(const ServerProcess& server, int seconds, Calls& calls) {
  load::LoadOptions options;
  options.address = server.address();
  options.server_pid = server.pid();
  options.map = ARENA;
  options.streams = 2;
  options.connections = 2;
  options.closed = 2;
  options.bullets = 64;
  options.detail = CastDetail::kNormal;  // as ghz asks
  options.duration_s = seconds;
  load::StopFlag stop = false;
  const auto report = load::RunLoad(options, stop);
  if (!report.ok() || report->checks.differences != 0) return false;
  const load::Histogram& latency = report->tally.latency_ns;
  calls.per_second = static_cast<double>(latency.count()) / report->measured_s;
  calls.p50_us = static_cast<double>(latency.Quantile(0.5)) * 1e-3;
  calls.p99_us = static_cast<double>(latency.Quantile(0.99)) * 1e-3;
  calls.cpu_us = report->server_cpu_ns_per_query().value_or(0) * 64e-3;
  return true;
}

}  // namespace

void RunUnary(Bench& bench) {
  if (!bench.Wants("service_unary")) return;
  bench.report.Title("service_unary");
  const auto server = ServerProcess::Start(CAROMD_BINARY);
  if (server == nullptr) return;
  const int seconds = bench.quick ? 2 : 10;
  Calls ghz, streams;
  if (RunGhz(*server, 1, ghz) && RunGhz(*server, seconds, ghz)) {
    AddFigures(bench, "Evaluate by ghz", ghz);
  } else {
    bench.report.Figure("service_unary: ghz did not run", 0, "");
  }
  if (RunStreams(*server, seconds, streams)) AddFigures(bench, "a stream by carom load", streams);
}

}  // namespace carom::bench
