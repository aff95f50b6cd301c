// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

// How many times faster batches are to be; single casts 0.6 of that, against Box2D as it says.
struct CastGoals {
  double box2d;
  double box2d_single;
  double chipmunk;
  double parry = 4;
};
constexpr double kSingle = 0.6;
constexpr CastGoals kNoGoals{0, 0, 0, 0};

// A scene and all who answer for it.
class CastGroup {
 public:
  explicit CastGroup(World world)
      : world_(std::move(world)),
        batches_(world_.polygons),
        singles_(batches_.scene(), 1),
        box2d_(MakeBox2D(world_)),
        parry_(MakeParry(world_)),
        tree_(MakeChipmunk(world_, ChipmunkIndex::kTree)),
        hash_(MakeChipmunk(world_, ChipmunkIndex::kHash)) {}

  // The first `distinct` of the queries, again and again.
  void Run(Bench& bench, const std::string& name, double length, const CastGoals& goals,
           size_t distinct = SIZE_MAX) {
    distinct = std::min(distinct, bench.queries());
    const Segments segments = FreeSegments(world_, distinct, length, 1);
    const auto ask = [&](const std::string& who, ScenePeer& peer) {
      return Contender{who, Repeated(peer.Casts(segments), distinct)};
    };
    const auto peer = [&](const std::unique_ptr<ScenePeer>& who) {
      return who ? ask(who->name(), *who) : Contender{"not built", {}};
    };
    const std::vector<Timing> timings =
        RunInterleaved({ask("carom", batches_), ask("carom one by one", singles_), peer(box2d_),
                        peer(parry_), peer(tree_), peer(hash_)},
                       bench.queries(), bench.rounds());
    bench.report.Timings(name, timings);
    if (goals.box2d == 0) return;
    for (const auto& [who, goal, single] :
         {std::tuple<const char*, double, double>{"box2d", goals.box2d, goals.box2d_single},
          {"chipmunk", goals.chipmunk, kSingle * goals.chipmunk},
          {"parry", goals.parry, kSingle * goals.parry}}) {
      AddRatio(bench, absl::StrCat(name, "_vs_", who), timings, {"carom", who}, goal);
      AddRatio(bench, absl::StrCat(name, "_single_vs_", who), timings, {"carom one by one", who},
               single);
    }
  }

  // What a query takes in groups of 16, as streams of single players send them, over what it takes
  // in large batches.
  void RunGroups(Bench& bench, const std::string& name, double length) {
    const Segments segments = FreeSegments(world_, bench.queries(), length, 1);
    Carom groups(batches_.scene(), 16);
    const std::vector<Timing> timings = RunInterleaved(
        {{"carom in 16", groups.Casts(segments)}, {"carom", batches_.Casts(segments)}},
        bench.queries(), bench.rounds());
    bench.report.Timings(name, timings);
    Row row{name, timings[0].ns, "carom in 1024", timings[1].ns, RatioAtMost(1.3)};
    row.instructions = timings[0].instructions;
    bench.report.Add(std::move(row));
  }

 private:
  World world_;
  Carom batches_;
  Carom singles_;
  std::unique_ptr<ScenePeer> box2d_, parry_, tree_, hash_;
};

constexpr double kShort = kCell;
constexpr double kLong = 100 * kCell;

// The same questions of a small and a large scene of equal density, in turns.
void RunGrowth(Bench& bench) {
  const World small = DenseWorld(10000);
  const World large = DenseWorld(bench.quick ? 10000 : 1000000);
  Carom ours_small(small.polygons);
  Carom ours_large(large.polygons);
  for (const auto& [name, length, goal] :
       {std::tuple{"growth_short", kShort, 2.2}, {"growth_long", kLong, 2.5}}) {
    const Segments in_small = FreeSegments(small, bench.queries(), length, 2);
    const Segments in_large = FreeSegments(large, bench.queries(), length, 3);
    const std::vector<Timing> timings = RunInterleaved(
        {{"at 1e6", ours_large.Casts(in_large)}, {"at 1e4", ours_small.Casts(in_small)}},
        bench.queries(), bench.rounds());
    for (const Timing& timing : timings) {
      bench.report.Figure(absl::StrCat(name, " ", timing.name), timing.ns, "ns");
    }
    bench.report.Add({name, timings[0].ns, "carom at 1e4", timings[1].ns, RatioAtMost(goal)});
  }
}

}  // namespace

void RunCasts(Bench& bench) {
  const auto run = [&](const std::string& name, auto make, double near, double far,
                       const CastGoals& near_goals, const CastGoals& far_goals) {
    if (!bench.Wants(name)) return;
    bench.report.Title(name);
    World world = make();
    bench.report.Figure(absl::StrCat(name, " convex pieces for the peers"),
                        static_cast<double>(world.pieces.size()), "pieces");
    CastGroup group(std::move(world));
    group.Run(bench, absl::StrCat(name, "_short"), near, near_goals);
    group.Run(bench, absl::StrCat(name, "_long"), far, far_goals);
    if (name != "cast_dense_1e5") return;
    // As many queries as caches hold.
    group.Run(bench, absl::StrCat(name, "_short_warm"), near, near_goals, 1024);
    group.RunGroups(bench, absl::StrCat(name, "_short_groups_of_16"), near);
  };
  const size_t many = bench.quick ? 10000 : 100000;
  const size_t very_many = bench.quick ? 10000 : 1000000;
  const size_t rooms = bench.quick ? 20 : 100;
  run("cast_dense_1e5", [&] { return DenseWorld(many); }, kShort, kLong, {8, 4, 10}, {6, 3.6, 8});
  run(
      "cast_sparse_1e5", [&] { return SparseWorld(many); }, kShort, kLong, kNoGoals, kNoGoals);
  run("cast_walls", [&] { return WallWorld(rooms); }, 6, 600, {7, 4.2, 10}, {7, 4.2, 10});
  run("cast_dense_1e6", [&] { return DenseWorld(very_many); }, kShort, kLong, {13, 7.2, 12},
      {12, 7.2, 12});
  run(
      "cast_sparse_1e6", [&] { return SparseWorld(very_many); }, kShort, kLong, kNoGoals, kNoGoals);
  if (bench.Wants("growth")) {
    bench.report.Title("growth");
    RunGrowth(bench);
  }
}

}  // namespace carom::bench
