// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The blocking policies and safe poses, by hand and by law.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "carom/group.h"
#include "tests/core/slide/slide_cases.h"
#include "tests/support/oracle_sweep.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

constexpr SweepOptions kBlocked = {CastMode::kAll, InsidePolicy::kBlocking};
constexpr SweepOptions kLeaving = {CastMode::kAll, InsidePolicy::kBlockingLeave};

PolygonSpec RingOf(std::vector<Vec2> vertices, Solidity solidity = Solidity::kSolid) {
  PolygonSpec spec;
  spec.id = 7;
  spec.solidity = solidity;
  spec.rings = {{std::move(vertices), false}};
  return spec;
}

const PolygonSpec kSquare = RingOf({{0, 0}, {4, 0}, {4, 4}, {0, 4}});

SweepAnswers Blocked(const PolygonSpec& fixed, const Shape& shape, Vec2 at, Vec2 d,
                     const SweepOptions& options = kBlocked) {
  return SweepBy({*MakeScene({fixed}).scene, shape}, {at}, d, options);
}

TEST(BlockingTest, RestingSlidingAndLeavingAreFree) {
  const Shape box = BoxShape(2, 2);
  const Shape disc = CircleOf({0, 0}, 1);
  for (const Shape* shape : {&box, &disc}) {
    for (const Vec2 d : {Vec2{9, 0}, Vec2{-9, 0}, Vec2{0, 9}, Vec2{3, 9}, Vec2{0, 0}}) {
      const SweepAnswers answers = Blocked(kSquare, *shape, {2, 5}, d);
      EXPECT_EQ(answers.counts[0], 0u);
      EXPECT_EQ(answers.safe[0], (Vec2{2 + d.x, 5 + d.y}));
    }
    const SweepAnswers pushed = Blocked(kSquare, *shape, {2, 5}, {1, -1});
    ASSERT_EQ(pushed.counts[0], 1u);
    EXPECT_EQ(pushed.hits[0].fraction, 0);
    EXPECT_FALSE(pushed.hits[0].starts_inside);
    EXPECT_EQ(pushed.hits[0].normal, (Vec2{0, 1}));
    EXPECT_EQ(pushed.safe[0], (Vec2{2, 5}));
  }
}

TEST(BlockingTest, ReachingTheWallExactlyAtTheEndIsFree) {
  const SweepAnswers answers = Blocked(kSquare, BoxShape(2, 2), {2, 9}, {0, -4});
  EXPECT_EQ(answers.counts[0], 0u);
  EXPECT_EQ(answers.safe[0], (Vec2{2, 5}));
}

TEST(BlockingTest, HollowWallsAndWallsWithoutAreaBlock) {
  for (const PolygonSpec& wall :
       {RingOf({{0, 0}, {4, 0}, {4, 4}, {0, 4}}, Solidity::kBoundary), RingOf({{0, 4}, {4, 4}}),
        RingOf({{2, 4}}), RingOf({{2, 4}}, Solidity::kBoundary), RingOf({{2, 0}, {2, 4}}),
        RingOf({{0, 4}, {4, 4}}, Solidity::kBoundary)}) {
    for (const Shape& shape : {BoxShape(2, 2), CircleOf({0, 0}, 1)}) {
      const SweepAnswers answers = Blocked(wall, shape, {2, 7}, {0, -4});
      ASSERT_EQ(answers.counts[0], 1u);
      EXPECT_EQ(answers.hits[0].fraction, 0.5);
      EXPECT_EQ(answers.hits[0].normal, (Vec2{0, 1}));
      EXPECT_EQ(answers.safe[0], (Vec2{2, 5}));
    }
  }
}

TEST(BlockingTest, GrazingIsFree) {
  // A disc whose lowest point passes a corner, and a box whose side passes one.
  EXPECT_EQ(Blocked(RingOf({{0, 0}}), CircleOf({0, 0}, 1), {-3, 1}, {9, 0}).counts[0], 0u);
  EXPECT_EQ(Blocked(RingOf({{0, 0}}), BoxShape(2, 2), {-3, 1}, {9, 0}).counts[0], 0u);
  // A needle that points at a corner of a diamond and enters it.
  const Shape diamond = RegularPolygon(4, 1);
  const SweepAnswers needle = Blocked(RingOf({{3, 0}, {9, 0}}), diamond, {0, 0}, {4, 0});
  ASSERT_EQ(needle.counts[0], 1u);
  EXPECT_EQ(needle.hits[0].fraction, 0.5);
  EXPECT_EQ(needle.hits[0].normal.x < 0, true);
}

TEST(BlockingTest, AVertexOnAVertexHasANormal) {
  // Diamond on diamond, head on: the sector that is blocked is a quarter, its rays the sides.
  const PolygonSpec diamond = RingOf({{1, 0}, {0, 1}, {-1, 0}, {0, -1}});
  const Shape mover = ShapeOf(diamond);
  const SweepAnswers answers = Blocked(diamond, mover, {-4, 0}, {4, 0});
  ASSERT_EQ(answers.counts[0], 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  // Rays at 45 degrees on both sides: the counter-clockwise one.
  EXPECT_NEAR(answers.hits[0].normal.x, -std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(answers.hits[0].normal.y, std::sqrt(0.5), 1e-15);
}

// An edge of length 0 counted as if everything lay on it: where the far side of the square had come
// into a ring with such an edge, the ring was taken to have left the square, to be blocked again.
TEST(BlockingTest, ARepeatedVertexChangesNothing) {
  const PolygonSpec square = RingOf({{6, 3}, {10, 3}, {10, 5}, {6, 5}});
  for (const std::vector<Vec2>& ring :
       {std::vector<Vec2>{{0, 0}, {8, 0}, {8, 8}, {0, 8}},
        std::vector<Vec2>{{0, 0}, {0, 0}, {8, 0}, {8, 8}, {8, 8}, {0, 8}}}) {
    const SweepAnswers leaves = Blocked(square, ShapeOf(RingOf(ring)), {0, 0}, {8, 0}, kLeaving);
    EXPECT_EQ(leaves.counts[0], 0u);
    EXPECT_EQ(leaves.safe[0], (Vec2{8, 0}));
  }
}

TEST(BlockingTest, StartsInsideAreReportedOrLeft) {
  for (const Shape& shape : {BoxShape(2, 2), CircleOf({0, 0}, 1)}) {
    const SweepAnswers inside = Blocked(kSquare, shape, {3.5, 2}, {9, 0});
    ASSERT_EQ(inside.counts[0], 1u);
    EXPECT_TRUE(inside.hits[0].starts_inside);
    EXPECT_EQ(inside.hits[0].fraction, 0);
    EXPECT_EQ(inside.hits[0].normal, Vec2{});
    EXPECT_EQ(inside.safe[0], (Vec2{3.5, 2}));
    const SweepAnswers leaves = Blocked(kSquare, shape, {3.5, 2}, {9, 0}, kLeaving);
    EXPECT_EQ(leaves.counts[0], 0u);
    EXPECT_EQ(leaves.safe[0], (Vec2{12.5, 2}));
    // A C: out of one arm, into the other.
    const PolygonSpec c = RingOf({{0, 0}, {9, 0}, {9, 9}, {8, 9}, {8, 1}, {1, 1}, {1, 9}, {0, 9}});
    const SweepAnswers again = Blocked(c, shape, {0.5, 5}, {10, 0}, kLeaving);
    ASSERT_EQ(again.counts[0], 1u);
    EXPECT_EQ(again.hits[0].fraction, 0.65);
    EXPECT_EQ(again.hits[0].normal, (Vec2{-1, 0}));
    EXPECT_EQ(again.safe[0].x, 7);
  }
}

TEST(BlockingTest, MoversWithoutInteriorAreRefused) {
  const PolygonSpec bow = RingOf({{0, 0}, {2, 2}, {2, 0}, {0, 2}});
  const Shape shapes[] = {CapsuleOf({0, 0}, {1, 0}, 0), ShapeOf(RingOf({{0, 0}, {1, 0}})),
                          ShapeOf(RingOf({{0, 0}, {1, 0}, {1, 1}}, Solidity::kBoundary)),
                          ShapeOf(bow)};
  const TestScene scene = MakeScene({kSquare});
  for (size_t i = 0; i < 4; ++i) {
    const SweepAnswers answers = SweepBy({*scene.scene, shapes[i]}, {}, {1, 0}, kBlocked);
    ASSERT_EQ(answers.errors.size(), 1u);
    EXPECT_EQ(answers.errors[0].column, ItemColumn::kShape);
    EXPECT_EQ(answers.errors[0].fault, i < 3 ? ItemFault::kNoInterior : ItemFault::kNotSimple);
    EXPECT_EQ(answers.safe[0], Vec2{});
    EXPECT_EQ(Slide({*scene.scene, shapes[i]}, {}, {{1, 0}}).errors.size(), 1u);
  }
  // A shape that rounding flattens where it is placed.
  const Shape small = BoxShape(0.25, 0.25);
  EXPECT_EQ(SweepBy({*scene.scene, small}, {{0x1p52, 0}}, {1, 0}, kBlocked).errors[0].fault,
            ItemFault::kNoInterior);
  const SweepAnswers bad = SweepBy({*scene.scene, BoxShape(1, 1)}, {}, {NAN, 0}, kBlocked);
  EXPECT_EQ(bad.errors[0].column, ItemColumn::kDx);
  const SweepAnswers skin = SweepBy({*scene.scene, BoxShape(1, 1), -1}, {}, {1, 0}, kBlocked);
  EXPECT_EQ(skin.errors[0].column, ItemColumn::kSkin);
}

TEST(BlockingTest, GroupsNameTheField) {
  const Shape shape = BoxShape(1, 1);
  const double one = 1;
  Group group;
  group.sweeps.movers = {{&shape, 1}, {}, {&one, 1}, {&one, 1}};
  const auto refusal = [&] { return std::string(CheckGroup(group).message()); };
  group.sweeps.to_x = group.sweeps.to_y = {&one, 1};
  EXPECT_TRUE(CheckGroup(group).ok());
  group.sweeps.dx = group.sweeps.dy = {&one, 1};
  EXPECT_NE(refusal().find("sweeps.dx"), std::string::npos);
  group.sweeps.to_x = group.sweeps.to_y = {};
  EXPECT_TRUE(CheckGroup(group).ok());
  group.sweeps.skin = {&one, 1};
  EXPECT_NE(refusal().find("sweeps.skin"), std::string::npos);
  group.sweep_options.inside_policy = InsidePolicy::kBlocking;
  EXPECT_TRUE(CheckGroup(group).ok());
  group.cast_options.inside_policy = InsidePolicy::kBlocking;
  EXPECT_NE(refusal().find("segments.inside_policy"), std::string::npos);
  group.cast_options = {};
  group.slides.movers = group.sweeps.movers;
  group.slides.dx = {&one, 1};
  EXPECT_NE(refusal().find("slides.dy"), std::string::npos);
  group.slides.dy = {&one, 1};
  EXPECT_TRUE(CheckGroup(group).ok());
  group.slide_options.inside_policy = InsidePolicy::kIgnore;
  EXPECT_NE(refusal().find("slides.inside_policy"), std::string::npos);
  group.slide_options = {InsidePolicy::kBlocking, 9};
  EXPECT_NE(refusal().find("slides.max_contacts"), std::string::npos);
}

TEST(BlockingTest, ADisplacementIsTheDifferenceOfPositions) {
  const TestScene scene = MakeScene({kSquare});
  const SweepAnswers by = SweepBy({*scene.scene, BoxShape(1, 1)}, {{-3, 2}}, {5, 1}, All());
  const SweepAnswers to = Sweep(*scene.scene, BoxShape(1, 1), {-3, 2}, {2, 3}, All());
  ASSERT_EQ(by.hits.size(), 1u);
  ExpectSameHit(by.hits[0], to.hits[0]);
  EXPECT_TRUE(by.safe.empty());
}

// Round shapes: before the fraction no edge is closer than the radius, and right after it one is.
TEST(BlockingTest, RoundShapesAgreeWithRationals) {
  const int cases = Repeats(300, 20000);
  int hits = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x70ad + static_cast<uint64_t>(i));
    Grid grid = RandomGrid(random);
    grid.mixed = false;
    const TestScene scene = RandomScene(random, grid);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    SCOPED_TRACE(absl::StrCat("case ", i, scene.ToCode(), ToCode(c)));
    const Shape shape = CapsuleOf(c.mover);
    OracleCapsule less = c.mover;
    less.radius = std::nextafter(less.radius, 0);
    if (less.radius < 0x1p-130) continue;
    for (const OracleShape& fixed : scene.oracle.shapes()) {
      const auto spec = std::find_if(scene.specs.begin(), scene.specs.end(),
                                     [&](const PolygonSpec& s) { return s.id == fixed.id(); });
      const SweepAnswers answers = Blocked(*spec, shape, {0, 0}, {c.d.x, c.d.y},
                                           {CastMode::kClosest, InsidePolicy::kBlocking});
      const bool overlaps = IsInContact(fixed, less, c.d, 0);
      const auto reaches = [&](double from, double to) {
        return std::any_of(fixed.edges().begin(), fixed.edges().end(),
                           [&](const auto& edge) { return IsReached(edge, less, c.d, from, to); });
      };
      if (answers.counts[0] == 0) {
        EXPECT_FALSE(overlaps || reaches(0, 1)) << fixed.id();
        continue;
      }
      ++hits;
      const SweepHit& hit = answers.hits[0];
      if (overlaps) {
        EXPECT_TRUE(hit.starts_inside) << fixed.id();
      }
      if (hit.starts_inside) continue;
      const double t = hit.fraction;
      if (t > 0) {
        EXPECT_FALSE(reaches(0, std::nextafter(t, 0))) << fixed.id() << " t " << t;
      }
      EXPECT_TRUE(IsInContact(fixed, c.mover, c.d, Exact(t)));
      EXPECT_LE(hit.normal.x * c.d.x + hit.normal.y * c.d.y, 0);
      EXPECT_NEAR(std::hypot(hit.normal.x, hit.normal.y), 1, 1e-15);
      const Shape there = Placed(shape, {answers.safe[0]}).value();
      const Capsule& at = *there.capsule();
      const OracleCapsule placed{
          {at.axis.a.x, at.axis.a.y}, {at.axis.b.x, at.axis.b.y}, less.radius};
      EXPECT_FALSE(IsInContact(fixed, placed, {0, 0}, 0)) << fixed.id();
    }
  }
  EXPECT_GT(hits, cases / 4);
}

}  // namespace
}  // namespace carom::testing
