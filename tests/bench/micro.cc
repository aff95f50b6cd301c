// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Small parts of Carom by themselves, and how answers grow with the scene. Google Benchmark.

#include <benchmark/benchmark.h>

#include "carom/predicates.h"
#include "tests/bench/ours.h"
#include "tests/bench/scenes.h"

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

}  // namespace
}  // namespace carom::bench

BENCHMARK_MAIN();
