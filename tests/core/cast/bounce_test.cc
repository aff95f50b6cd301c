// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bounce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tests/core/random_scene.h"
#include "tests/support/exact.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

BounceAnswers Bounce(const Scene& scene, Vec2 a, Vec2 b, uint32_t max_bounces = 4) {
  BounceAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(BounceSegments(scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, {max_bounces},
                             answers, meter));
  return answers;
}

CastAnswers Cast(const Scene& scene, Vec2 a, Vec2 b, CastMode mode) {
  CastAnswers answers;
  WorkMeter meter;
  CastOptions options;
  options.mode = mode;
  options.detail = CastDetail::kEdge;
  EXPECT_TRUE(
      CastSegments(scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, options, answers, meter));
  return answers;
}

TestScene Square(Solidity solidity = Solidity::kSolid) {
  PolygonSpec spec;
  spec.id = 7;
  spec.solidity = solidity;
  spec.rings = {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, false}};
  return MakeScene({spec});
}

TEST(BounceTest, ABulletComesBack) {
  const TestScene scene = Square();
  const BounceAnswers answers = Bounce(*scene.scene, {-2, 1}, {6, 1});
  ASSERT_EQ(answers.legs.size(), 2u);
  EXPECT_EQ(answers.legs[0].hit.fraction, 0.25);
  EXPECT_EQ(answers.legs[0].hit.normal, (Vec2{-1, 0}));
  EXPECT_LE(std::abs(answers.legs[1].a.x), 4 * Ulp(6));
  EXPECT_LT(answers.legs[1].a.x, 0);
  EXPECT_EQ(answers.legs[1].b, (Vec2{-6, 1}));
  EXPECT_FALSE(answers.legs[1].has_hit);
}

TEST(BounceTest, InABoxItGoesOnUntilTheLast) {
  const TestScene scene = Square(Solidity::kBoundary);
  for (const uint32_t bounces : {1u, 2u, 16u}) {
    const BounceAnswers answers = Bounce(*scene.scene, {1, 1}, {301, 211}, bounces);
    EXPECT_EQ(answers.counts[0], bounces + 1);
    EXPECT_TRUE(answers.stuck.empty());
    for (const BounceLeg& leg : answers.legs) {
      EXPECT_TRUE(leg.has_hit);
      EXPECT_TRUE(leg.a.x > 0 && leg.a.x < 4 && leg.a.y > 0 && leg.a.y < 4);
    }
  }
}

TEST(BounceTest, AStartInsideEndsTheChain) {
  const TestScene scene = Square();
  const BounceAnswers answers = Bounce(*scene.scene, {1, 1}, {9, 1});
  ASSERT_EQ(answers.legs.size(), 1u);
  EXPECT_TRUE(answers.legs[0].hit.starts_inside);
  EXPECT_EQ(Bounce(*scene.scene, {1, NAN}, {9, 1}).errors[0].column, ItemColumn::kAy);
}

// A vertex reflects by the least edge that faces the start: the left side of the square, not the
// top, which is the least that the segment is not parallel to by the order of edges alone.
TEST(BounceTest, AVertexReflectsByTheEdgeThatFacesTheStart) {
  const TestScene scene = Square();
  const BounceAnswers from_left = Bounce(*scene.scene, {-3, 3.5}, {3, 4.5});
  ASSERT_EQ(from_left.legs.size(), 2u);
  EXPECT_EQ(from_left.legs[0].hit.point, (Vec2{0, 4}));
  EXPECT_LT(from_left.legs[1].b.x, -2);
  EXPECT_GT(from_left.legs[1].b.y, 4);
}

// Laws: each leg is the cast that it says; the way to the next start is free, and that is near.
TEST(BounceTest, ChainsReplay) {
  const int cases = Repeats(2000, 100000);
  int bounces = 0;
  int stuck = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xb0ce + static_cast<uint64_t>(i));
    Grid grid;
    grid.size = 8;
    grid.percent_off = i % 2 == 0 ? 0 : 20;
    const TestScene scene = RandomScene(random, grid);
    const Vec2 a{-8 + 24 * random.Unit(), -8 + 24 * random.Unit()};
    const Vec2 b = random.Below(3) == 0 ? grid.Point(random)
                                        : Vec2{-8 + 24 * random.Unit(), -8 + 24 * random.Unit()};
    SCOPED_TRACE(absl::StrCat("case ", i));
    const BounceAnswers answers = Bounce(*scene.scene, a, b, 8);
    stuck += static_cast<int>(answers.stuck.size());
    for (size_t k = 0; k < answers.legs.size(); ++k) {
      const BounceLeg& leg = answers.legs[k];
      const CastAnswers again = Cast(*scene.scene, leg.a, leg.b, CastMode::kClosest);
      ASSERT_EQ(again.counts[0], leg.has_hit ? 1u : 0u);
      if (leg.has_hit) {
        EXPECT_EQ(again.hits[0].fraction, leg.hit.fraction);
        EXPECT_EQ(again.hits[0].normal, leg.hit.normal);
        EXPECT_EQ(again.hits[0].polygon_id, leg.hit.polygon_id);
      }
      if (k + 1 == answers.legs.size()) break;
      ++bounces;
      const Vec2 next = answers.legs[k + 1].a;
      EXPECT_EQ(Cast(*scene.scene, leg.a, next, CastMode::kAny).counts[0], 0u);
      const double largest =
          std::max({std::abs(leg.a.x), std::abs(leg.a.y), std::abs(leg.b.x), std::abs(leg.b.y)});
      EXPECT_LE(std::abs(next.x - leg.hit.point.x), 2 * Ulp(largest));
      EXPECT_LE(std::abs(next.y - leg.hit.point.y), 2 * Ulp(largest));
    }
  }
  EXPECT_GT(bounces, cases / 10);
  EXPECT_LT(stuck, bounces / 10);
  std::cout << bounces << " bounces, " << stuck << " stuck\n";
}

}  // namespace
}  // namespace carom::testing
