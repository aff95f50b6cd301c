// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to find which players each player sees, beside lines of sight to sample points
// of the players within range?

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "carom/sees.h"
#include "carom/visibility.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
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

}  // namespace

// 64 players in 20 x 20 rooms, where few are within range of each other, and crowded in 4 x 4
// rooms.
void RunSees(Bench& bench) {
  if (!bench.Wants("sees_rooms")) return;
  bench.report.Title("sees_rooms");
  RunRooms(bench, 20);
  RunRooms(bench, 4);
}

}  // namespace carom::bench
