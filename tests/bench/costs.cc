// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/support/heap.h"

namespace carom::bench {
namespace {

using testing::AllocationCount;
using testing::HeapMeter;

size_t VeryMany(const Bench& bench) { return bench.quick ? 10000 : 1000000; }

// A point in each cell comes to each square of the scene's grid.
void AskEverywhere(const World& world, const Scene::Ptr& scene) {
  Points points;
  for (size_t i = 0; i < world.cells.size(); ++i) {
    points.x.push_back((static_cast<double>(i % world.columns) + 0.5) * kCell - world.half());
    points.y.push_back((static_cast<double>(i / world.columns) + 0.5) * kCell - world.half());
  }
  Carom(scene).Nearest(points, kCell)(0, points.size());
}

void RunMemory(Bench& bench) {
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const double count = static_cast<double>(world.polygons.size());
  HeapMeter meter;
  std::vector<Polygon> polygons = MakePolygons(world.polygons);
  const double before = static_cast<double>(meter.bytes());
  const Scene::Ptr scene = MakeScene(std::move(polygons));
  // The vector of the input is gone: it was moved.
  std::vector<Polygon>().swap(polygons);
  const double after_build = static_cast<double>(meter.bytes());
  AskEverywhere(world, scene);
  const double after = static_cast<double>(meter.bytes());
  bench.report.Figure("memory of polygons before the scene", before / count, "bytes a polygon");
  bench.report.Figure("memory before the first query", after_build / count, "bytes a polygon");
  bench.report.Add({"memory_bytes_per_polygon", after / count, "-", 0, ValueAtMost(250),
                    absl::StrCat(static_cast<double>(scene->vertex_count()) / count,
                                 " vertices a polygon; all squares made")});
}

void RunBuild(Bench& bench) {
  const World world = DenseWorld(VeryMany(bench));
  const double count = static_cast<double>(world.polygons.size());
  std::vector<double> times, polygon_times, shared_times;
  for (int round = 0; round < 5; ++round) {
    const double made = ThreadNanoseconds();
    std::vector<Polygon> polygons = MakePolygons(world.polygons);
    const double start = ThreadNanoseconds();
    std::vector<Polygon> again = polygons;
    const double copied = ThreadNanoseconds();
    const Scene::Ptr scene = MakeScene(std::move(polygons));
    times.push_back((ThreadNanoseconds() - copied) / count);
    polygon_times.push_back((start - made) / count);
    const double shared = WallNanoseconds();
    const Scene::Ptr other = MakeScene(std::move(again), Threads(2));
    shared_times.push_back((WallNanoseconds() - shared) / count);
  }
  bench.report.Figure("Polygon::Create", Median(polygon_times), "ns a polygon");
  bench.report.Add({"build_ns_per_polygon", Median(times), "-", 0, ValueAtMost(1500)});
  bench.report.Add({"build_2_threads_ns_per_polygon", Median(shared_times), "-", 0,
                    ValueAtMost(900), "time on the wall"});
}

// Additions, replacements and removals of one polygon, each upon the scene before. Time on the
// wall: whoever commits waits for all of it.
void RunCommit(Bench& bench) {
  const World world = DenseWorld(VeryMany(bench));
  Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
  std::vector<double> times;
  double longest = 0;
  Random random(9);
  const double deadline = WallNanoseconds() + 10e9;
  for (int i = 0; i < 300 && WallNanoseconds() < deadline; ++i) {
    const uint64_t added = world.polygons.size() + static_cast<uint64_t>(i / 3);
    const uint64_t id = i % 3 == 1 ? random.Below(world.polygons.size()) : added;
    std::vector<SceneEdit> edits;
    if (i % 3 == 2) {
      edits.push_back(RemovePolygon{id});
    } else {
      PolygonSpec spec;
      spec.id = id;
      spec.rings = {{world.polygons[random.Below(world.polygons.size())], false}};
      Polygon polygon = *Polygon::Create(std::move(spec));
      if (i % 3 == 0) edits.push_back(AddPolygon{std::move(polygon)});
      if (i % 3 == 1) edits.push_back(ReplacePolygon{std::move(polygon)});
    }
    const double start = WallNanoseconds();
    absl::StatusOr<Scene::Ptr> next = scene->Commit(std::move(edits), static_cast<uint64_t>(i));
    const double time = WallNanoseconds() - start;
    if (!next.ok()) std::abort();
    scene = *std::move(next);
    times.push_back(time);
    longest = std::max(longest, time);
  }
  bench.report.Add({"commit_one_into_1e6", Median(times), "-", 0, ValueAtMost(1e6),
                    absl::StrCat("the longest of ", times.size(), ": ", longest / 1e6, " ms")});
}

// The polygons by rows four cells high, each from left to right: ten in a row are neighbours.
std::vector<uint64_t> ByRows(const World& world) {
  std::vector<std::pair<double, uint64_t>> places;
  for (uint64_t id = 0; id < world.polygons.size(); ++id) {
    const Vec2 at = world.polygons[id][0];
    places.emplace_back(std::floor(at.y / (4 * kCell)) * 1e6 + at.x, id);
  }
  std::sort(places.begin(), places.end());
  std::vector<uint64_t> ids;
  for (const auto& [place, id] : places) ids.push_back(id);
  return ids;
}

// Ten polygons replaced at once, each by itself a little aside: neighbours, as the doors of a house
// are, or anywhere. The last 256 versions stay, as a fork keeps them, and are there when the clock
// runs.
void RunEdits(Bench& bench) {
  constexpr size_t kKept = 256;
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const std::vector<uint64_t> rows = ByRows(world);
  for (const auto& [name, step] : {std::pair<const char*, size_t>{"edit_10_neighbours_in_1e5", 1},
                                   {"edit_10_scattered_in_1e5", world.polygons.size() / 10}}) {
    std::vector<Scene::Ptr> versions(kKept, MakeScene(MakePolygons(world.polygons)));
    Random random(11);
    std::vector<double> times;
    for (uint64_t version = 1; version < 3 * kKept; ++version) {
      const uint64_t first = random.Below(rows.size());
      std::vector<SceneEdit> edits;
      for (size_t k = 0; k < 10; ++k) {
        PolygonSpec spec;
        spec.id = rows[(first + k * step) % rows.size()];
        spec.rings = {{world.polygons[spec.id], false}};
        for (Vec2& vertex : spec.rings[0].vertices) vertex.x += 0.01;
        edits.push_back(ReplacePolygon{*Polygon::Create(std::move(spec))});
      }
      const Scene& before = *versions[(version - 1) % kKept];
      const double start = WallNanoseconds();
      absl::StatusOr<Scene::Ptr> next = before.Commit(std::move(edits), version);
      if (version >= kKept) times.push_back(WallNanoseconds() - start);
      if (!next.ok()) std::abort();
      versions[version % kKept] = *std::move(next);
    }
    bench.report.Add({name, Median(times), "-", 0, ValueAtMost(1e5)});
  }
}

// What a second pass over the same queries allocates.
void RunAllocations(Bench& bench) {
  const World world = DenseWorld(10000);
  Carom ours(world.polygons);
  const Segments segments = FreeSegments(world, bench.queries(), 100 * kCell, 10);
  const Points points = FreePoints(world, bench.queries(), 11);
  const Movers movers{{RegularOutline(8, kCell / 4)},
                      RandomPlacements(1, world.half(), bench.queries(), 12)};
  uint64_t all = 0;
  for (const auto& [name, question] :
       {std::pair<const char*, Question>{"casts", ours.Casts(segments)},
        {"contacts", ours.Contacts(movers)},
        {"overlaps", ours.Touches(movers)},
        {"points", ours.Holds(points)},
        {"nearest", ours.Nearest(points, kCell)}}) {
    question(0, bench.queries());
    const uint64_t before = AllocationCount();
    question(0, bench.queries());
    const uint64_t count = AllocationCount() - before;
    all += count;
    bench.report.Figure(absl::StrCat("allocations of ", name),
                        static_cast<double>(count) / static_cast<double>(bench.queries()),
                        "a query");
  }
  bench.report.Add({"allocations_per_query",
                    static_cast<double>(all) / static_cast<double>(5 * bench.queries()), "-", 0,
                    ValueAtMost(0), "after a first pass, of five kinds"});
}

// One pass by one thread, and by two that share the queries, on one scene.
void RunThreads(Bench& bench) {
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  Carom ours(world.polygons);
  const size_t count = 4 * bench.queries();
  const Segments segments = FreeSegments(world, count, kCell, 13);
  const Question first = ours.Casts(segments);
  const Question second = ours.Casts(segments);
  std::vector<double> alone, together, cpu_alone, cpu_together;
  for (int round = 0; round < 2 * bench.rounds() + 1; ++round) {
    const double start = WallNanoseconds();
    const double cpu = ThreadNanoseconds();
    first(0, count);
    cpu_alone.push_back(ThreadNanoseconds() - cpu);
    const double middle = WallNanoseconds();
    std::thread other([&] { second(0, count / 2); });
    const double cpu_two = ThreadNanoseconds();
    first(count / 2, count);
    cpu_together.push_back(ThreadNanoseconds() - cpu_two);
    other.join();
    alone.push_back(middle - start);
    together.push_back(WallNanoseconds() - middle);
  }
  bench.report.Figure("scaling on 2 threads, by CPU time", Median(cpu_alone) / Median(cpu_together),
                      "times", "what it would be if both had a core of their own");
  Row row{"threads_2_scaling", Median(together) / static_cast<double>(count), "carom, 1 thread",
          Median(alone) / static_cast<double>(count), RatioAtLeast(1.9)};
  row.note = "time on the wall";
  bench.report.Add(std::move(row));
}

}  // namespace

void RunCosts(Bench& bench) {
  const auto run = [&](const char* name, void (*what)(Bench&)) {
    if (!bench.Wants(name)) return;
    bench.report.Title(name);
    what(bench);
  };
  run("memory", RunMemory);
  run("build", RunBuild);
  run("commit", RunCommit);
  run("edit", RunEdits);
  run("allocations", RunAllocations);
  run("threads", RunThreads);
}

}  // namespace carom::bench
