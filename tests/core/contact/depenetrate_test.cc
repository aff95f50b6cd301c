// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/depenetrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "carom/overlap.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"

namespace carom::testing::depenetrate_test {
namespace {

Shape Ring(std::vector<Vec2> vertices) {
  PolygonSpec spec;
  spec.rings = {{std::move(vertices)}};
  return Polygon::Create(spec).value();
}

DepenetrateAnswers Free(const Scene& scene, const Shape& shape, Vec2 at,
                        const DepenetrateOptions& options = {}) {
  ShapeColumns columns;
  columns.shapes = {&shape, 1};
  columns.x = {&at.x, 1};
  columns.y = {&at.y, 1};
  DepenetrateAnswers out;
  WorkMeter meter;
  EXPECT_TRUE(Depenetrate(scene, columns, options, out, meter));
  EXPECT_EQ(out.positions.size(), 1u);
  return out;
}

TEST(DepenetrateTest, AFreeShapeStaysWhereItIs) {
  const TestScene scene = MakeScene({{1, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}}});
  const DepenetrateAnswers out = Free(*scene.scene, Ring({{0, 0}, {1, 0}, {0, 1}}), {9, 9});
  EXPECT_EQ(out.positions[0], (Vec2{9, 9}));
  EXPECT_EQ(out.finished[0], 1);
  EXPECT_EQ(out.steps[0], 0u);
}

TEST(DepenetrateTest, OnePushFreesAConvexPair) {
  const TestScene scene = MakeScene({{1, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}}});
  const DepenetrateAnswers out =
      Free(*scene.scene, Ring({{0, 0}, {1, 0}, {1, 1}, {0, 1}}), {2.5, 1}, {.max_steps = 1});
  EXPECT_EQ(out.finished[0], 1);
  EXPECT_EQ(out.steps[0], 1u);
  EXPECT_NEAR(out.positions[0].x, 4, 1e-12);
  EXPECT_GT(out.positions[0].x, 4);
  // Touching counts as overlap.
  EXPECT_EQ(Free(*scene.scene, Ring({{0, 0}}), {4, 2}).steps[0], 1u);
}

TEST(DepenetrateTest, HollowPolygonsBlockToo) {
  PolygonSpec spec{1, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}};
  spec.solidity = Solidity::kBoundary;
  const TestScene scene = MakeScene({spec});
  const DepenetrateAnswers out =
      Free(*scene.scene, Ring({{0, 0}, {1, 0}, {1, 1}, {0, 1}}), {3.5, 1});
  EXPECT_EQ(out.finished[0], 1);
  EXPECT_GT(out.steps[0], 0u);
  EXPECT_LT(std::abs(out.positions[0].x - 3.5), 1.01);
}

TEST(DepenetrateTest, AMaskLeavesOthersOut) {
  PolygonSpec spec{1, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}};
  spec.category = 2;
  const TestScene scene = MakeScene({spec});
  EXPECT_EQ(Free(*scene.scene, Ring({{0, 0}}), {2, 2}, {.max_steps = 9, .mask = 1}).steps[0], 0u);
}

TEST(DepenetrateTest, WhereThereIsNoWayOutItSaysSo) {
  // A world that fills the accepted range.
  const double m = kMaxCoordinate;
  const TestScene scene = MakeScene({{1, {{{{-m, -m}, {m, -m}, {m, m}, {-m, m}}}}}});
  const DepenetrateAnswers out = Free(*scene.scene, Ring({{0, 0}, {1, 0}, {0, 1}}), {2, 2});
  EXPECT_EQ(out.finished[0], 0);
}

TEST(DepenetrateTest, BadItemsAreErrorsAndTheOthersAreAnswered) {
  const TestScene scene = MakeScene({{1, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}}});
  const std::vector<Shape> shapes = {Ring({{0, 0}, {1, 0}, {0, 1}})};
  const std::vector<uint32_t> shape = {0, 3, 0, 0};
  const std::vector<double> x = {NAN, 1, 1, 0x1p53}, y = {0, 1, 1, 0x1p53};
  ShapeColumns columns;
  columns.shapes = shapes;
  columns.shape = shape;
  columns.x = x;
  columns.y = y;
  DepenetrateAnswers out;
  WorkMeter meter;
  ASSERT_TRUE(Depenetrate(*scene.scene, columns, {}, out, meter));
  EXPECT_EQ(out.finished, (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ(out.steps[1], 0u);
  EXPECT_EQ(out.positions[1], (Vec2{1, 1}));
  EXPECT_EQ(out.errors,
            (std::vector<ItemError>{{0, ItemColumn::kX, ItemFault::kNotAccepted},
                                    {1, ItemColumn::kShape, ItemFault::kUnknownShape}}));
  WorkMeter stopped([] { return true; });
  stopped.Spend(1);
  EXPECT_FALSE(Depenetrate(*scene.scene, columns, {}, out, stopped));
}

TEST(DepenetrateTest, FinishedMeansFreeByTheOracle) {
  Random random(31);
  int finished = 0;
  const int count = Repeats(400, 20000);
  for (int i = 0; i < count; ++i) {
    const TestScene scene = RandomScene(random, Grid{8, 1, 10});
    PolygonSpec spec = RandomPolygon(random, Grid{3, 0.5, 10}, 0);
    const Shape shape = Polygon::Create(spec).value();
    const Vec2 at{8 * random.Unit(), 8 * random.Unit()};
    const DepenetrateAnswers out = Free(*scene.scene, shape, at);
    Pose pose;
    pose.position = out.positions[0];
    const Polygon placed = PlacedPolygon(*shape.polygon(), pose).value();
    const bool is_free = scene.oracle.Overlap(ToOracle(placed.spec())).ids.empty();
    ASSERT_EQ(out.finished[0] == 1, is_free) << scene.ToCode() << ToCode(spec);
    ASSERT_LE(out.steps[0], 64u);
    finished += out.finished[0];
  }
  EXPECT_GE(finished, count * 99 / 100);
}

}  // namespace
}  // namespace carom::testing::depenetrate_test
