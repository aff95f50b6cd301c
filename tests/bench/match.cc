// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do a tick's bullets hit, players included?

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {

// 2,000 bullets, as long as a cell and as ten, past the walls of a map and 200 discs that are
// placed anew each tick, in the middle of the map as players are.
void RunMatch(Bench& bench) {
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
