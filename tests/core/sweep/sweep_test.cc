// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/random_scene.h"
#include "tests/core/sweep/sweep_cases.h"

namespace carom::testing::sweep_test {
namespace {

RingSpec Rectangle(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

// The fraction of the first hit, or -1.
double First(const Scene& scene, const Shape& shape, Vec2 d,
             InsidePolicy policy = InsidePolicy::kReportStart) {
  const SweepAnswers answers = Sweep(scene, shape, d, {CastMode::kClosest, policy});
  return answers.hits.empty() ? -1 : answers.hits[0].fraction;
}

// --- boundary ------------------------------------------------------------------------------------

TEST(SweepTest, ABoxMeetsAWallWhereTheyTouch) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, ShapeOf({0, {Rectangle(-1, -1, 1, 1)}}), {18, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  const SweepHit& hit = answers.hits[0];
  EXPECT_EQ(hit.polygon_id, 7u);
  EXPECT_EQ(hit.fraction, 0.5);
  EXPECT_FALSE(hit.starts_inside);
  EXPECT_TRUE(hit.has_edge);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
  EXPECT_EQ(hit.point.x, 10);
  EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
}

TEST(SweepTest, ReachingTheWallExactlyAtTheEndIsAHit) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(-1, -1, 1, 1)}});
  EXPECT_EQ(First(*scene, box, {9, 0}), 1);
  EXPECT_EQ(First(*scene, box, {std::nextafter(9, 0), 0}), -1);
  EXPECT_EQ(First(*scene, box, {-9, 0}), -1);
  const Shape disc = CircleOf({0, 0}, 1);
  EXPECT_EQ(First(*scene, disc, {9, 0}), 1);
  EXPECT_EQ(First(*scene, disc, {std::nextafter(9, 0), 0}), -1);
}

TEST(SweepTest, SlidingAlongAWallIsContact) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 1, 12, 5)}}}).scene;
  EXPECT_EQ(First(*scene, ShapeOf({0, {Rectangle(-1, -1, 1, 1)}}), {18, 0}), 0.5);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1), {20, 0}), 0.5);  // tangent where the wall begins
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, std::nextafter(1, 0)), {20, 0}), -1);
}

TEST(SweepTest, ACircleMeetsACornerAtItsRadius) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 3, 12, 5)}}}).scene;
  // 3-4-5: the centre is at x = 6 when the corner (10, 3) is 5 away.
  const SweepAnswers answers = Sweep(*scene, CircleOf({0, 0}, 5), {24, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.25);
  EXPECT_EQ(answers.hits[0].point, (Vec2{10, 3}));
  EXPECT_DOUBLE_EQ(answers.hits[0].normal.x, -0.8);
  EXPECT_DOUBLE_EQ(answers.hits[0].normal.y, -0.6);
}

TEST(SweepTest, ACapsulesSideMeetsACorner) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 0, 12, 5)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, CapsuleOf({0, -8}, {0, 8}, 2), {16, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
}

TEST(SweepTest, TheNormalOfASmallCircleFarOutIsRight) {
  const double far = 0x1p40;
  const Scene::Ptr scene = MakeScene({{7, {{{{far, 0}}}}}}).scene;
  const double r = 0x1p-20;
  const SweepAnswers answers = Sweep(*scene, CircleOf({0, r * 0.6}, r), {2 * far, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_NEAR(answers.hits[0].normal.x, -0.8, 0x1p-52);
  EXPECT_NEAR(answers.hits[0].normal.y, 0.6, 0x1p-52);
}

TEST(SweepTest, TwoVerticesThatMeetPushAgainstTheMotion) {
  const Scene::Ptr scene = MakeScene({{7, {{{{4, 0}, {6, 1}, {6, -1}}}}}}).scene;
  const Shape wedge = ShapeOf({0, {{{{0, 0}, {-2, 1}, {-2, -1}}}}});
  const SweepAnswers answers = Sweep(*scene, wedge, {8, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].point, (Vec2{4, 0}));
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
}

TEST(SweepTest, FacesThatMeetVertexOnVertexPushAlongTheirNormal) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(4, 0, 8, 4)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, ShapeOf({0, {Rectangle(-4, 4, 0, 8)}}), {8, -4});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].edge, (EdgeRef{0, 2}));  // its end (4, 4) is on the mover's face
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
  // Faces that cover each other exactly.
  const SweepAnswers aligned = Sweep(*scene, ShapeOf({0, {Rectangle(-4, 2, 0, 6)}}), {8, -4});
  ASSERT_EQ(aligned.hits.size(), 1u);
  EXPECT_EQ(aligned.hits[0].fraction, 0.5);
  EXPECT_EQ(aligned.hits[0].normal, (Vec2{-1, 0}));
}

// --- inside policies -----------------------------------------------------------------------------

TEST(SweepTest, AStartInsideIsReportedIgnoredOrLeft) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 8, 8), Rectangle(16, 0, 24, 8)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(3, 3, 5, 5)}});
  const Shape disc = CircleOf({4, 4}, 1);
  for (const Shape& mover : {box, disc}) {
    EXPECT_EQ(First(*scene, mover, {32, 0}), 0);
    EXPECT_EQ(First(*scene, mover, {32, 0}, InsidePolicy::kIgnore), 11 / 32.0);
    EXPECT_EQ(First(*scene, mover, {32, 0}, InsidePolicy::kExit), 5 / 32.0);
    EXPECT_EQ(First(*scene, mover, {2, 0}, InsidePolicy::kIgnore), -1);
    EXPECT_EQ(First(*scene, mover, {2, 0}, InsidePolicy::kExit), 1);
    const SweepAnswers start = Sweep(*scene, mover, {32, 0});
    EXPECT_TRUE(start.hits[0].starts_inside);
    EXPECT_FALSE(start.hits[0].has_edge);
    EXPECT_EQ(start.hits[0].normal, Vec2{});
    const SweepAnswers exit = Sweep(*scene, mover, {32, 0}, All(InsidePolicy::kExit));
    EXPECT_TRUE(exit.hits[0].starts_inside);
    EXPECT_EQ(exit.hits[0].edge, (EdgeRef{0, 1}));
    EXPECT_EQ(exit.hits[0].normal, Vec2{});
  }
}

TEST(SweepTest, AMoverThatSwallowsThePolygonHoldsThePassageOpen) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(-1, -1, 1, 1)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(-8, -8, 8, 8)}});
  EXPECT_EQ(First(*scene, box, {18, 0}, InsidePolicy::kExit), 0.5);
  PolygonSpec hollow{0, {Rectangle(-8, -8, 8, 8)}};
  hollow.solidity = Solidity::kBoundary;
  EXPECT_EQ(First(*scene, ShapeOf(hollow), {14, 0}), 0.5);
}

// The end of the passage and the re-entry lie between two neighbouring doubles.
TEST(SweepTest, AGapBelowTheResolutionOfTheFractionParts) {
  const double a = 0.75 * 0x1p52;
  const Scene::Ptr scene = MakeScene({{7, {{{{0, 0}, {a, 0}}}, {{{a + 2.5, 0}}}}}}).scene;
  const Vec2 d{0x1p52, 0};
  const double both = (a + 1.5) / 0x1p52;
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.125), d, InsidePolicy::kExit), both);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.125), d, InsidePolicy::kIgnore), both);
  // Discs that just meet leave none.
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.25), d, InsidePolicy::kIgnore), -1);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.25), d, InsidePolicy::kExit), (a + 4) / 0x1p52);
}

// As small as a fraction gets: the start misses by the least that the numbers can express.
TEST(SweepTest, TinyFractionsAreNotZero) {
  const double tiny = 0x1p-140;
  const Scene::Ptr scene = MakeScene({{7, {{{{tiny * 3, -1}, {tiny * 3, 1}}}}}}).scene;
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, tiny * 2), {0x1p53, 0}), 0x1p-193);
  EXPECT_EQ(First(*scene, ShapeOf({0, {{{{tiny * 2, 0}}}}}), {0x1p53, 0}), 0x1p-193);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, tiny * 3), {0x1p53, 0}), 0);
}

TEST(SweepTest, ASweepOfLengthZeroIsAnOverlapTest) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 4, 4)}}}).scene;
  for (const Shape& mover : {ShapeOf({0, {Rectangle(4, 4, 6, 6)}}), CircleOf({5, 4}, 1)}) {
    EXPECT_EQ(First(*scene, mover, {0, 0}), 0);
    EXPECT_EQ(First(*scene, mover, {0, 0}, InsidePolicy::kExit), 0);
    EXPECT_EQ(First(*scene, mover, {0, 0}, InsidePolicy::kIgnore), -1);
    const SweepAnswers moved = Sweep(*scene, mover, {1, 0}, {1, 0});
    EXPECT_TRUE(moved.hits.empty());
  }
}

// The passage begins and ends at 0, so that its end has the edge of the start; that of a sweep with
// a length has none where it reaches the end.
TEST(SweepTest, ASweepOfLengthZeroLeavesAtItsStart) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 4, 4)}}}).scene;
  for (const Shape& mover : {ShapeOf({0, {Rectangle(3, 1, 6, 2)}}), CircleOf({4.5, 2}, 1)}) {
    const SweepAnswers start = Sweep(*scene, mover, {0, 0}, All());
    const SweepAnswers exit = Sweep(*scene, mover, {0, 0}, All(InsidePolicy::kExit));
    ASSERT_EQ(exit.hits.size(), 1u);
    ExpectSameHit(exit.hits[0], start.hits[0]);
    EXPECT_EQ(exit.hits[0].fraction, 0);
    EXPECT_TRUE(exit.hits[0].has_edge);
    EXPECT_EQ(exit.hits[0].edge, (EdgeRef{0, 1}));
    EXPECT_EQ(exit.hits[0].normal, (Vec2{0, 0}));
    EXPECT_TRUE(Sweep(*scene, mover, {0, 0}, All(InsidePolicy::kIgnore)).hits.empty());
    const SweepAnswers longer = Sweep(*scene, mover, {0, 0.25}, All(InsidePolicy::kExit));
    ASSERT_EQ(longer.hits.size(), 1u);
    EXPECT_EQ(longer.hits[0].fraction, 1);
    EXPECT_FALSE(longer.hits[0].has_edge);
  }
}

// --- modes, errors -------------------------------------------------------------------------------

TEST(SweepTest, AllKeepsTheFirstOfTheTotalOrder) {
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < 5; ++i) {
    specs.push_back({static_cast<uint64_t>(9 - i), {Rectangle(4 + i / 2, 0, 5 + i / 2, 1)}});
  }
  const Scene::Ptr scene = MakeScene(specs).scene;
  SweepOptions options = All();
  options.max_hits = 3;
  const Shape box = ShapeOf({0, {Rectangle(0, 0, 1, 1)}});
  const SweepAnswers answers = Sweep(*scene, box, {16, 0}, options);
  ASSERT_EQ(answers.hits.size(), 3u);
  EXPECT_EQ(answers.hits[0].polygon_id, 8u);
  EXPECT_EQ(answers.hits[1].polygon_id, 9u);
  EXPECT_EQ(answers.hits[2].polygon_id, 6u);
  EXPECT_EQ(answers.truncated, std::vector<uint32_t>{0});
  EXPECT_EQ(Sweep(*scene, box, {16, 0}, {CastMode::kAny}).counts[0], 1u);
  EXPECT_TRUE(Sweep(*scene, box, {16, 0}, {CastMode::kAny}).hits.empty());
  options.mask = 2;
  EXPECT_TRUE(Sweep(*scene, box, {16, 0}, options).hits.empty());
}

TEST(SweepTest, ABadItemIsNamedAndTheOthersAreAnswered) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const Shape shape = ShapeOf({0, {Rectangle(-4, -4, 4, 4)}});
  const double nan = std::nan("");
  const std::vector<uint32_t> index = {0, 0, 0, 1, 0, 0};
  const std::vector<double> x = {0, nan, 0, 0, -0x1p53, 0x1p53};
  const std::vector<double> y = {0, 0, 0, 0, 0, 0};
  const std::vector<double> to_x = {24, 24, 18, 18, 0x1p53, 0};
  const std::vector<double> to_y = {0, 0, HUGE_VAL, 0, 0, 0};
  SweepColumns columns;
  columns.movers.shapes = {&shape, 1};
  columns.movers.shape = index;
  columns.movers.x = x;
  columns.movers.y = y;
  columns.to_x = to_x;
  columns.to_y = to_y;
  SweepAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(SweepShapes(*scene, columns, {}, answers, meter));
  EXPECT_EQ(answers.counts[0], 1u);
  ASSERT_EQ(answers.errors.size(), 5u);
  EXPECT_EQ(answers.errors[0], (ItemError{1, ItemColumn::kX, ItemFault::kNotAccepted}));
  EXPECT_EQ(answers.errors[1], (ItemError{2, ItemColumn::kToY, ItemFault::kNotAccepted}));
  EXPECT_EQ(answers.errors[2], (ItemError{3, ItemColumn::kShape, ItemFault::kUnknownShape}));
  EXPECT_EQ(answers.errors[3], (ItemError{4, ItemColumn::kX, ItemFault::kPlacedOutOfRange}));
  EXPECT_EQ(answers.errors[4], (ItemError{5, ItemColumn::kX, ItemFault::kPlacedOutOfRange}));

  const Shape dot = CircleOf({0, 0}, 0);
  columns.movers.shapes = {&dot, 1};
  ASSERT_TRUE(SweepShapes(*scene, columns, {}, answers, meter));
  ASSERT_EQ(answers.errors.size(), 4u);
  EXPECT_EQ(answers.errors[3], (ItemError{4, ItemColumn::kToX, ItemFault::kNotAccepted}));
}

TEST(SweepTest, AMeterStopsTheWorkAnywhere) {
  Random random(0x3e7e4);
  const Grid grid;
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < 200; ++i) {
    specs.push_back(RandomPolygon(random, grid, static_cast<uint64_t>(i)));
  }
  const TestScene scene = MakeScene(specs);
  const Shape shapes[] = {ShapeOf(RandomPolygon(random, grid, 0)), CapsuleOf({1, 1}, {2, 3}, 1)};
  const std::vector<double> from(100, 0);
  const std::vector<double> to(100, 5);
  for (const Shape& shape : shapes) {
    const std::vector<uint32_t> index(100, 0);
    SweepColumns columns;
    columns.movers.shapes = {&shape, 1};
    columns.movers.shape = index;
    columns.movers.x = from;
    columns.movers.y = from;
    columns.to_x = to;
    columns.to_y = to;
    SweepAnswers answers;
    for (const InsidePolicy policy : kPolicies) {
      for (int checks = 0; checks < 20; ++checks) {
        int left = checks;
        WorkMeter meter([&left] { return left-- == 0; });
        EXPECT_FALSE(SweepShapes(*scene.scene, columns, All(policy), answers, meter));
      }
      WorkMeter rows;
      rows.set_max_rows(7);
      EXPECT_FALSE(SweepShapes(*scene.scene, columns, All(policy), answers, rows));
      EXPECT_TRUE(rows.out_of_rows());
    }
  }
}

// A passage that begins inside is found from all pairs of edges that meet on the path.
TEST(SweepTest, PairsOfEdgesBeyondTheRowsStopTheWork) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 10, 10)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(-1, 4, 1, 6)}});
  const double zero = 0;
  const double far = 20;
  SweepColumns columns;
  columns.movers.shapes = {&box, 1};
  columns.movers.x = {&zero, 1};
  columns.movers.y = {&zero, 1};
  columns.to_x = {&far, 1};
  columns.to_y = {&zero, 1};
  SweepAnswers answers;
  WorkMeter enough;
  enough.set_max_rows(16);
  EXPECT_TRUE(
      SweepShapes(*scene, columns, {CastMode::kClosest, InsidePolicy::kExit}, answers, enough));
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.55);
  WorkMeter few;
  few.set_max_rows(3);
  answers.Clear();
  EXPECT_FALSE(
      SweepShapes(*scene, columns, {CastMode::kClosest, InsidePolicy::kExit}, answers, few));
  EXPECT_TRUE(few.out_of_rows());
}

}  // namespace
}  // namespace carom::testing::sweep_test
