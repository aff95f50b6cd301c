// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A table of trackers takes definitions as a whole or not at all, and never more than it may.

#include "carom/tracker_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"

namespace carom::testing::tracker_table_test {
namespace {

constexpr size_t kSlotBytes = sizeof(Tracker) + sizeof(uint32_t);

Shape Disc(double radius) { return Shape::Create(Capsule{{{0, 0}, {0, 0}}, radius}).value(); }

Shape Ring(size_t vertices) {
  PolygonSpec spec{0, {{}}};
  for (size_t i = 0; i < vertices; ++i) {
    spec.rings[0].vertices.push_back({static_cast<double>(i), static_cast<double>(i * i)});
  }
  return Polygon::Create(spec).value();
}

absl::Status Define(TrackerTable& table, const TrackerDefinitions& definitions,
                    std::vector<uint32_t> removed = {}) {
  return table.Define(removed, {&definitions, 1});
}

::testing::AssertionResult Refuses(const absl::Status& status, absl::StatusCode code,
                                   const std::string& field, const std::string& range) {
  const std::vector<Violation> violations = Violations(status);
  if (status.code() == code && !violations.empty() && violations[0].field == field &&
      violations[0].description.find(range) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << status << " naming " << (violations.empty() ? "nothing" : violations[0].field);
}

TEST(TrackerTableTest, GivesHandlesTrackers) {
  TrackerTable table;
  const std::vector<Shape> shapes{Disc(1), Disc(2)};
  const std::vector<uint32_t> shape{1, 0, 1};
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = shape, .first_tracker = 2}).ok());
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.Find(5), nullptr);
  EXPECT_EQ(table.Find(2)->shape().capsule()->radius, 2);
  EXPECT_EQ(table.Find(3)->shape().capsule()->radius, 1);
  EXPECT_EQ(&table.Find(4)->shape(), &table.Find(2)->shape());

  // By handle; in place of one that is there; one is removed and defined in one edit.
  const std::vector<uint32_t> handles{4, 0};
  ASSERT_TRUE(Define(table,
                     {.shapes = shapes, .tracker = handles, .options = {.mask = 6, .within = 3}},
                     {3, 0, 99})
                  .ok());
  EXPECT_EQ(table.Find(4)->shape().capsule()->radius, 1);
  EXPECT_EQ(table.Find(4)->options().within, 3);
  EXPECT_EQ(table.Find(0)->options().mask, 6u);
  EXPECT_EQ(table.Find(3), nullptr);
}

TEST(TrackerTableTest, WhatIsWrongWithDefinitions) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  const std::vector<Shape> shapes{Disc(1), Ring(4097)};
  const std::span<const Shape> disc(shapes.data(), 1);
  const std::vector<uint32_t> twice{1, 1}, zeros{0, 0}, two{0, 2}, high{65536}, many(65537, 0);
  TrackerTable table;
  struct Case {
    TrackerDefinitions definitions;
    absl::StatusCode code;
    const char* field;
    const char* range;
  };
  const std::vector<Case> cases{
      {{.shapes = disc, .tracker = twice}, kInvalid, "trackers[0].tracker", "shapes, 1"},
      {{.shapes = disc, .shape = zeros, .tracker = high}, kInvalid, "trackers[0].tracker", "2"},
      {{.shapes = disc, .shape = zeros, .tracker = twice},
       kInvalid,
       "trackers[0].tracker[1]",
       "twice"},
      {{.shapes = disc, .shape = two}, kInvalid, "trackers[0].shape[1]", "index into shapes"},
      {{.shapes = disc, .options = {.within = -1}}, kInvalid, "trackers[0].within", "[0, 2^53]"},
      {{.shapes = shapes}, kExhausted, "trackers[0].shapes[1]", "4096 vertices"},
      {{.shapes = disc, .tracker = high}, kExhausted, "trackers[0].tracker[0]", "below 65536"},
      {{.shapes = disc, .shape = zeros, .first_tracker = 65535},
       kExhausted,
       "trackers[0].first_tracker",
       "below 65536"},
      {{.shapes = disc, .shape = zeros, .first_tracker = ~uint32_t{0}},
       kExhausted,
       "trackers[0].first_tracker",
       "below 65536"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(Refuses(Define(table, c.definitions, {0}), c.code, c.field, c.range));
  }
  EXPECT_EQ(table.memory_bytes(), 0u);
  EXPECT_EQ(table.Find(0), nullptr);

  // A refusal leaves those of other batches alone, and says which batch is wrong.
  const TrackerDefinitions both[] = {{.shapes = disc}, {.shapes = disc}};
  EXPECT_TRUE(Refuses(table.Define({}, both), kInvalid, "trackers[1].first_tracker", "twice"));
}

// Shapes count once for all trackers, and no longer once the last is gone.
TEST(TrackerTableTest, CountsWhatShapesTake) {
  TrackerTable table;
  const std::vector<Shape> shapes{Ring(1000)};
  const std::vector<uint32_t> one(1, 0), hundred(100, 0);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = one}).ok());
  const size_t shape_bytes = table.memory_bytes() - kSlotBytes;
  EXPECT_GE(shape_bytes, 16000u);
  EXPECT_LE(shape_bytes, 32000u);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = hundred}).ok());
  EXPECT_EQ(table.memory_bytes(), 100 * kSlotBytes + shape_bytes);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = one, .first_tracker = 7}).ok());
  EXPECT_EQ(table.memory_bytes(), 100 * kSlotBytes + 2 * shape_bytes);
  ASSERT_TRUE(Define(table, {}, {7, 7}).ok());
  EXPECT_EQ(table.memory_bytes(), 100 * kSlotBytes + shape_bytes);
  std::vector<uint32_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = one}, all).ok());
  EXPECT_EQ(table.memory_bytes(), 100 * kSlotBytes + shape_bytes);
  ASSERT_TRUE(Define(table, {}, all).ok());
  EXPECT_EQ(table.memory_bytes(), 0u);
}

// Story: a table had a slot for each handle up to the highest, so that a frame of 21 bytes, which
// defined handle 65,535, took 5.4 MB.
TEST(TrackerTableTest, AHighHandleTakesNoMoreThanALowOne) {
  const std::vector<Shape> shapes{Disc(1)};
  TrackerTable low, high;
  ASSERT_TRUE(Define(low, {.shapes = shapes}).ok());
  ASSERT_TRUE(Define(high, {.shapes = shapes, .first_tracker = 65535}).ok());
  EXPECT_EQ(high.memory_bytes(), low.memory_bytes());
  EXPECT_LT(high.memory_bytes(), 1000u);

  // Those that extend no run take an entry of a hash table more: a node, its header of the heap,
  // and a bucket.
  const std::vector<uint32_t> zeros(1000, 0);
  std::vector<uint32_t> handles;
  for (uint32_t i = 0; i < 1000; ++i) handles.push_back(60 * i);
  TrackerTable sparse;
  ASSERT_TRUE(Define(sparse, {.shapes = shapes, .shape = zeros, .tracker = handles}).ok());
  EXPECT_LE(sparse.memory_bytes(), 999 * (kSlotBytes + 40) + low.memory_bytes());

  // What is freed serves others.
  const size_t before = sparse.memory_bytes();
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(Define(sparse, {.shapes = shapes, .first_tracker = 30001 + i},
                       {i == 0 ? handles[500] : 30000 + i})
                    .ok());
  }
  EXPECT_LT(sparse.memory_bytes(), before + 1000);
}

// Discs of radius handle / 8 stand at x = 0; a wall at x = 100 touches those of 800 and above.
TEST(TrackerTableTest, MovesFindTheirHandles) {
  const Scene::Ptr scene =
      Scene::Create({Polygon::Create({7, {{{{100, -9}, {101, -9}, {101, 9}, {100, 9}}}}}).value()})
          .value();
  Random random(77);
  for (int table_number = 0; table_number < 200; ++table_number) {
    TrackerTable table;
    std::vector<uint32_t> defined;
    for (int edit = 0; edit < 6; ++edit) {
      const auto first =
          static_cast<uint32_t>(random.Below(4) == 0 ? random.Below(1600) : 790 + edit);
      std::vector<Shape> shapes;
      for (uint32_t i = 0; i <= static_cast<uint32_t>(random.Below(4)); ++i) {
        shapes.push_back(Disc((first + i) / 8.0));
        defined.push_back(first + i);
      }
      std::vector<uint32_t> removed;
      if (random.Below(3) == 0)
        removed.push_back(defined[random.Below(static_cast<int>(defined.size()))]);
      std::erase_if(defined, [&](uint32_t handle) {
        return !removed.empty() && handle == removed[0] && handle - first >= shapes.size();
      });
      ASSERT_TRUE(Define(table, {.shapes = shapes, .first_tracker = first}, removed).ok());
    }
    const auto is_defined = [&](uint32_t handle) {
      return std::find(defined.begin(), defined.end(), handle) != defined.end();
    };
    std::vector<uint32_t> handles;
    for (int i = 0; i < 30; ++i) handles.push_back(static_cast<uint32_t>(780 + random.Below(30)));
    const std::vector<double> zeros(30, 0);
    for (const bool by_column : {true, false}) {
      Group group;
      group.moves = {.x = zeros, .y = zeros};
      if (by_column) {
        group.moves.tracker = handles;
      } else {
        group.moves.first_tracker = 780;
      }
      table.BeginFrame();
      table.Begin(group);
      GroupAnswers answers;
      WorkMeter meter;
      ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
      table.End(answers.moves.memory_growth);
      std::vector<uint32_t> unknown;
      for (uint32_t i = 0; i < 30; ++i) {
        const uint32_t handle = by_column ? handles[i] : 780 + i;
        ASSERT_EQ(table.Find(handle) != nullptr, is_defined(handle)) << handle;
        if (!is_defined(handle)) unknown.push_back(i);
        const bool is_clear = (answers.moves.clear[0] >> i & 1) != 0;
        EXPECT_EQ(is_clear, is_defined(handle) && handle < 800) << handle;
      }
      ASSERT_EQ(answers.moves.errors.size(), unknown.size());
      for (size_t i = 0; i < unknown.size(); ++i) {
        EXPECT_EQ(answers.moves.errors[i].index, unknown[i]);
        EXPECT_EQ(answers.moves.errors[i].fault, ItemFault::kUnknownTracker);
      }
    }
  }
}

TEST(TrackerTableTest, RefusesShapesThatTakeTooMuch) {
  TrackerTable table({.max_bytes = 100000});
  const std::vector<Shape> shapes(3, Ring(1000));
  const std::span<const Shape> all(shapes);
  ASSERT_TRUE(Define(table, {.shapes = all}).ok());
  const size_t before = table.memory_bytes();
  const absl::Status refused = Define(table, {.shapes = all, .first_tracker = 3});
  EXPECT_TRUE(Refuses(refused, absl::StatusCode::kResourceExhausted, "trackers", "100000 bytes"));
  EXPECT_EQ(table.memory_bytes(), before);
  EXPECT_EQ(table.Find(3), nullptr);
  // In place of those that are there, they fit.
  EXPECT_TRUE(Define(table, {.shapes = all}).ok());
  EXPECT_TRUE(Define(table, {.shapes = all, .first_tracker = 3}, {0, 1, 2}).ok());
}

// Trackers on random paths through a random scene, with definitions and stopped work in between.
// Answers are those of trackers without memory, and the account is right to the byte.
TEST(TrackerTableTest, MemoriesAreDroppedAndNobodySees) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Random random(4000 + seed);
    Grid grid;
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < 30; ++id) {
      polygons.push_back(Polygon::Create(RandomPolygon(random, grid, id)).value());
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    const TrackerTableLimits limits{.max_trackers = 40,
                                    .max_bytes = seed % 2 == 0 ? 9000u : 30000u};
    TrackerTable table(limits);
    size_t most = 0;
    for (int frame = 0; frame < 300; ++frame) {
      if (random.Below(4) == 0) {
        const std::vector<Shape> shapes{RandomMover(random, grid).shape, Disc(random.Below(4))};
        const auto handle = static_cast<uint32_t>(random.Below(39));
        std::vector<uint32_t> removed;
        for (int i = random.Below(3); i > 0; --i) {
          removed.push_back(static_cast<uint32_t>(random.Below(40)));
        }
        const absl::Status status =
            Define(table, {.shapes = shapes, .first_tracker = handle}, removed);
        ASSERT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
      }
      std::vector<double> x, y;
      for (size_t i = 0; i < limits.max_trackers; ++i) {
        const Vec2 p = grid.Point(random);
        x.push_back(p.x);
        y.push_back(p.y);
      }
      Group group;
      group.moves.x = std::span(x).first(x.size() * (1 + frame % 2) / 2);
      group.moves.y = std::span(y).first(group.moves.x.size());
      group.moves.first_tracker = static_cast<uint32_t>(frame % 2 == 0 ? x.size() / 2 : 0);
      const int step = random.Below(2) == 0 ? 1000000 : random.Below(40);
      int asked = 0;
      WorkMeter meter([&] { return ++asked > step; });
      GroupAnswers warm;
      table.BeginFrame();
      table.Begin(group);
      const absl::Status status = EvaluateGroup(*scene, group, warm, meter);
      table.End(warm.moves.memory_growth);
      most = std::max(most, table.memory_bytes());
      if (!status.ok()) continue;
      Group cold = group;
      cold.move_options.coherence = Coherence::kOff;
      GroupAnswers answers;
      WorkMeter free;
      ASSERT_TRUE(EvaluateGroup(*scene, cold, answers, free).ok());
      ASSERT_TRUE(SameVerdicts(warm.moves, answers.moves)) << "seed " << seed << " " << frame;
    }
    EXPECT_LE(most, limits.max_bytes + Tracker::kMaxMemoryBytes);
    EXPECT_GT(most, limits.max_bytes / 2);
    std::vector<uint32_t> all(40);
    std::iota(all.begin(), all.end(), 0);
    ASSERT_TRUE(Define(table, {}, all).ok());
    EXPECT_EQ(table.memory_bytes(), 0u);
  }
}

// The least recently moved are the first to forget.
TEST(TrackerTableTest, WhoMovedLastRemembers) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 40; ++id) {
    const double x = 10 * static_cast<double>(id);
    polygons.push_back(Polygon::Create({id, {{{{x, 0}, {x + 4, 0}, {x + 4, 4}, {x, 4}}}}}).value());
  }
  const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
  TrackerTable table({.max_bytes = 12000});
  const std::vector<Shape> shapes{Disc(1)};
  const std::vector<uint32_t> forty(40, 0);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = forty}).ok());
  const auto move = [&](uint32_t handle) {
    const double x = 10.0 * handle;
    const double y = 4.5;
    Group group;
    group.moves = {.tracker = {&handle, 1}, .x = {&x, 1}, .y = {&y, 1}};
    GroupAnswers answers;
    WorkMeter meter;
    table.BeginFrame();
    table.Begin(group);
    EXPECT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
    table.End(answers.moves.memory_growth);
    return answers.moves.tiers;
  };
  for (uint32_t handle = 0; handle < 40; ++handle) {
    move(0);  // again and again
    move(handle);
  }
  EXPECT_EQ(move(0).refresh, 0u);
  EXPECT_EQ(move(39).refresh, 0u);
  EXPECT_EQ(move(1).refresh, 1u);
}

// Story: a tracker near by holds on to the polygons that it remembers. One that never moves again
// would hold a polygon that left the scene for as long as its stream lives.
TEST(TrackerTableTest, WhoSleepsForgets) {
  const Scene::Ptr scene =
      Scene::Create({Polygon::Create({7, {{{{2, 0}, {3, 0}, {3, 1}}}}}).value()}).value();
  TrackerTable table;
  const std::vector<Shape> shapes{Disc(1)};
  const std::vector<uint32_t> hundred(100, 0);
  ASSERT_TRUE(Define(table, {.shapes = shapes, .shape = hundred}).ok());
  const size_t before = table.memory_bytes();
  const double zero = 0;
  Group group;
  group.moves = {.x = {&zero, 1}, .y = {&zero, 1}, .first_tracker = 99};
  GroupAnswers answers;
  WorkMeter meter;
  table.Begin(group);
  ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
  table.End(answers.moves.memory_growth);
  EXPECT_GT(table.memory_bytes(), before);
  for (uint32_t frame = 0; frame < TrackerTable::kMaxIdleFrames; ++frame) table.BeginFrame();
  EXPECT_GT(table.memory_bytes(), before);
  for (int frame = 0; frame < 64; ++frame) table.BeginFrame();
  EXPECT_EQ(table.memory_bytes(), before);
}

// Shapes that take nearly all that there is leave room for memories, if little.
TEST(TrackerTableTest, RoomIsWhatShapesLeave) {
  const Scene::Ptr scene =
      Scene::Create({Polygon::Create({7, {{{{2, 0}, {3, 0}, {3, 1}}}}}).value()}).value();
  const std::vector<Shape> shapes{Ring(1000), Disc(1)};
  TrackerTable unbounded;
  ASSERT_TRUE(Define(unbounded, {.shapes = shapes}).ok());
  TrackerTable table({.max_bytes = unbounded.memory_bytes() + 2000});
  ASSERT_TRUE(Define(table, {.shapes = shapes}).ok());
  const double zero = 0;
  for (int frame = 0; frame < 3; ++frame) {
    Group group;
    group.moves = {.x = {&zero, 1}, .y = {&zero, 1}, .first_tracker = 1};
    GroupAnswers answers;
    WorkMeter meter;
    table.BeginFrame();
    table.Begin(group);
    ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
    table.End(answers.moves.memory_growth);
    EXPECT_EQ(answers.moves.tiers.refresh, frame == 0 ? 1u : 0u);
    EXPECT_EQ(answers.moves.tiers.quiet, frame == 0 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace carom::testing::tracker_table_test
