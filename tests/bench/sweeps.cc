// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do shapes run into that go straight on without turning?

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "carom/distance.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

// Placements where the shape is clear of all polygons by far more than what peers call touching:
// they differ in what a sweep is that begins with a touch.
Placements FreePlacements(const Scene& scene, double half, const Sweeps& of, size_t count) {
  const Shape shape = ShapeOf(of);
  Placements all = RandomPlacements(1, half, 8 * count, of.outline.size());
  const std::vector<Shape> shapes{shape};
  const std::vector<double> within(all.size(), 0.05);
  DistanceAnswers answers;
  WorkMeter meter;
  const DistanceColumns columns{{shapes, all.mover, all.x, all.y, all.c, all.s, {}}, within};
  MeasureDistances(scene, columns, {DistanceMode::kWithin}, answers, meter);
  Placements free;
  for (size_t i = 0; i < all.size() && free.size() < count; ++i) {
    if (answers.counts[i] != 0) continue;
    free.mover.push_back(0);
    free.x.push_back(all.x[i]);
    free.y.push_back(all.y[i]);
    free.c.push_back(all.c[i]);
    free.s.push_back(all.s[i]);
  }
  return free;
}

}  // namespace

// Shapes about as large as the polygons of the scene, on paths of a cell.
void RunSweeps(Bench& bench) {
  const std::string group = "sweep_dense_1e5";
  if (!bench.Wants(group)) return;
  bench.report.Title(group);
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  Carom ours(world.polygons);
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world);
  for (const auto& [name, shape] :
       {std::pair<const char*, Sweeps>{"capsule", {{{-0.5, 0}, {0.5, 0}}, 0.5, {}, {}, {}}},
        {"8gon", {RegularOutline(8, kCell / 4), 0, {}, {}, {}}}}) {
    const size_t wanted = bench.queries() / 4;
    const Sweeps sweeps =
        RandomSweeps(shape.outline, shape.radius,
                     FreePlacements(*ours.scene(), world.half(), shape, wanted), kCell, 17);
    const bool is_capsule = shape.radius > 0;
    const std::vector<Timing> timings = RunInterleaved(
        {{"carom", ours.Swept(sweeps)},
         {"box2d", box2d ? box2d->Swept(sweeps) : Question()},
         {"box2d mover", box2d && is_capsule ? box2d->SweptAsMover(sweeps) : Question()}},
        sweeps.size(), bench.rounds());
    const std::string row = group + "_" + name;
    bench.report.Timings(row, timings);
    AddRatio(bench, row + "_vs_box2d", timings, {"carom", "box2d"}, 3);
  }
}

}  // namespace carom::bench
