// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to find which players each player sees, beside lines of sight to sample points
// of the players within range? And what do trackers save for eyes that walk?

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/sees.h"
#include "carom/visibility.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/random.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr size_t kPlayers = 64;
constexpr size_t kSamples = 8;  // on the boundary of a player
constexpr double kRadius = 0.5;
constexpr double kRange = 2 * kRoom;

template <class T>
T ValueOf(absl::StatusOr<T> value) {
  if (!value.ok()) std::abort();
  return *std::move(value);
}

// Players in the walls scene, each an observer and a body.
struct Players {
  Players(size_t rooms, Shape the_shape)
      : world(WallWorld(rooms)),
        scene(MakeScene(MakePolygons(world.polygons))),
        at(FreePoints(world, kPlayers, 3)),
        range(kPlayers, kRange),
        shapes{std::move(the_shape)},
        shape(kPlayers, 0) {
    for (size_t i = 0; i < kPlayers; ++i) owner.push_back(1 + static_cast<uint32_t>(i));
    bodies = ValueOf(Bodies::Create({{shapes, shape, at.x, at.y}, {}, owner}));
  }

  // Each item is a tick: counts who is seen.
  Question Sees() {
    return [this, answers = SeeAnswers()](size_t begin, size_t end) mutable {
      uint64_t seen = 0;
      for (size_t tick = begin; tick < end; ++tick) {
        WorkMeter meter;
        AreaColumns observers{at.x, at.y, range};
        observers.scope.ignore_owner = owner;
        if (!FindSeen({*scene, &bodies}, observers, {}, answers, meter)) std::abort();
        for (const uint32_t count : answers.counts) seen += count;
      }
      return seen;
    };
  }

  // The sample points of other players, or only of those whose discs reach into the range, in one
  // batch.
  Question Sights(double most) {
    std::vector<double> ax, ay, bx, by;
    for (size_t i = 0; i < kPlayers; ++i) {
      for (size_t j = 0; j < kPlayers; ++j) {
        if (i == j || std::hypot(at.x[i] - at.x[j], at.y[i] - at.y[j]) >= most) continue;
        for (size_t k = 0; k < kSamples; ++k) {
          const double angle = 2 * std::numbers::pi * static_cast<double>(k) / kSamples;
          ax.push_back(at.x[i]);
          ay.push_back(at.y[i]);
          bx.push_back(at.x[j] + kRadius * std::cos(angle));
          by.push_back(at.y[j] + kRadius * std::sin(angle));
        }
      }
    }
    return [this, ax, ay, bx, by, answers = SightAnswers()](size_t begin, size_t end) mutable {
      uint64_t seen = 0;
      for (size_t tick = begin; tick < end; ++tick) {
        WorkMeter meter;
        if (!TestLinesOfSight(*scene, {ax, ay, bx, by}, {}, answers, meter)) std::abort();
        for (size_t i = 0; i < answers.visible.size(); i += kSamples) {
          bool any = false;
          for (size_t k = 0; k < kSamples; ++k) any = any || answers.visible[i + k] != 0;
          seen += any ? 1 : 0;
        }
      }
      return seen;
    };
  }

  const World world;
  const Scene::Ptr scene;
  const Points at;
  const std::vector<double> range;
  const std::vector<Shape> shapes;
  const std::vector<uint32_t> shape;
  std::vector<uint32_t> owner;
  Bodies bodies;
};

Shape Octagon() {
  RingSpec ring;
  for (size_t k = 0; k < kSamples; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / kSamples;
    ring.vertices.push_back({kRadius * std::cos(angle), kRadius * std::sin(angle)});
  }
  return ValueOf(Polygon::Create({1, {ring}}));
}

void RunRooms(Bench& bench, size_t rooms) {
  const std::string row = "sees_rooms_" + std::to_string(rooms);
  Players discs(rooms, ValueOf(Shape::Create(Capsule{{}, kRadius})));
  Players octagons(rooms, Octagon());
  const std::vector<Timing> timings =
      RunInterleaved({{"Carom, discs", discs.Sees()},
                      {"Carom, octagons", octagons.Sees()},
                      {"sights", discs.Sights(HUGE_VAL)},
                      {"sights within range", discs.Sights(kRange + kRadius)}},
                     bench.quick ? 4 : 32, bench.rounds());
  bench.report.Timings(row, timings);
  bench.report.Add(
      {row + "_ratio", timings[0].ns, "8 sights a pair", timings[2].ns, RatioAtLeast(3)});
  bench.report.Add({row + "_ns", timings[0].ns, "-", 0, ValueAtMost(4e6)});
}

// The positions of the players tick by tick. Each walks straight on, and turns where a wall is
// near.
std::vector<Points> Walk(const Scene& scene, Points at, size_t ticks, double step) {
  Random random(7);
  std::vector<double> angle(at.size());
  for (double& each : angle) each = random.Between(0, 2 * std::numbers::pi);
  std::vector<Points> path;
  CastAnswers answers;
  for (size_t tick = 0; tick < ticks; ++tick) {
    path.push_back(at);
    Points to = at;
    for (size_t i = 0; i < at.size(); ++i) {
      to.x[i] += (step + kRadius) * std::cos(angle[i]);
      to.y[i] += (step + kRadius) * std::sin(angle[i]);
    }
    WorkMeter meter;
    if (!CastSegments(scene, {at.x, at.y, to.x, to.y}, {}, answers, meter)) std::abort();
    for (size_t i = 0; i < at.size(); ++i) {
      if (answers.counts[i] > 0) {
        angle[i] += random.Between(1, 5);
      } else {
        at.x[i] += step * std::cos(angle[i]);
        at.y[i] += step * std::sin(angle[i]);
      }
    }
  }
  return path;
}

// Walks from the first tick to the last one and back, so that no question is far from the one
// before it.
template <class Ask>
Question Walking(const std::vector<Points>& path, Ask ask) {
  return [&path, ask = std::move(ask), tick = size_t{0}](size_t begin, size_t end) mutable {
    uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i, ++tick) {
      const size_t at = tick % (2 * path.size());
      sum += ask(path[std::min(at, 2 * path.size() - 1 - at)]);
    }
    return sum;
  };
}

// Each item is a tick: the areas of all players, or who sees whom.
void RunWalk(Bench& bench, size_t rooms, double step) {
  const std::string row = absl::StrFormat("eyes_walk_%d_%g", rooms, step);
  const Players players(rooms, Octagon());
  const auto path = Walk(*players.scene, players.at, 512, step);
  EyeTiers tiers;
  const auto areas = [&](std::vector<EyeTracker> trackers) {
    auto ask = [&, trackers, answers = AreaAnswers()](const Points& at) mutable {
      WorkMeter meter;
      AreaColumns eyes{at.x, at.y, players.range};
      eyes.trackers = trackers;
      if (!FindAreas(*players.scene, eyes, {}, answers, meter)) std::abort();
      tiers.quiet += answers.tiers.quiet;
      tiers.refresh += answers.tiers.refresh;
      tiers.cold += answers.tiers.cold;
      return uint64_t{answers.pieces.size()};
    };
    return Walking(path, std::move(ask));
  };
  const auto sees = [&](std::vector<EyeTracker> trackers) {
    auto ask = [&, trackers, answers = SeeAnswers()](const Points& at) mutable {
      const Bodies bodies =
          ValueOf(Bodies::Create({{players.shapes, players.shape, at.x, at.y}, {}, players.owner}));
      WorkMeter meter;
      AreaColumns observers{at.x, at.y, players.range};
      observers.scope.ignore_owner = players.owner;
      observers.trackers = trackers;
      if (!FindSeen({*players.scene, &bodies}, observers, {}, answers, meter)) std::abort();
      uint64_t seen = 0;
      for (const uint32_t count : answers.counts) seen += count;
      return seen;
    };
    return Walking(path, std::move(ask));
  };
  const std::vector<EyeTracker> trackers(kPlayers);
  const size_t ticks = bench.quick ? 16 : 128;
  const std::vector<Timing> areas_ns = RunInterleaved(
      {{"with trackers", areas(trackers)}, {"without", areas({})}}, ticks, bench.rounds());
  const std::vector<Timing> sees_ns = RunInterleaved(
      {{"with trackers", sees(trackers)}, {"without", sees({})}}, ticks, bench.rounds());
  bench.report.Timings(row + "_areas", areas_ns);
  bench.report.Timings(row + "_sees", sees_ns);
  const auto all = static_cast<double>(tiers.quiet + tiers.refresh + tiers.cold);
  bench.report.Figure(row + "_quiet", 100 * static_cast<double>(tiers.quiet) / all, "%");
  bench.report.Figure(row + "_refresh", 100 * static_cast<double>(tiers.refresh) / all, "%");
  bench.report.Add(
      {row + "_areas", areas_ns[0].ns, "without trackers", areas_ns[1].ns, RatioAtLeast(1)});
  bench.report.Add(
      {row + "_sees", sees_ns[0].ns, "without trackers", sees_ns[1].ns, RatioAtLeast(1)});
}

}  // namespace

// 64 players in 20 x 20 rooms, where few are within range of each other, and crowded in 4 x 4
// rooms.
void RunSees(Bench& bench) {
  if (bench.Wants("sees_rooms")) {
    bench.report.Title("sees_rooms");
    RunRooms(bench, 20);
    RunRooms(bench, 4);
  }
  if (bench.Wants("eyes_walk")) {
    bench.report.Title("eyes_walk");
    for (const size_t rooms : {20, 4}) {
      for (const double step : {0.01, 0.1}) RunWalk(bench, rooms, step);
    }
  }
}

}  // namespace carom::bench
