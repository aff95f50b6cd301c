// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Small parts of Carom by themselves, and how answers grow with the scene. Google Benchmark.

#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "carom/area.h"
#include "carom/bundle_file.h"
#include "carom/carom.h"
#include "carom/cast.h"
#include "carom/lint.h"
#include "carom/locate.h"
#include "carom/predicates.h"
#include "tests/bench/ours.h"
#include "tests/bench/scenes.h"
#include "tests/support/abi_group.h"

namespace carom::bench {
namespace {

constexpr size_t kQueries = 65536;

void BM_Orientation(benchmark::State& state) {
  Random random(1);
  std::vector<Vec2> points;
  for (size_t i = 0; i < kQueries; ++i) points.push_back({random.Unit(), random.Unit()});
  size_t i = 0;
  for (auto _ : state) {
    const Vec2 a = points[i % kQueries];
    const Vec2 b = points[(i + 1) % kQueries];
    const Vec2 c = points[(i + 2) % kQueries];
    benchmark::DoNotOptimize(Orientation(a, b, c));
    ++i;
  }
}
BENCHMARK(BM_Orientation);

// Points on a line but for their last bits: the exact path.
void BM_OrientationNearlyCollinear(benchmark::State& state) {
  Random random(2);
  std::vector<Vec2> points;
  for (size_t i = 0; i < kQueries; ++i) {
    const double x = random.Unit();
    points.push_back({x, x / 3});
  }
  size_t i = 0;
  for (auto _ : state) {
    const Vec2 a = points[i % kQueries];
    const Vec2 b = points[(i + 1) % kQueries];
    const Vec2 c = points[(i + 2) % kQueries];
    benchmark::DoNotOptimize(Orientation(a, b, c));
    ++i;
  }
}
BENCHMARK(BM_OrientationNearlyCollinear);

// One iteration asks all queries.
void Ask(benchmark::State& state, const Question& question) {
  for (auto _ : state) benchmark::DoNotOptimize(question(0, kQueries));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kQueries));
}

void BM_Cast(benchmark::State& state) {
  const World world = DenseWorld(static_cast<size_t>(state.range(0)));
  Carom ours(world.polygons);
  const Segments segments =
      FreeSegments(world, kQueries, kCell * static_cast<double>(state.range(1)), 1);
  Ask(state, ours.Casts(segments));
}
BENCHMARK(BM_Cast)
    ->ArgsProduct({{100, 1000, 10000, 100000, 1000000}, {1, 100}})
    ->ArgNames({"polygons", "cells"})
    ->Unit(benchmark::kMillisecond);

void BM_Locate(benchmark::State& state) {
  const World world = DenseWorld(static_cast<size_t>(state.range(0)));
  Carom ours(world.polygons);
  const Points points = FreePoints(world, kQueries, 2);
  Ask(state, ours.Holds(points));
}
BENCHMARK(BM_Locate)
    ->RangeMultiplier(100)
    ->Range(100, 1000000)
    ->ArgName("polygons")
    ->Unit(benchmark::kMillisecond);

// Areas of sight from 64 free points of the walls scene; the range, in rooms, is the argument:
// within two and a third of them are some 1,000 edges.
void BM_Areas(benchmark::State& state) {
  const World world = WallWorld(20);
  const Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
  const Points eyes = FreePoints(world, 64, 3);
  const std::vector<double> range(eyes.size(), kRoom * static_cast<double>(state.range(0)) / 100);
  AreaAnswers answers;
  for (auto _ : state) {
    WorkMeter meter;
    benchmark::DoNotOptimize(FindAreas(*scene, {eyes.x, eyes.y, range}, {}, answers, meter));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(eyes.size()));
  state.counters["pieces"] = static_cast<double>(answers.pieces.size()) / 64;
}
BENCHMARK(BM_Areas)->Arg(100)->Arg(233)->Arg(800)->ArgName("range")->Unit(benchmark::kMicrosecond);

// All kinds of findings; a disc of the radius, in hundredths, passes most gaps, some or hardly any.
void BM_Lint(benchmark::State& state) {
  const World world = DenseWorld(static_cast<size_t>(state.range(0)));
  const Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
  const double radius = static_cast<double>(state.range(1)) / 100;
  const LintOptions options{.gap_radius = radius, .mover_radius = radius, .from = {{0, 0}}};
  for (auto _ : state) {
    WorkMeter meter;
    benchmark::DoNotOptimize(Lint(*scene, options, meter));
  }
  state.counters["vertices"] = static_cast<double>(scene->vertex_count());
}
BENCHMARK(BM_Lint)
    ->ArgsProduct({{1800, 18000, 180000}, {50, 100, 200}})
    ->ArgNames({"polygons", "radius"})
    ->Unit(benchmark::kMillisecond);

// Squares in rows, as a map of tiles has them.
Scene::Ptr SquareScene(size_t count) {
  std::vector<Polygon> polygons;
  const auto columns = static_cast<size_t>(std::sqrt(static_cast<double>(count)));
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(2 * (i % columns));
    const auto y = static_cast<double>(2 * (i / columns));
    polygons.push_back(
        Polygon::Create({i, {{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}}}}).value());
  }
  return Scene::Create(std::move(polygons)).value();
}

// From a file in the page cache to the first answer, on one thread or on all cores. Without the
// arrangement the scene is indexed anew.
void BM_OpenBundle(benchmark::State& state) {
  const std::string path = (std::filesystem::temp_directory_path() / "carom_micro.carom").string();
  const auto index = state.range(1) != 0 ? BundleIndex::kArranged : BundleIndex::kNone;
  if (!SaveBundle(*SquareScene(static_cast<size_t>(state.range(0))), path, index).ok()) {
    return state.SkipWithError("the bundle cannot be written");
  }
  BundleReadOptions options;
  if (state.range(2) != 0) {
    options.workers = {std::thread::hardware_concurrency(),
                       [](size_t parts, const std::function<void(size_t)>& work) {
                         std::vector<std::thread> threads;
                         for (size_t i = 0; i < parts; ++i) threads.emplace_back(work, i);
                         for (std::thread& thread : threads) thread.join();
                       }};
  }
  const double x[] = {100.5}, y[] = {100.5};
  LocateAnswers answers;
  WorkMeter meter;
  for (auto _ : state) {
    Scene::Ptr scene = OpenBundle(path, options).value();
    LocatePoints(*scene, {x, y}, kEveryCategory, answers, meter);
    benchmark::DoNotOptimize(answers.polygon_ids.data());
    state.PauseTiming();  // the end of the scene is not part of it
    scene = nullptr;
    state.ResumeTiming();
  }
  std::filesystem::remove(path);
}
BENCHMARK(BM_OpenBundle)
    ->ArgsProduct({{10000, 1000000}, {1, 0}, {0, 1}})
    ->ArgNames({"polygons", "arranged", "threads"})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// One question a call: the C++ function, and the function of carom.h with and without reading the
// answers. The difference is what the C interface costs.
struct OneQuestion {
  OneQuestion() {
    PolygonSpec square;
    square.rings.push_back({{{0, 0}, {4, 0}, {4, 4}, {0, 4}}});
    scene = Scene::Create({Polygon::Create(square).value()}).value();
    c_scene = testing::MakeAbiScene(*scene);
    world.scene = c_scene.get();
    asked.ax = testing::AbiColumn(ax);
    asked.ay = testing::AbiColumn(ay);
    asked.bx = testing::AbiColumn(bx);
    asked.by = testing::AbiColumn(by);
    points.x = testing::AbiColumn(ay);
    points.y = testing::AbiColumn(by);
  }

  const double ax[1] = {-1}, ay[1] = {2}, bx[1] = {5}, by[1] = {3};
  Scene::Ptr scene;
  testing::AbiScene c_scene;
  testing::AbiAnswers c_answers = testing::MakeAbiAnswers();
  carom_world world = testing::AbiStruct<carom_world>();
  carom_segments asked = testing::AbiStruct<carom_segments>();
  carom_points points = testing::AbiStruct<carom_points>();
};

void BM_CastOneInCpp(benchmark::State& state) {
  const OneQuestion one;
  CastAnswers answers;
  for (auto _ : state) {
    WorkMeter meter;
    CastSegments(*one.scene, {one.ax, one.ay, one.bx, one.by}, {}, answers, meter);
    benchmark::DoNotOptimize(answers.hits.data());
  }
}
BENCHMARK(BM_CastOneInCpp);

void BM_CastOneInC(benchmark::State& state) {
  const OneQuestion one;
  auto view = testing::AbiStruct<carom_cast_answers>();
  for (auto _ : state) {
    carom_cast_segments(&one.world, &one.asked, one.c_answers.get(), nullptr);
    if (state.range(0) != 0) {
      carom_answers_read(one.c_answers.get(), CAROM_KIND_SEGMENTS, &view, nullptr);
    }
    benchmark::DoNotOptimize(view.fraction.data);
  }
}
BENCHMARK(BM_CastOneInC)->Arg(0)->Arg(1)->ArgName("reads");

void BM_LocateOneInCpp(benchmark::State& state) {
  const OneQuestion one;
  LocateAnswers answers;
  for (auto _ : state) {
    WorkMeter meter;
    LocatePoints(*one.scene, {one.ay, one.by}, kEveryCategory, answers, meter);
    benchmark::DoNotOptimize(answers.polygon_ids.data());
  }
}
BENCHMARK(BM_LocateOneInCpp);

void BM_LocateOneInC(benchmark::State& state) {
  const OneQuestion one;
  auto view = testing::AbiStruct<carom_locate_answers>();
  for (auto _ : state) {
    carom_locate_points(&one.world, &one.points, one.c_answers.get(), nullptr);
    if (state.range(0) != 0) {
      carom_answers_read(one.c_answers.get(), CAROM_KIND_POINTS, &view, nullptr);
    }
    benchmark::DoNotOptimize(view.polygon_id.data);
  }
}
BENCHMARK(BM_LocateOneInC)->Arg(0)->Arg(1)->ArgName("reads");

}  // namespace
}  // namespace carom::bench

BENCHMARK_MAIN();
