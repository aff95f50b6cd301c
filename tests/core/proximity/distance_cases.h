// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One mover measured against a scene, and grids of all scales for random ones.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "carom/distance.h"
#include "tests/core/random_scene.h"

namespace carom::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Ids = std::vector<uint64_t>;

inline DistanceAnswers Measure(const Scene& scene, const Shape& mover,
                               const DistanceOptions& options, double max_distance = kInfinity) {
  const double zero = 0;
  DistanceColumns columns;
  columns.movers.shapes = {&mover, 1};
  columns.movers.x = {&zero, 1};
  columns.movers.y = {&zero, 1};
  columns.max_distance = {&max_distance, 1};
  DistanceAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(MeasureDistances(scene, columns, options, answers, meter));
  EXPECT_TRUE(answers.errors.empty());
  EXPECT_EQ(answers.counts[0], answers.polygon_ids.size());
  const bool is_measured = options.mode != DistanceMode::kWithin;
  EXPECT_EQ(answers.rows.size(), is_measured ? answers.polygon_ids.size() : 0);
  return answers;
}

inline DistanceAnswers Measure(const Scene& scene, const Shape& mover, DistanceMode mode,
                               double max_distance = kInfinity) {
  return Measure(scene, mover, DistanceOptions{mode}, max_distance);
}

inline DistanceAnswers Nearest(const Scene& scene, const Shape& mover) {
  return Measure(scene, mover, DistanceMode::kNearest);
}

inline constexpr double kScales[] = {1, 1e-9, 0.1, 1e9, 0x1p-138, 0x1p50, 1.0 / 3};

// Calls check(random, grid) on grids of all scales.
template <class Check>
void ForGrids(uint64_t seed, int rounds, Check check) {
  Random random(seed);
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    for (const double scale : kScales) {
      check(random, Grid{3 + random.Below(6), scale, i % 3 == 0 ? 0 : 15});
    }
    check(random, Grid{.mixed = true});
  }
}

}  // namespace carom::testing
