// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

size_t Many(const Bench& bench) { return bench.quick ? 10000 : 100000; }

// How large the movers are, where they are, and what is asked of them.
struct ContactScene {
  std::string name;
  size_t vertices;
  double radius;
  Placements placements;
  double box2d_goal, chipmunk_goal;
};

void RunScene(Bench& bench, const World& world, Carom& ours, const ContactScene& scene) {
  const Movers movers{{RegularOutline(scene.vertices, scene.radius)}, scene.placements};
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world, movers.outlines);
  const std::unique_ptr<ScenePeer> tree = MakeChipmunk(world, ChipmunkIndex::kTree);
  const std::unique_ptr<ScenePeer> hash = MakeChipmunk(world, ChipmunkIndex::kHash);
  const std::vector<Timing> timings =
      RunInterleaved({{"carom", ours.Contacts(movers)},
                      {"box2d", box2d ? box2d->Contacts(movers) : Question()},
                      {"box2d shape", box2d ? box2d->ContactsByShape(movers) : Question()},
                      {tree->name(), tree->Contacts(movers)},
                      {hash->name(), hash->Contacts(movers)}},
                     bench.queries(), bench.rounds());
  bench.report.Timings(scene.name, timings);
  AddRatio(bench, scene.name + "_vs_box2d", timings, {"carom", "box2d"}, scene.box2d_goal);
  if (scene.chipmunk_goal == 0) return;
  AddRatio(bench, scene.name + "_vs_chipmunk", timings, {"carom", "chipmunk"}, scene.chipmunk_goal);
}

}  // namespace

// A circumradius of a quarter of a cell, as the polygons of the scene have, anywhere; and walkers
// of half a cell, the spacing of the polygons.
void RunContacts(Bench& bench) {
  if (!bench.Wants("contacts_dense_1e5")) return;
  bench.report.Title("contacts_dense_1e5");
  const World world = DenseWorld(Many(bench));
  Carom ours(world.polygons);
  for (const size_t vertices : {size_t{4}, size_t{8}}) {
    const std::string name = absl::StrCat("contacts_dense_1e5_", vertices, "gon");
    RunScene(bench, world, ours,
             {name, vertices, kCell / 4,
              RandomPlacements(1, world.half(), bench.queries(), vertices), 3.3, 8});
    RunScene(bench, world, ours,
             {name + "_half_spacing", vertices, kCell / 2,
              WalkerPlacements(1024, world.half(), bench.queries(), vertices), 1.5, 0});
  }
}

void RunNearest(Bench& bench) {
  const std::string name = "nearest_dense_1e5";
  if (!bench.Wants(name)) return;
  bench.report.Title(name);
  const World world = DenseWorld(Many(bench));
  const Points points = FreePoints(world, bench.queries(), 4);
  Carom ours(world.polygons);
  const std::unique_ptr<ScenePeer> tree = MakeChipmunk(world, ChipmunkIndex::kTree);
  const std::unique_ptr<ScenePeer> hash = MakeChipmunk(world, ChipmunkIndex::kHash);
  const double radius = kCell / 2;
  const std::vector<Timing> timings =
      RunInterleaved({{"carom", ours.Nearest(points, radius)},
                      {tree->name(), tree->Nearest(points, radius)},
                      {hash->name(), hash->Nearest(points, radius)}},
                     bench.queries(), bench.rounds());
  bench.report.Timings(name, timings);
  AddRatio(bench, name + "_vs_chipmunk", timings, {"carom", "chipmunk"}, 8);
}

}  // namespace carom::bench
