// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bounce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tests/core/random_scene.h"
#include "tests/support/exact.h"
#include "tests/support/oracle.h"
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

// --- Rays

RayBounceAnswers BounceRay(const Scene& scene, const RayBounceLeg& ray, uint32_t max_bounces) {
  const auto& [origin, direction, t_max, has_hit, hit] = ray;
  const RayBounceColumns columns{{&origin.x, 1},    {&origin.y, 1}, {&direction.x, 1},
                                 {&direction.y, 1}, {&t_max, 1},    {&max_bounces, 1}};
  RayBounceAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(BounceRays(scene, columns, kEveryCategory, answers, meter));
  return answers;
}

RayBounceLeg RayOf(Vec2 origin, Vec2 direction, double t_max = kInf) {
  RayBounceLeg ray;
  ray.origin = origin;
  ray.direction = direction;
  ray.t_max = t_max;
  return ray;
}

CastAnswers CastRay(const Scene& scene, const RayBounceLeg& leg) {
  RayColumns ray{
      {&leg.origin.x, 1}, {&leg.origin.y, 1}, {&leg.direction.x, 1}, {&leg.direction.y, 1}};
  ray.t_max = {&leg.t_max, 1};
  CastAnswers answers;
  WorkMeter meter;
  CastOptions options;
  options.detail = CastDetail::kEdge;
  EXPECT_TRUE(CastRays(scene, ray, options, answers, meter));
  return answers;
}

TEST(RayBounceTest, ALaserComesBackAndHasNoEnd) {
  const TestScene scene = Square();
  const RayBounceAnswers answers = BounceRay(*scene.scene, RayOf({-2, 1}, {8, 0}), 4);
  ASSERT_EQ(answers.legs.size(), 2u);
  EXPECT_EQ(answers.legs[0].hit.fraction, 0.25);
  EXPECT_EQ(answers.legs[0].hit.normal, (Vec2{-1, 0}));
  EXPECT_LT(answers.legs[1].origin.x, 0);
  EXPECT_GE(answers.legs[1].origin.x, -4 * Ulp(2));
  EXPECT_EQ(answers.legs[1].direction, (Vec2{-8, 0}));
  EXPECT_EQ(answers.legs[1].t_max, kInf);
  EXPECT_FALSE(answers.legs[1].has_hit);
}

TEST(RayBounceTest, TheRangeIsUsedUp) {
  const TestScene scene = Square();
  const RayBounceAnswers answers = BounceRay(*scene.scene, RayOf({-2, 1}, {8, 0}, 1.5), 4);
  ASSERT_EQ(answers.legs.size(), 2u);
  EXPECT_EQ(answers.legs[1].t_max, 1.25);
  // The end touches the square: nothing is left.
  EXPECT_EQ(BounceRay(*scene.scene, RayOf({-2, 1}, {8, 0}, 0.25), 4).legs.size(), 1u);
}

TEST(RayBounceTest, EachRayHasItsOwnNumberOfBounces) {
  const TestScene scene = Square(Solidity::kBoundary);
  const std::vector<double> x(6, 1), dx(6, 300), dy(6, 210);
  const std::vector<uint32_t> bounces{1, 16, 0, 4, 17, 2};
  RayBounceAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(
      BounceRays(*scene.scene, {x, x, dx, dy, {}, bounces}, kEveryCategory, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{2, 17, 0, 5, 0, 3}));
  const ItemError few{2, ItemColumn::kMaxBounces, ItemFault::kTooManyBounces};
  const ItemError many{4, ItemColumn::kMaxBounces, ItemFault::kTooManyBounces};
  EXPECT_EQ(answers.errors, (std::vector<ItemError>{few, many}));
  ASSERT_TRUE(BounceRays(*scene.scene, {x, x, dx, dy}, kEveryCategory, answers, meter));
  EXPECT_EQ(answers.counts, std::vector<uint32_t>(6, kDefaultBounces + 1));
}

TEST(RayBounceTest, WhatIsWrongWithARayIsSaidOfItsItem) {
  const TestScene scene = Square();
  const auto error = [&](const RayBounceLeg& ray) {
    const RayBounceAnswers answers = BounceRay(*scene.scene, ray, 1);
    EXPECT_EQ(answers.counts[0], 0u);
    EXPECT_TRUE(answers.legs.empty());
    return answers.errors.empty() ? ItemError{} : answers.errors[0];
  };
  EXPECT_EQ(error(RayOf({0, NAN}, {1, 0})).column, ItemColumn::kY);
  EXPECT_EQ(error(RayOf({0, 0}, {1, 0x1p54})).column, ItemColumn::kDy);
  EXPECT_EQ(error(RayOf({0, 0}, {0, 0x1p-200})).fault, ItemFault::kZeroDirection);
  EXPECT_EQ(error(RayOf({0, 0}, {1, 0}, 0)).column, ItemColumn::kTMax);
  EXPECT_EQ(error(RayOf({0, 0}, {1, 0}, NAN)).fault, ItemFault::kNotARange);
}

// The exact reflection of the direction about an edge: d - 2 (d . n) n / (n . n).
RationalXy ExactReflection(Vec2 direction, const RationalXy& along) {
  const RationalXy d = Exact(Xy{direction.x, direction.y});
  const RationalXy n{-along.y, along.x};
  return d - (2 * Dot(d, n) / Dot(n, n)) * n;
}

// Whether `got` is a reflection of `direction` about one of the edges through the hit: about the
// reported one, unless that is a vertex.
bool IsReflectionOf(const Oracle& oracle, const RayBounceLeg& leg, const RationalXy& point,
                    Vec2 got) {
  const double length = std::hypot(leg.direction.x, leg.direction.y);
  for (const OracleShape& shape : oracle.shapes()) {
    if (shape.id() != leg.hit.polygon_id) continue;
    const std::vector<OracleEdge> through = shape.EdgesThrough(point);
    for (const OracleShape::Edge& edge : shape.edges()) {
      const bool meets = std::find(through.begin(), through.end(), edge.name) != through.end();
      const EdgeRef name{edge.name.ring, edge.name.edge};
      if (!meets || edge.from == edge.to) continue;
      if (leg.hit.feature == Feature::kEdge && !(name == leg.hit.edge)) continue;
      const RationalXy exact = ExactReflection(leg.direction, Exact(edge.to) - Exact(edge.from));
      if (abs(Exact(got.x) - exact.x) <= Exact(Ulp(length)) &&
          abs(Exact(got.y) - exact.y) <= Exact(Ulp(length))) {
        return true;
      }
    }
  }
  return false;
}

// One step of a chain, against the rational oracle.
void ExpectNext(const TestScene& scene, const RayBounceLeg& leg, const RayBounceLeg& next) {
  const OracleLine line = carom::testing::Ray({leg.origin.x, leg.origin.y},
                                              {leg.direction.x, leg.direction.y}, 0, leg.t_max);
  const OracleCastAnswer want = scene.oracle.Cast(line, {});
  ASSERT_EQ(want.hits.size(), 1u);
  const Rational& t = want.hits[0].at.fraction;
  EXPECT_EQ(leg.hit.fraction, NearestDouble(t));
  EXPECT_EQ(next.t_max, leg.t_max - leg.hit.fraction);
  const RationalXy point = line.origin + t * line.direction;
  const double largest = std::max({std::abs(leg.origin.x), std::abs(leg.origin.y),
                                   std::abs(leg.hit.point.x), std::abs(leg.hit.point.y)});
  const Rational bound = 4 * Exact(Ulp(largest));
  EXPECT_LE(abs(Exact(next.origin.x) - point.x), bound);
  EXPECT_LE(abs(Exact(next.origin.y) - point.y), bound);
  EXPECT_EQ(Cast(*scene.scene, leg.origin, next.origin, CastMode::kAny).counts[0], 0u);
  EXPECT_FALSE(scene.oracle.Hits(
      carom::testing::Segment({leg.origin.x, leg.origin.y}, {next.origin.x, next.origin.y})));
  EXPECT_TRUE(IsReflectionOf(scene.oracle, leg, point, next.direction));
}

// Laws: each leg is the cast that it says; the way to the next start is free, and that is near; the
// direction is reflected, and the range goes on.
TEST(RayBounceTest, ChainsReplayAndAgreeWithRationals) {
  const int cases = Repeats(1500, 60000);
  int bounces = 0;
  int stuck = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x1a5e + static_cast<uint64_t>(i));
    Grid grid;
    grid.size = 8;
    grid.scale = std::ldexp(1, random.Below(41) - 20);
    grid.percent_off = i % 2 == 0 ? 0 : 20;
    const TestScene scene = RandomScene(random, grid);
    const auto anywhere = [&] { return grid.scale * (-8 + 24 * random.Unit()); };
    const Vec2 origin{anywhere(), anywhere()};
    const Vec2 direction =
        random.Below(3) == 0 ? grid.Point(random) : Vec2{random.Unit() - 0.5, random.Unit() - 0.5};
    if (Normalized(direction) == Vec2{}) continue;
    const double t_max = random.Below(2) == 0 ? kInf : 0.1 + 40 * grid.scale * random.Unit();
    SCOPED_TRACE(absl::StrCat("case ", i, scene.ToCode()));
    const RayBounceAnswers answers = BounceRay(*scene.scene, RayOf(origin, direction, t_max), 8);
    stuck += static_cast<int>(answers.stuck.size());
    for (size_t k = 0; k < answers.legs.size(); ++k) {
      const RayBounceLeg& leg = answers.legs[k];
      const CastAnswers again = CastRay(*scene.scene, leg);
      ASSERT_EQ(again.counts[0], leg.has_hit ? 1u : 0u);
      if (leg.has_hit) {
        EXPECT_EQ(again.hits[0].fraction, leg.hit.fraction);
        EXPECT_EQ(again.hits[0].normal, leg.hit.normal);
        EXPECT_EQ(again.hits[0].polygon_id, leg.hit.polygon_id);
      }
      if (k + 1 == answers.legs.size()) break;
      ++bounces;
      ExpectNext(scene, leg, answers.legs[k + 1]);
    }
  }
  EXPECT_GT(bounces, cases / 10);
  EXPECT_LT(stuck, bounces / 10);
  std::cout << bounces << " bounces of rays, " << stuck << " stuck\n";
}

}  // namespace
}  // namespace carom::testing
