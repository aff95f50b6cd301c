// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do a tick's bullets hit, players included, and where do players come to that are pushed?

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "carom/cast.h"
#include "carom/sincos.h"
#include "carom/sweep.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

// What went wrong on a walk, by the exact answers of the core. `overlaps` counts players who
// overlap a wall in more than touch by anything at all, `deep` those who overlap it by a hundredth
// and more, which is twice the slop of Box2D.
struct Wrongs {
  size_t overlaps = 0, deep = 0, crossed = 0, stuck = 0;
};

// Asks about one capsule, on the walls of a map.
class Judge {
 public:
  Judge(const Scene& scene, const Walks& walks)
      : scene_(scene),
        exact_{Shape::Create(Capsule{walks.axis, walks.radius}).value()},
        smaller_{Shape::Create(Capsule{walks.axis, walks.radius - 0.01}).value()} {}

  bool Overlaps(Vec2 at) { return IsBlocked(exact_, at, {0, 0}, InsidePolicy::kBlocking); }
  bool IsDeep(Vec2 at) { return IsBlocked(smaller_, at, {0, 0}, InsidePolicy::kBlocking); }

  bool Meets(Vec2 a, Vec2 b) {
    CastOptions options;
    options.mode = CastMode::kAny;
    CastAnswers answers;
    WorkMeter meter;
    CastSegments(scene_, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, options, answers, meter);
    return answers.counts[0] != 0;
  }

  // Whether some direction within 87 degrees of the push is free for a fiftieth of it.
  bool IsFreeSomewhere(Vec2 at, Vec2 push) {
    for (int degrees = -87; degrees <= 87; degrees += 3) {
      const CosSin turn = SinCos(degrees * 0.017453292519943295);
      const Vec2 d{0.02 * (turn.c * push.x - turn.s * push.y),
                   0.02 * (turn.s * push.x + turn.c * push.y)};
      if (!IsBlocked(exact_, at, d, InsidePolicy::kBlockingLeave)) return true;
    }
    return false;
  }

 private:
  bool IsBlocked(const std::vector<Shape>& shape, Vec2 at, Vec2 d, InsidePolicy policy) {
    SweepColumns columns;
    columns.movers = {shape, {}, {&at.x, 1}, {&at.y, 1}};
    columns.dx = {&d.x, 1};
    columns.dy = {&d.y, 1};
    SweepAnswers answers;
    WorkMeter meter;
    SweepShapes(scene_, columns, {CastMode::kAny, policy}, answers, meter);
    return answers.counts[0] != 0;
  }

  const Scene& scene_;
  std::vector<Shape> exact_, smaller_;
};

// A push is far shorter than a player is wide, so whose centre meets a wall has crossed one. Stuck:
// moved by less than a hundredth of the push.
Wrongs Judged(Judge& judge, const Walks& walks, const std::vector<Vec2>& trace) {
  Wrongs wrongs;
  const size_t players = walks.players();
  for (size_t i = 0; i < trace.size(); ++i) {
    const Vec2 from = i < players ? Vec2{walks.start.x[i], walks.start.y[i]} : trace[i - players];
    const Vec2 push = walks.pushes[i];
    const Vec2 moved{trace[i].x - from.x, trace[i].y - from.y};
    if (judge.Overlaps(trace[i])) ++wrongs.overlaps;
    if (judge.IsDeep(trace[i])) ++wrongs.deep;
    if (judge.Meets(from, trace[i])) ++wrongs.crossed;
    if (std::hypot(moved.x, moved.y) < 0.01 * std::hypot(push.x, push.y) &&
        judge.IsFreeSomewhere(trace[i], push)) {
      ++wrongs.stuck;
    }
  }
  return wrongs;
}

void AddWrongs(Bench& bench, const std::string& row, const Wrongs& wrongs) {
  const auto add = [&](const char* what, size_t count) {
    bench.report.Figure(row + what, static_cast<double>(count), "player-ticks");
  };
  add("_stuck", wrongs.stuck);
  add("_overlapping", wrongs.overlaps);
  add("_overlapping_by_0.01", wrongs.deep);
  add("_crossed", wrongs.crossed);
}

void RunWalks(Bench& bench) {
  const std::string group = "match_walk";
  if (!bench.Wants(group)) return;
  bench.report.Title(group);
  const World world = WallWorld(16);
  Carom ours(world.polygons);
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world);
  const std::unique_ptr<ScenePeer> rapier = MakeRapier(world);
  const Walks walks = ours.RandomWalks(world, bench.quick ? 60 : 300);
  std::vector<Contender> contenders;
  std::vector<std::vector<Vec2>> traces(3, std::vector<Vec2>(walks.pushes.size()));
  for (ScenePeer* peer : {static_cast<ScenePeer*>(&ours), box2d.get(), rapier.get()}) {
    if (peer == nullptr) continue;
    contenders.push_back({peer->name(), peer->Walked(walks, traces[contenders.size()])});
  }
  const std::vector<Timing> timings =
      RunInterleaved(contenders, walks.pushes.size(), bench.rounds());
  bench.report.Timings(group, timings);
  AddRatio(bench, group + "_vs_box2d", timings, {"carom", "box2d"}, 2);
  Judge judge(*ours.scene(), walks);
  for (size_t i = 0; i < timings.size(); ++i) {
    AddWrongs(bench, group + "_" + timings[i].name, Judged(judge, walks, traces[i]));
  }
}

}  // namespace

// 2,000 bullets, as long as a cell and as ten, past the walls of a map and 200 discs that are
// placed anew each tick, in the middle of the map as players are.
void RunMatch(Bench& bench) {
  RunWalks(bench);
  const std::string group = "match_dense_1e5";
  if (!bench.Wants(group)) return;
  bench.report.Title(group);
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  Carom ours(world.polygons);
  Carom in_ticks(ours.scene(), 2000);
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world);
  const size_t count = bench.queries() / 2000 * 2000;
  for (const auto& [name, cells] : {std::pair<const char*, double>{"short", 1}, {"long", 10}}) {
    const Segments bullets = FreeSegments(world, count, cells * kCell, 3);
    const Ticks ticks{2000, 200, kCell / 8, FreePoints(world, count / 2000 * 200, 4)};
    const std::vector<Timing> timings =
        RunInterleaved({{"carom", ours.MatchTicks(bullets, ticks)},
                        {"carom, the scene alone", in_ticks.Casts(bullets)},
                        {"box2d", box2d ? box2d->MatchTicks(bullets, ticks) : Question()}},
                       count, bench.rounds());
    const std::string row = group + "_" + name;
    bench.report.Timings(row, timings);
    bench.report.Add(
        {row + "_over_scene", timings[0].ns, "the scene alone", timings[1].ns, RatioAtMost(1.5)});
    AddRatio(bench, row + "_vs_box2d", timings, {"carom", "box2d"}, 3);
  }
}

}  // namespace carom::bench
