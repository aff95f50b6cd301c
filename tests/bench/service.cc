// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a move cost the server, all included? A caromd of its own on loopback TCP, one stream
// of frames; its process's CPU time, which the kernel's work for it is part of.

#include <time.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/client.h"
#include "carom/stream.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

constexpr char kScene[] = "scenes/bench";

template <class T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) std::abort();
  return *std::move(value);
}

// Discs and squares a hundredth of a cell large, in free space, each of which shifts a little to
// and fro.
struct Fleet {
  Fleet(const World& world, size_t count) {
    const Points points = FreePoints(world, count, 71);
    x = points.x;
    y = points.y;
    c.assign(count, 1);
    s.assign(count, 0);
    shapes.push_back(Must(Shape::Create(Capsule{{{0, 0}, {0, 0}}, kCell / 100})));
    shapes.emplace_back(MakePolygons({RegularOutline(4, kCell / 100)})[0]);
    for (size_t i = 0; i < count; ++i) shape.push_back(static_cast<uint32_t>(i % 2));
  }

  void Tick(double by) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += by;
  }
  TrackerDefinitions definitions() const { return {.shapes = shapes, .shape = shape}; }
  MoveColumns moves() const { return {.x = x, .y = y, .c = c, .s = s}; }

  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y, c, s;
};

// A stream with a fleet, four frames ahead of their answers.
class ServiceRun {
 public:
  ServiceRun(Client& client, pid_t server, const World& world, size_t count)
      : fleet_(world, count), stream_(client.OpenStream({.max_in_flight = 4})) {
    if (clock_getcpuclockid(server, &clock_) != 0) std::abort();
    Frame frame;
    frame.trackers.push_back(fleet_.definitions());
    Send(frame);
    Receive();
  }

  // Nanoseconds of the server a move, of as many frames.
  double Move(int frames, Coherence coherence) {
    moves_ = {};
    const double before = ServerNanoseconds();
    for (int i = 0; i < frames; ++i) {
      fleet_.Tick(i % 2 == 0 ? 1e-6 * kCell : -1e-6 * kCell);
      Frame frame;
      frame.coherence = coherence;
      FrameGroup group;
      group.scene = kScene;
      group.group.moves = fleet_.moves();
      frame.groups.push_back(group);
      Send(frame);
      if (++ahead_ == 4) Receive();
    }
    while (ahead_ > 0) Receive();
    return (ServerNanoseconds() - before) / static_cast<double>(frames) /
           static_cast<double>(fleet_.x.size());
  }

  // Of the last run.
  const MoveTiers& moves() const { return moves_; }
  Fleet& fleet() { return fleet_; }

 private:
  double ServerNanoseconds() const {
    timespec time;
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }
  void Send(const Frame& frame) {
    if (!stream_->Send(frame).ok()) std::abort();
  }
  void Receive() {
    const FrameAnswer answer = Must(stream_->Receive());
    if (!answer.status.ok()) std::abort();
    for (const GroupResult& group : answer.groups) {
      if (!group.status.ok() || !group.answers.moves.errors.empty()) std::abort();
    }
    moves_ += answer.stats.moves;
    if (ahead_ > 0) --ahead_;
  }

  Fleet fleet_;
  std::unique_ptr<Stream> stream_;
  clockid_t clock_{};
  int ahead_ = 0;
  MoveTiers moves_;
};

// The same moves by the library in this process.
class LocalRun {
 public:
  LocalRun(Fleet& fleet, const Scene& scene) : fleet_(fleet), scene_(scene) {
    TrackerTable table;
    const TrackerDefinitions definitions = fleet.definitions();
    table.Apply(Must(table.Check({}, {&definitions, 1})));
    trackers_.assign(table.trackers().begin(), table.trackers().end());
  }

  double Move(int frames) {
    const double start = ThreadNanoseconds();
    for (int i = 0; i < frames; ++i) {
      fleet_.Tick(i % 2 == 0 ? 1e-6 * kCell : -1e-6 * kCell);
      WorkMeter meter;
      MoveColumns moves = fleet_.moves();
      moves.trackers = trackers_;
      MoveTrackers(scene_, moves, {}, answers_, meter);
    }
    return (ThreadNanoseconds() - start) / static_cast<double>(frames) /
           static_cast<double>(fleet_.x.size());
  }

 private:
  Fleet& fleet_;
  const Scene& scene_;
  std::vector<Tracker> trackers_;
  MoveAnswers answers_;
};

}  // namespace

void RunService(Bench& bench) {
  if (!bench.Wants("service_moves")) return;
  bench.report.Title("service_moves");
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const std::vector<Polygon> polygons = MakePolygons(world.polygons);
  const Scene::Ptr scene = MakeScene(polygons);
  const auto server = testing::ServerProcess::Start(CAROMD_BINARY, {"--threads", "1"});
  if (server == nullptr) {
    bench.report.Figure("service_moves", 0, "", "caromd did not start");
    return;
  }
  const std::unique_ptr<Client> client =
      Must(Client::Connect(server->address(), {.call_timeout = std::chrono::milliseconds(0)}));
  Must(client->ImportScene(kScene, polygons, ImportMode::kReplace));
  for (const size_t count : {256, 1024, 4096}) {
    ServiceRun service(*client, server->pid(), world, count);
    LocalRun local(service.fleet(), *scene);
    const int frames = static_cast<int>((bench.quick ? 200000 : 1000000) / count);
    std::vector<double> quiet, cold, library;
    MoveTiers tiers;
    service.Move(frames, Coherence::kOn);
    local.Move(frames);
    for (int round = 0; round < bench.rounds(); ++round) {
      quiet.push_back(service.Move(frames, Coherence::kOn));
      tiers += service.moves();
      library.push_back(local.Move(frames));
      cold.push_back(service.Move(frames / 4, Coherence::kOff));
    }
    const auto all = static_cast<double>(tiers.quiet + tiers.near + tiers.refresh + tiers.cold);
    const std::string name = absl::StrCat("service_moves_", count);
    bench.report.Figure(name + " without coherence", Median(cold), "ns of the server a move");
    bench.report.Figure(name + " in the library alone", Median(library), "ns a move");
    const std::string note = absl::StrFormat("server's CPU a move, all included; %.2f %% quiet",
                                             100 * static_cast<double>(tiers.quiet) / all);
    if (count == 1024) {
      bench.report.Add({name + "_ns", Median(quiet), "-", 0, ValueAtMost(50), note});
    } else {
      bench.report.Figure(name, Median(quiet), "ns a move", note);
    }
  }
}

}  // namespace carom::bench
