// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Shadow runs find answers that memories have changed: here memories of eyes that lack their walls.
#include "server/query/shadow_run.h"

#include <gtest/gtest.h>

#include <vector>

#include "area/eye_memory.h"
#include "tests/core/random_scene.h"

namespace carom::server {
namespace {

using carom::testing::MakeScene;
using carom::testing::TestScene;

// Three eyes in front of a wall, and discs behind it: more than an observer without memory looks
// for.
class ShadowRunTest : public ::testing::Test {
 protected:
  ShadowRunTest() {
    group_.bodies.placed = {disc_, which_, body_x_, body_y_};
    group_.areas = {x_, y_, range_};
    group_.areas.trackers = areas_;
    group_.sees = {x_, y_, range_};
    group_.sees.trackers = sees_;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Compare().differences, 0u);
  }

  ShadowStats Compare() {
    WorkMeter meter;
    return shadow_.CompareEyes(*scene_.scene, group_, 0, meter);
  }
  // Drops the walls of a memory, which goes on to cover the eye.
  static void Spoil(EyeTracker& tracker) {
    internal::EyeMemory* const memory = internal::EyeTrackerAccess::MemoryOf(tracker).get();
    ASSERT_NE(memory, nullptr);
    ASSERT_FALSE(memory->edges.empty());
    memory->edges.clear();
    memory->polygons.clear();
  }

  const TestScene scene_ = MakeScene({{7, {{{{-4, 2}, {4, 2}, {4, 3}, {-4, 3}}}}}});
  const std::vector<double> x_ = {-1, 0, 1}, y_ = {0, 0, 0}, range_ = {8, 8, 8};
  const std::vector<Shape> disc_ = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.25}).value()};
  const std::vector<uint32_t> which_ = {0, 0, 0, 0, 0, 0};
  const std::vector<double> body_x_ = {-1, 0, 0.5, 1, 1.5, 2}, body_y_ = {5, 5, 5, 5, 5, 5};
  std::vector<EyeTracker> areas_{3}, sees_{3};
  Group group_;
  ShadowRun shadow_;
};

TEST_F(ShadowRunTest, RightMemoriesMakeNoDifference) {
  const ShadowStats stats = Compare();
  EXPECT_EQ(stats.eyes, 6u);
  EXPECT_EQ(stats.moves, 0u);
  EXPECT_EQ(stats.differences, 0u);
}

TEST_F(ShadowRunTest, AreasThatLackAWallAreADifference) {
  Spoil(areas_[1]);
  EXPECT_EQ(Compare().differences, 1u);
}

TEST_F(ShadowRunTest, ObserversThatSeeThroughAWallAreADifference) {
  Spoil(sees_[2]);
  EXPECT_EQ(Compare().differences, 1u);
}

// Eyes without memories are not compared.
TEST_F(ShadowRunTest, ComparesWhatHasMemories) {
  group_.areas.trackers = {};
  EXPECT_EQ(Compare().eyes, 3u);
}

// What the meter stops is not compared.
TEST_F(ShadowRunTest, StopsWithTheMeter) {
  WorkMeter meter;
  meter.set_max_units(10);
  const ShadowStats stats = shadow_.CompareEyes(*scene_.scene, group_, 0, meter);
  EXPECT_EQ(stats.eyes, 0u);
  EXPECT_EQ(stats.differences, 0u);
}

}  // namespace
}  // namespace carom::server
