// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Queries whose instructions instructions.sh counts under callgrind, which is asked to count these
// alone. Without valgrind it runs as well, and counts nothing.

#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "carom/area.h"
#include "tests/bench/ours.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr size_t kQueries = 4096;

// Counts one pass of a question that is warm. The name of the dump is that of the query.
template <class Name>
void Count(Name name, const Question& question, size_t queries = kQueries) {
  question(0, queries);
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  const uint64_t hits = question(0, queries);
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
  std::printf("%s %zu %llu\n", name, queries, static_cast<unsigned long long>(hits));
}

// A quarter of a cell, a path of one cell.
void CountSweeps(Carom& ours, const Placements& placements) {
  const Sweeps octagons = RandomSweeps(RegularOutline(8, kCell / 4), 0, placements, kCell, 6);
  const Sweeps capsules =
      RandomSweeps({{-kCell / 8, 0}, {kCell / 8, 0}}, kCell / 8, placements, kCell, 7);
  Count("sweep_8gon", ours.Swept(octagons));
  Count("sweep_capsule", ours.Swept(capsules));
}

// Rooms with islands, and lines through many of them.
void CountWalls() {
  const World world = WallWorld(40);
  Carom ours(world.polygons);
  const Segments far = FreeSegments(world, kQueries, 25 * kRoom, 8);
  Count("cast_walls_long", ours.Casts(far));
  const World small = WallWorld(16);
  Carom there(small.polygons);
  const Walks walks = there.RandomWalks(small, 120);
  std::vector<Vec2> trace(walks.pushes.size());
  Count("slide_walls", there.Walked(walks, trace), walks.pushes.size());
}

// Bullets past discs that are placed anew each tick, one for ten bullets.
void CountMatch(Carom& ours, const World& world, const Segments& bullets) {
  constexpr size_t kTick = 1024;
  const Points at = FreePoints(world, kQueries / 10 + 4, 12);
  const Ticks ticks{kTick, kTick / 10, kCell / 8, at};
  Count("bullets_past_bodies", ours.MatchTicks(bullets, ticks));
}

// What eyes see in rooms with islands, as far as the walls reach: in a batch of ten.
void CountAreas() {
  constexpr size_t kEyes = 200, kBatch = 10;
  const World world = WallWorld(12);
  const Carom ours(world.polygons);
  const Points eyes = FreePoints(world, kEyes, 13);
  const std::vector<double> range(kEyes, 4 * world.half());
  const auto areas = [&, answers = AreaAnswers()](size_t begin, size_t end) mutable {
    uint64_t pieces = 0;
    for (size_t at = begin; at < end; at += kBatch) {
      const auto cut = [&](const std::vector<double>& column) {
        return std::span(column).subspan(at, kBatch);
      };
      WorkMeter meter;
      if (!FindAreas(*ours.scene(), {cut(eyes.x), cut(eyes.y), cut(range)}, {}, answers, meter)) {
        std::abort();
      }
      pieces += answers.pieces.size();
    }
    return pieces;
  };
  Count("areas_rooms", areas, kEyes);
}

// Polygons of more vertices than the fast paths take, in batches of 16: what these cost where they
// do not help.
void CountLarge() {
  World world = DenseWorld(400);
  for (Outline& outline : world.polygons) {
    const Vec2 center = outline[0];
    outline = MakeOutline(OutlineKind::kStar, 100, 9);
    for (Vec2& p : outline) p = {center.x + p.x, center.y + p.y};
  }
  Carom ours(MakeScene(MakePolygons(world.polygons)), 16);
  const Segments near = FreeSegments(world, kQueries, kCell, 10);
  const Points points = FreePoints(world, kQueries, 11);
  Count("cast_large_polygons", ours.Casts(near));
  Count("nearest_large_polygons", ours.Nearest(points, kCell / 2));
}

void Run() {
  const World world = DenseWorld(10000);
  Carom ours(world.polygons);
  Carom one_by_one(ours.scene(), 1);
  const Segments near = FreeSegments(world, kQueries, kCell, 1);
  const Segments far = FreeSegments(world, kQueries, 100 * kCell, 2);
  const Points points = FreePoints(world, kQueries, 3);
  // A circumradius of a quarter of a cell, and walkers of half a cell.
  const Placements placements = RandomPlacements(1, world.half(), kQueries, 4);
  const Movers boxes{{RegularOutline(4, kCell / 4)}, placements};
  const Movers octagons{{RegularOutline(8, kCell / 4)}, placements};
  const Movers walkers{{RegularOutline(8, kCell / 2)},
                       WalkerPlacements(256, world.half(), kQueries, 5)};
  Carom coastline(std::vector<Outline>{MakeOutline(OutlineKind::kCoastline, 10000, 5)});
  Points inside{near.ax, near.ay};
  for (double& x : inside.x) x /= world.half();
  for (double& y : inside.y) y /= world.half();

  Count("cast_short", ours.Casts(near));
  Count("cast_long", ours.Casts(far));
  Count("cast_short_single", one_by_one.Casts(near));
  Count("contacts_4gon", ours.Contacts(boxes));
  Count("contacts_8gon", ours.Contacts(octagons));
  Count("contacts_half_spacing", ours.Contacts(walkers));
  Count("nearest", ours.Nearest(points, kCell / 2));
  Count("point_in_coastline", coastline.Holds(inside));
  CountSweeps(ours, placements);
  CountMatch(ours, world, near);
  CountWalls();
  CountAreas();
  CountLarge();
}

}  // namespace
}  // namespace carom::bench

int main() {
  carom::bench::Run();
  return 0;
}
