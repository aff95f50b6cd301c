// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many queries need exact arithmetic? Asks them one by one, and prints for each kind,
// tab-separated, the name and the share of queries in which filters did not decide all.

#include "core/src/numeric/exact_count.h"

#include <cstdio>
#include <string>

#include "tests/bench/ours.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr size_t kQueries = 16384;

void Print(const char* name, const Question& question) {
  size_t exact = 0;
  for (size_t i = 0; i < kQueries; ++i) {
    const uint64_t before = internal::exact_count;
    question(i, i + 1);
    exact += internal::exact_count != before ? 1 : 0;
  }
  std::printf("%s\t%.5f\n", name, static_cast<double>(exact) / static_cast<double>(kQueries));
}

void RunDense() {
  const World world = DenseWorld(100000);
  Carom ours(world.polygons);
  const Placements placements = RandomPlacements(1, world.half(), kQueries, 3);
  const Segments near = FreeSegments(world, kQueries, kCell, 1);
  const Segments far = FreeSegments(world, kQueries, 100 * kCell, 2);
  Print("cast_dense_short", ours.Casts(near));
  Print("cast_dense_long", ours.Casts(far));
  for (const size_t vertices : {size_t{4}, size_t{8}}) {
    const Movers movers{{RegularOutline(vertices, kCell / 4)}, placements};
    Print(vertices == 4 ? "contacts_dense_4gon" : "contacts_dense_8gon", ours.Contacts(movers));
  }
  const Points points = FreePoints(world, kQueries, 4);
  Print("nearest_dense", ours.Nearest(points, kCell / 2));
}

void RunWalls() {
  const World world = WallWorld(100);
  Carom ours(world.polygons);
  const Segments near = FreeSegments(world, kQueries, kRoom / 4, 1);
  const Segments far = FreeSegments(world, kQueries, 25 * kRoom, 2);
  Print("cast_walls_short", ours.Casts(near));
  Print("cast_walls_long", ours.Casts(far));
}

void RunOutline(OutlineKind kind) {
  const std::string name = Name(kind);
  Carom ours(std::vector<Outline>{MakeOutline(kind, 10000, 5)});
  const Placements placements = RandomPlacements(1, 1, kQueries, 6);
  const Points points{placements.x, placements.y};
  Print(("point_in_" + name).c_str(), ours.Holds(points));
  const Movers movers{{RegularOutline(8, 0.25)}, placements};
  Print(("polygon_in_" + name).c_str(), ours.Touches(movers));
}

}  // namespace
}  // namespace carom::bench

int main() {
  using namespace carom::bench;  // NOLINT
  RunDense();
  RunWalls();
  for (const OutlineKind kind : {OutlineKind::kStar, OutlineKind::kComb, OutlineKind::kCoastline}) {
    RunOutline(kind);
  }
  return 0;
}
