// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A table of eyes changes no answer, takes no more than it may, and drops what nobody asks for.

#include "carom/eye_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "carom/group.h"
#include "carom/tracker_table.h"
#include "tests/core/area/area_cases.h"
#include "tests/core/grid_scenes.h"
#include "tests/support/repeats.h"

namespace carom::testing::eye_table_test {
namespace {

// Eyes with numbers, each of which moves a little from frame to frame.
struct Eyes {
  Eyes(Random& random, const Grid& grid, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const Vec2 at = grid.Point(random);
      x.push_back(at.x);
      y.push_back(at.y);
      range.push_back(6 * grid.scale);
      eye.push_back(static_cast<uint32_t>(7 * i));
    }
  }
  void Move(Random& random, double step) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += step * (random.Unit() - 0.5);
      y[i] += step * (random.Unit() - 0.5);
    }
  }
  AreaColumns columns() const { return {.x = x, .y = y, .range = range, .eye = eye}; }

  std::vector<double> x, y, range;
  std::vector<uint32_t> eye;
};

GroupAnswers AnswersOf(const Scene& scene, const Group& group) {
  GroupAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(EvaluateGroup(scene, group, answers, meter).ok());
  return answers;
}

// Asks the eyes for areas, and which bodies they see.
GroupAnswers Ask(EyeTable& table, const Scene& scene, const BodyColumns& bodies, const Eyes& eyes) {
  Group group;
  group.bodies = bodies;
  group.areas = group.sees = eyes.columns();
  const GroupAnswers cold = AnswersOf(scene, group);
  EXPECT_EQ(cold.areas.tiers.quiet, 0u);
  table.BeginFrame();
  table.Begin(group);
  GroupAnswers warm = AnswersOf(scene, group);
  table.End();
  EXPECT_TRUE(warm.areas.pieces == cold.areas.pieces);
  EXPECT_EQ(warm.areas.counts, cold.areas.counts);
  EXPECT_EQ(warm.areas.areas, cold.areas.areas);
  EXPECT_EQ(warm.sees.seen, cold.sees.seen);
  return warm;
}

// Some tables have little room: some eyes have no memory, or none has.
TEST(EyeTableTest, AnswersAreThoseWithoutATable) {
  constexpr EyeTableLimits kLimits[] = {{64, 1 << 20}, {5, 1 << 20}, {64, 3000}, {64, 100}};
  Random random(91);
  EyeTiers areas, sees;
  for (size_t i = 0; i < static_cast<size_t>(Repeats(40, 1000)); ++i) {
    const Grid grid{6 + random.Below(8), 1, 0};
    const Scene::Ptr scene = RandomScene(random, grid).scene;
    const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.25}).value()};
    std::vector<double> x, y;
    for (int k = 0; k < 20; ++k) {
      const Vec2 at = grid.Point(random);
      x.push_back(at.x);
      y.push_back(at.y);
    }
    const std::vector<uint32_t> shape(x.size(), 0);
    Eyes eyes(random, {grid.size * 2, 1, 20}, 8);
    eyes.eye[7] = ~uint32_t{0};
    eyes.eye[6] = eyes.eye[5];
    const EyeTableLimits limits = kLimits[i % 4];
    EyeTable table(limits);
    for (int frame = 0; frame < 20; ++frame) {
      const GroupAnswers answers = Ask(table, *scene, {{shapes, shape, x, y}}, eyes);
      areas += answers.areas.tiers;
      sees += answers.sees.tiers;
      ASSERT_FALSE(::testing::Test::HasFailure()) << "case " << i << ", frame " << frame;
      EXPECT_LE(table.memory_bytes(), limits.max_bytes);
      eyes.Move(random, 0.01);
    }
  }
  EXPECT_GT(areas.quiet, areas.cold / 8);
  EXPECT_GT(sees.quiet, 0u);
}

// New numbers drop old memories, but eyes for which there is no room drop nobody's: some of 256
// have a memory all the time.
TEST(EyeTableTest, ManyEyesTakeNoMoreThanTheirPart) {
  Random random(92);
  const Grid grid{12, 1, 0};
  const Scene::Ptr scene = RandomScene(random, grid).scene;
  constexpr size_t kMost = 64 << 10;
  EyeTable table({4096, kMost});
  Eyes eyes(random, {24, 1, 20}, 256);
  EyeTiers tiers;
  for (uint32_t frame = 0; frame < 60; ++frame) {
    if (frame % 15 == 14) {
      for (uint32_t& eye : eyes.eye) eye = (eye + 300) % 2000;
    }
    tiers += Ask(table, *scene, {}, eyes).areas.tiers;
    ASSERT_LE(table.memory_bytes(), kMost) << frame;
  }
  EXPECT_GT(tiers.quiet, 40 * 20u);
  const size_t before = table.memory_bytes();
  table.Forget();
  EXPECT_LT(table.memory_bytes(), before);
}

TEST(EyeTableTest, MemoriesThatNobodyUsesAreDropped) {
  Random random(93);
  const Scene::Ptr scene = RandomScene(random, {8, 1, 0}).scene;
  EyeTable table;
  Eyes all(random, {16, 1, 20}, 100), one(random, {16, 1, 20}, 1);
  for (int frame = 0; frame < 3; ++frame) Ask(table, *scene, {}, all);
  const size_t before = table.memory_bytes();
  // An eye in error is no use.
  Eyes bad = all;
  bad.range.assign(bad.range.size(), -1);
  for (uint32_t frame = 0; frame < EyeTable::kMaxIdleFrames; ++frame) {
    Ask(table, *scene, {}, frame % 2 == 0 ? one : bad);
  }
  EXPECT_EQ(table.memory_bytes(), before);
  for (int frame = 0; frame < 128; ++frame) Ask(table, *scene, {}, frame % 2 == 0 ? one : bad);
  EXPECT_LT(table.memory_bytes(), before);
  for (uint32_t frame = 0; frame <= EyeTable::kMaxIdleFrames + 1; ++frame) table.BeginFrame();
  EXPECT_EQ(table.memory_bytes(), 0u);
}

// An evaluation that is stopped anywhere leaves right numbers of bytes.
TEST(EyeTableTest, BytesAreCountedWhereTheWorkStops) {
  Random random(95);
  const Scene::Ptr scene = RandomScene(random, {12, 1, 0}).scene;
  EyeTable table;
  Eyes eyes(random, {24, 1, 20}, 16);
  for (uint64_t units = 0; units < 4000; units += 37) {
    Group group;
    group.areas = eyes.columns();
    table.BeginFrame();
    table.Begin(group);
    GroupAnswers answers;
    WorkMeter meter;
    meter.set_max_units(units);
    (void)EvaluateGroup(*scene, group, answers, meter);
    table.End();
    size_t bytes = 0;
    for (const EyeTracker& tracker : group.areas.trackers) bytes += tracker.memory_bytes() + 8;
    EXPECT_EQ(table.memory_bytes(), bytes);
  }
}

// Shapes go before memories of eyes, which take a quarter of a table at most.
TEST(EyeTableTest, TrackersHaveRoomBesideEyes) {
  Random random(94);
  const Scene::Ptr scene = RandomScene(random, {12, 1, 0}).scene;
  constexpr size_t kMost = 256 << 10;
  TrackerTable table({.max_trackers = 4096, .max_bytes = kMost});
  Eyes eyes(random, {24, 1, 20}, 512);
  const auto ask = [&](Coherence coherence) {
    Group group;
    group.areas = eyes.columns();
    group.moves = {.x = eyes.x, .y = eyes.y};
    const GroupAnswers cold = AnswersOf(*scene, group);
    table.BeginFrame();
    table.Begin(group, coherence);
    const GroupAnswers warm = AnswersOf(*scene, group);
    table.End(warm.moves.memory_growth);
    EXPECT_TRUE(warm.areas.pieces == cold.areas.pieces);
    return warm.areas.tiers;
  };
  for (int frame = 0; frame < 8; ++frame) ask(Coherence::kOn);
  EXPECT_GT(ask(Coherence::kOn).quiet, 20u);
  EXPECT_EQ(ask(Coherence::kOff), (EyeTiers{0, 0, 512}));
  EXPECT_LE(table.memory_bytes(), kMost / 4);
  EXPECT_GT(table.memory_bytes(), kMost / 8);
  // A shape that leaves some room, and 511 others.
  PolygonSpec spec{0, {{}}};
  for (int i = 0; i < 3000; ++i) spec.rings[0].vertices.push_back({i * 1.0, i * 1.0 * i});
  std::vector<Shape> shapes(511, Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.25}).value());
  shapes.push_back(Polygon::Create(spec).value());
  const TrackerDefinitions definitions{.shapes = shapes};
  ASSERT_TRUE(table.Define({}, {&definitions, 1}).ok());
  for (int frame = 0; frame < 8; ++frame) {
    EXPECT_LE(table.memory_bytes(), kMost);
    ask(Coherence::kOn);
    eyes.Move(random, 0.01);
  }
  table.Forget();
  EXPECT_LT(table.memory_bytes(), kMost);
}

}  // namespace
}  // namespace carom::testing::eye_table_test
