// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a question cost the server, all included? A caromd of its own on loopback TCP, one
// stream of frames; its process's CPU time, which the kernel's work for it is part of.

#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/client.h"
#include "carom/stream.h"
#include "carom/v1/query_service.pb.h"
#include "client/load/cpu_clock.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/raw_stream.h"
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

// One stream to a server, four frames ahead of their answers, and the CPU time of its process.
class ServiceRun {
 public:
  ServiceRun(Client& client, pid_t server)
      : stream_(client.OpenStream({.max_in_flight = 4})),
        clock_(Must(load::CpuClock::Of(server))) {}

  void Define(const Fleet& fleet) {
    Frame frame;
    frame.trackers.push_back(fleet.definitions());
    Send(frame);
    Receive();
  }

  // Nanoseconds of the server a query, of `frames` frames of `queries` queries each: frame i is
  // what `make(i)` returns.
  template <class Make>
  double Ask(int frames, size_t queries, const Make& make) {
    moves_ = {};
    const double before = ServerNanoseconds();
    for (int i = 0; i < frames; ++i) {
      Send(make(i));
      if (++ahead_ == 4) Receive();
    }
    while (ahead_ > 0) Receive();
    return (ServerNanoseconds() - before) / static_cast<double>(frames) /
           static_cast<double>(queries);
  }

  double Move(Fleet& fleet, int frames, Coherence coherence) {
    return Ask(frames, fleet.x.size(), [&](int i) {
      fleet.Tick(i % 2 == 0 ? 1e-6 * kCell : -1e-6 * kCell);
      Frame frame;
      frame.coherence = coherence;
      frame.groups.push_back({kScene, 0, {}});
      frame.groups.back().group.moves = fleet.moves();
      return frame;
    });
  }

  // Of the last run.
  const MoveTiers& moves() const { return moves_; }

 private:
  double ServerNanoseconds() const { return clock_.Seconds().value_or(0) * 1e9; }
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

  std::unique_ptr<Stream> stream_;
  load::CpuClock clock_;
  int ahead_ = 0;
  MoveTiers moves_;
};

// The same moves by the library in this process.
class LocalRun {
 public:
  LocalRun(Fleet& fleet, const Scene& scene) : fleet_(fleet), scene_(scene) {
    for (const uint32_t shape : fleet.shape) {
      trackers_.push_back(Must(Tracker::Create(fleet.shapes[shape])));
    }
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

// Short bullets, of which the fraction and the polygon are asked.
class Bullets {
 public:
  Bullets(const World& world, size_t count, bool floats)
      : all_(FreeSegments(world, count, kCell, 5)) {
    if (!floats) return;
    for (std::vector<double>* column : {&all_.ax, &all_.ay, &all_.bx, &all_.by}) {
      for (double& value : *column) value = static_cast<float>(value);
    }
  }

  const Segments& all() const { return all_; }
  // A frame of `groups` groups of `count` bullets each, the next ones.
  Frame Next(size_t groups, size_t count) {
    Frame frame;
    for (size_t g = 0; g < groups; ++g) {
      if (next_ + count > all_.size()) next_ = 0;
      frame.groups.push_back({kScene, 0, {}});
      Group& group = frame.groups.back().group;
      const auto part = [&](const std::vector<double>& column) {
        return std::span<const double>(column).subspan(next_, count);
      };
      group.segments = {part(all_.ax), part(all_.ay), part(all_.bx), part(all_.by)};
      group.cast_options.detail = CastDetail::kFraction;
      next_ += count;
    }
    return frame;
  }

 private:
  Segments all_;
  size_t next_ = 0;
};

// The library's own casts of the same, in batches of `count`.
double CastNanoseconds(const Scene& scene, const Segments& all, size_t count) {
  CastAnswers answers;
  CastOptions options;
  options.detail = CastDetail::kFraction;
  const double start = ThreadNanoseconds();
  size_t done = 0;
  for (; done + count <= all.size(); done += count) {
    const auto part = [&](const std::vector<double>& column) {
      return std::span<const double>(column).subspan(done, count);
    };
    WorkMeter meter;
    CastSegments(scene, {part(all.ax), part(all.ay), part(all.bx), part(all.by)}, options, answers,
                 meter);
  }
  return (ThreadNanoseconds() - start) / static_cast<double>(done);
}

// What all runs of a bench use.
struct Site {
  const World& world;
  Scene::Ptr scene;
  Client& client;
  pid_t server;
  const testing::ServerProcess* echo;
};

void RunMoves(Bench& bench, const Site& site) {
  for (const size_t count : {256, 1024, 4096}) {
    Fleet fleet(site.world, count);
    ServiceRun service(site.client, site.server);
    service.Define(fleet);
    LocalRun local(fleet, *site.scene);
    const int frames = static_cast<int>((bench.quick ? 200000 : 1000000) / count);
    std::vector<double> quiet, cold, library;
    MoveTiers tiers;
    service.Move(fleet, frames, Coherence::kOn);
    local.Move(frames);
    for (int round = 0; round < bench.rounds(); ++round) {
      quiet.push_back(service.Move(fleet, frames, Coherence::kOn));
      tiers += service.moves();
      library.push_back(local.Move(frames));
      cold.push_back(service.Move(fleet, frames / 4, Coherence::kOff));
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

// What gRPC takes for a frame of as many bullets as bytes that are sent back, a bullet.
class EchoRun {
 public:
  EchoRun(const testing::ServerProcess& echo, const Segments& all, size_t count)
      : stream_(echo), count_(count) {
    v1::StreamRequest request;
    v1::Group& group = *request.mutable_frame()->add_groups();
    group.set_scene(kScene);
    v1::SegmentCasts& segments = *group.mutable_segments();
    segments.mutable_ax()->Add(all.ax.begin(), all.ax.begin() + count);
    segments.mutable_ay()->Add(all.ay.begin(), all.ay.begin() + count);
    segments.mutable_bx()->Add(all.bx.begin(), all.bx.begin() + count);
    segments.mutable_by()->Add(all.by.begin(), all.by.begin() + count);
    const grpc::Slice slice(request.SerializeAsString());
    request_ = grpc::ByteBuffer(&slice, 1);
  }

  double Nanoseconds(int frames) {
    return stream_.Run(request_, frames, 4).server_ns / static_cast<double>(count_);
  }

 private:
  RawStream stream_;
  const size_t count_;
  grpc::ByteBuffer request_;
};

void RunBullets(Bench& bench, const Site& site) {
  const size_t pool = bench.quick ? 8192 : 65536;
  Bullets doubles(site.world, pool, false), floats(site.world, pool, true);
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(site.world);
  const Question theirs = box2d ? box2d->Casts(doubles.all()) : Question();
  for (const auto& [count, over] : {std::pair<size_t, double>{256, 60}, {1024, 30}, {4096, 18}}) {
    ServiceRun service(site.client, site.server);
    EchoRun echo(*site.echo, doubles.all(), count);
    const int frames = static_cast<int>((bench.quick ? 50000 : 400000) / count);
    const auto ask = [&](Bullets& bullets) {
      return service.Ask(frames, count, [&](int) { return bullets.Next(1, count); });
    };
    std::vector<double> ours, as_floats, library, grpc_alone, peer;
    ask(doubles);
    for (int round = 0; round < bench.rounds(); ++round) {
      ours.push_back(ask(doubles));
      library.push_back(CastNanoseconds(*site.scene, doubles.all(), count));
      grpc_alone.push_back(echo.Nanoseconds(frames));
      as_floats.push_back(ask(floats));
      if (!theirs) continue;
      const double start = ThreadNanoseconds();
      theirs(0, pool);
      peer.push_back((ThreadNanoseconds() - start) / static_cast<double>(pool));
    }
    const std::string name = absl::StrCat("service_bullets_", count);
    bench.report.Figure(name, Median(ours), "ns of the server a bullet");
    bench.report.Figure(name + " as floats", Median(as_floats), "ns of the server a bullet");
    bench.report.Figure(name + " in the library alone", Median(library), "ns a bullet");
    bench.report.Figure(name + " by the echo", Median(grpc_alone), "ns of the server a bullet");
    bench.report.Add({name + "_over_library_and_echo_ns",
                      Median(ours) - Median(library) - Median(grpc_alone), "-", 0,
                      ValueAtMost(over),
                      "server's CPU a bullet, less the library's own cast and the echo's"});
    const double box2d_ns = peer.empty() ? 0 : Median(peer);
    bench.report.Add({name + "_vs_box2d", Median(ours),
                      peer.empty() ? "box2d: not built" : "box2d v3", box2d_ns, RatioAtLeast(3),
                      "its local cast", !peer.empty()});
  }
}

// Frames of as many bullets in many groups, over those in one group.
void RunGroupsOf(Bench& bench, const Site& site, size_t groups, size_t each, double over) {
  const size_t count = groups * each;
  Bullets bullets(site.world, std::max<size_t>(8192, 8 * count), false);
  ServiceRun service(site.client, site.server);
  const int frames = bench.quick ? 200 : 2000;
  const auto ask = [&](size_t parts) {
    return service.Ask(frames, 1, [&](int) { return bullets.Next(parts, count / parts); });
  };
  std::vector<double> one, many;
  ask(groups);
  for (int round = 0; round < bench.rounds(); ++round) {
    one.push_back(ask(1));
    many.push_back(ask(groups));
  }
  bench.report.Add({absl::StrCat("service_", groups, "_groups_of_", each), Median(many),
                    absl::StrCat("one group of ", count), Median(one), RatioAtMost(over),
                    "server's CPU ns a frame"});
}

void RunGroups(Bench& bench, const Site& site) {
  RunGroupsOf(bench, site, 256, 1, 4);
  RunGroupsOf(bench, site, 64, 16, 1.3);
}

}  // namespace

void RunService(Bench& bench) {
  const bool moves = bench.Wants("service_moves");
  const bool bullets = bench.Wants("service_bullets");
  const bool groups = bench.Wants("service_groups");
  if (!moves && !bullets && !groups) return;
  bench.report.Title("service");
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const std::vector<Polygon> polygons = MakePolygons(world.polygons);
  const auto server = testing::ServerProcess::Start(CAROMD_BINARY, {"--threads", "1"});
  if (server == nullptr) {
    bench.report.Figure("service", 0, "", "caromd did not start");
    return;
  }
  const std::unique_ptr<Client> client =
      Must(Client::Connect(server->address(), {.call_timeout = std::chrono::milliseconds(0)}));
  Must(client->ImportScene(kScene, polygons, ImportMode::kReplace));
  const auto echo = testing::ServerProcess::Start(ECHO_BINARY);
  if (echo == nullptr) std::abort();
  const Site site{world, MakeScene(polygons), *client, server->pid(), echo.get()};
  if (moves) RunMoves(bench, site);
  if (bullets) RunBullets(bench, site);
  if (groups) RunGroups(bench, site);
}

}  // namespace carom::bench
