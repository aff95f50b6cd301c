// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How soon does work stop that nobody wants any more? A caromd with one thread of each kind, on a
// frame that takes seconds.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/client.h"
#include "carom/stream.h"
#include "tests/bench/groups.h"
#include "tests/bench/runner.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

using std::chrono::milliseconds;

constexpr char kScene[] = "scenes/stops";
constexpr int kTeeth = 20000;
constexpr double kBudgetMs = 5;

// A comb of edges each of which every segment crosses.
bool CreateComb(Client& client) {
  PolygonSpec comb{.id = 1, .rings = {{}}};
  for (int i = 0; i < kTeeth; ++i) {
    comb.rings[0].vertices.push_back({static_cast<double>(i), i % 2 == 0 ? -1.0 : 1.0});
  }
  const auto polygon = Polygon::Create(comb);
  if (!polygon.ok()) return false;
  const Polygon polygons[] = {*polygon};
  return client.CreateScene(kScene, polygons).ok();
}

// Segments along the comb.
struct Crossings {
  explicit Crossings(size_t count) : ax(count, -1), ay(count, 0.25), bx(count, kTeeth) {}

  Frame frame() const {
    Frame frame;
    frame.groups.push_back({kScene, 0, {}});
    Group& group = frame.groups.back().group;
    group.segments = {ax, ay, bx, ay};
    group.cast_options.mode = CastMode::kAll;
    return frame;
  }

  std::vector<double> ax, ay, bx;
};

// Points far away: more than are answered where they arrive, so that they wait for the thread that
// is at work.
struct Probe {
  std::vector<double> x = std::vector<double>(2000, -1e6);

  double AskMs(Stream& stream) const {
    Frame frame;
    frame.groups.push_back({kScene, 0, {}});
    frame.groups.back().group.points = {x, x};
    const double start = WallNanoseconds();
    if (!stream.Send(frame).ok() || !stream.Receive().ok()) std::abort();
    return (WallNanoseconds() - start) * 1e-6;
  }
};

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void Add(Bench& bench, const char* name, const std::vector<double>& values, const char* note) {
  bench.report.Add({name, Quantile(values, 0.99), "-", 0, ValueAtMost(1),
                    absl::StrFormat("%s; p50 %.3f, max %.3f", note, Quantile(values, 0.5),
                                    Quantile(values, 1))});
}

}  // namespace

void RunStops(Bench& bench) {
  if (!bench.Wants("service_stops")) return;
  bench.report.Title("service_stops");
  const auto server = testing::ServerProcess::Start(CAROMD_BINARY, {"--threads", "1"});
  if (server == nullptr) return;
  const auto client = Client::Connect(server->address(), {.call_timeout = milliseconds(0)});
  const auto others = Client::Connect(server->address(), {.call_timeout = milliseconds(0)});
  if (!client.ok() || !others.ok() || !CreateComb(**client)) std::abort();
  const std::unique_ptr<Stream> other = (*others)->OpenStream();
  const Crossings crossings(60000);
  const Probe probe;
  const int rounds = bench.quick ? 20 : 200;
  std::vector<double> overshoot, cancelled, idle;
  for (int i = 0; i < rounds; ++i) {
    Frame frame = crossings.frame();
    frame.budget_us = static_cast<uint64_t>(kBudgetMs * 1000);
    const auto answer = (*client)->Evaluate(frame);
    if (!answer.ok() || answer->groups.at(0).status.code() != absl::StatusCode::kDeadlineExceeded) {
      std::abort();
    }
    overshoot.push_back(static_cast<double>(answer->stats.elapsed_ns) * 1e-6 - kBudgetMs);
    idle.push_back(probe.AskMs(*other));
    const std::unique_ptr<Stream> stream = (*client)->OpenStream();
    if (!stream->Send(crossings.frame()).ok()) std::abort();
    std::this_thread::sleep_for(milliseconds(10));  // it is at work
    stream->Cancel();
    cancelled.push_back(probe.AskMs(*other));
  }
  const double alone = Median(idle);
  for (double& ms : cancelled) ms -= alone;
  Add(bench, "service_stops_budget_ms", overshoot, "p99, from a budget's end to the answer's");
  Add(bench, "service_stops_cancel_ms", cancelled,
      "p99, from a cancelled stream to the next frame, less what that takes alone");
}

}  // namespace carom::bench
