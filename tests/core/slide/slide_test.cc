// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/slide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "tests/core/slide/slide_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

PolygonSpec BoxAt(uint64_t id, Vec2 min, Vec2 max) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings = {{{min, {max.x, min.y}, max, {min.x, max.y}}, false}};
  return spec;
}

PolygonSpec RingOf(std::vector<Vec2> vertices, uint64_t id = 0) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings = {{std::move(vertices), false}};
  return spec;
}

// Tiles of 1 x 1, as a map of rows from the top has them.
TestScene Tiles(const std::vector<std::string>& rows) {
  std::vector<PolygonSpec> specs;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (rows[r][c] != '#') continue;
      const double x = static_cast<double>(c);
      const double y = static_cast<double>(rows.size() - 1 - r);
      specs.push_back(BoxAt(specs.size(), {x, y}, {x + 1, y + 1}));
    }
  }
  return MakeScene(std::move(specs));
}

TEST(SlideTest, AlongAWallTheTangentialPartIsKept) {
  const TestScene scene = MakeScene({BoxAt(7, {0, 0}, {4, 4})});
  for (const Shape& shape : PlayerShapes(0.75)) {
    const SlideAnswers slide = Slide({*scene.scene, shape}, {{-4, 2}}, {{5, 1}});
    ASSERT_EQ(slide.legs.size(), 2u);
    EXPECT_EQ(slide.legs[0].hit.normal, (Vec2{-1, 0}));
    EXPECT_NEAR(slide.rows[0].position.y, 3, 8 * Ulp(4));
    EXPECT_FALSE(Overlaps({*scene.scene, shape}, {slide.rows[0].position}));
  }
}

TEST(SlideTest, ASeamOfTilesIsNoCorner) {
  const TestScene scene = Tiles({"........", "........", "########"});
  for (const Shape& shape : PlayerShapes(0.5)) {
    Pose pose{{0.5, 2}};
    pose.position = Slide({*scene.scene, shape}, pose, {{0, -3}}).rows[0].position;
    const double floor = pose.position.y;
    const SlideAnswers slide = Slide({*scene.scene, shape}, pose, {{6.7, -0.3}});
    EXPECT_NEAR(slide.rows[0].position.x, 7.2, 8 * Ulp(8));
    EXPECT_NEAR(slide.rows[0].position.y, floor, 8 * Ulp(8));
    EXPECT_LE(slide.legs.size(), 3u);
    EXPECT_EQ(slide.rows[0].left, Vec2{});
  }
}

TEST(SlideTest, InACornerTheSamePushGivesTheSamePose) {
  for (int i = 0; i < 200; ++i) {
    Random random(0xc0c0 + static_cast<uint64_t>(i));
    // A corner of two walls, turned.
    const CosSin turn = SinCos(6.28 * random.Unit());
    const auto at = [&](double x, double y) {
      return Vec2{turn.c * x - turn.s * y + 3, turn.s * x + turn.c * y - 5};
    };
    const double lean = i % 2 == 0 ? 0 : 4 * random.Unit() - 2;
    PolygonSpec floor;
    floor.id = 1;
    floor.rings = {{{at(-20, -1), at(20, -1), at(20, 0), at(-20, 0)}, false}};
    PolygonSpec wall;
    wall.id = 2;
    wall.rings = {{{at(0, -1), at(5, -1), at(5 + lean, 9), at(lean, 9)}, false}};
    const TestScene scene = MakeScene({floor, wall});
    for (const Shape& shape : PlayerShapes(0.9)) {
      const Pose start{at(-4, 3), i % 3 == 0 ? turn.c : 1, i % 3 == 0 ? turn.s : 0};
      const Vec2 d = at(9, -6);
      const Vec2 push{d.x - at(0, 0).x, d.y - at(0, 0).y};
      Pose pose = start;
      for (int k = 0; k < 6; ++k) {
        pose.position = Slide({*scene.scene, shape}, pose, {push}).rows[0].position;
      }
      EXPECT_FALSE(Overlaps({*scene.scene, shape}, pose));
      const SlideAnswers again = Slide({*scene.scene, shape}, pose, {push});
      EXPECT_EQ(again.rows[0].position, pose.position) << "case " << i << " lean " << lean;
    }
  }
}

TEST(SlideTest, AStepTakesThreePushes) {
  const TestScene scene = MakeScene({BoxAt(1, {-10, -1}, {20, 0}), BoxAt(2, {2, 0}, {9, 0.25})});
  const Shape shape = BoxShape(1, 1);
  const SlideAnswers slide = Slide({*scene.scene, shape}, {{0, 0.5}}, {{0, 0.5}, {4, 0}, {0, -1}});
  EXPECT_EQ(slide.rows[0].position, (Vec2{4, 0.75}));
  EXPECT_EQ(slide.rows[0].left, (Vec2{0, -0.75}));
}

TEST(SlideTest, SkinKeepsAGap) {
  const TestScene scene = MakeScene({BoxAt(1, {-10, -1}, {20, 0}), BoxAt(2, {2, 0}, {9, 4})});
  for (const Shape& shape : PlayerShapes(1)) {
    Vec2 at = Slide({*scene.scene, shape, 0.125}, {{0, 2}}, {{8, -8}}).rows[0].position;
    const Vec2 without = Slide({*scene.scene, shape}, {{0, 2}}, {{8, -8}}).rows[0].position;
    EXPECT_NEAR(at.x, without.x - 0.125, 1e-14);
    EXPECT_NEAR(at.y, without.y + 0.125, 1e-14);
    const Vec2 again = Slide({*scene.scene, shape, 0.125}, {at}, {{8, -8}}).rows[0].position;
    EXPECT_EQ(again, at);
  }
}

// What the path of a leg is clear of by some ulps may be nearer to its end, where coordinates are
// so small that their differences are read as 0.
TEST(SlideTest, EndsAreFreeWhereLittleIsReadAsZero) {
  int moved = 0;
  int blocked = 0;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Repeats(1000, 50000)); ++seed) {
    Random random(4100 + seed);
    Grid grid;
    grid.scale = kSmallestMagnitude * std::ldexp(1.0, random.Below(5));
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < 4; ++id) {
      polygons.push_back(Polygon::Create(RandomPolygon(random, grid, id)).value());
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    const double radius = std::max(grid.scale * (0.3 + random.Unit()), kSmallestMagnitude);
    const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, radius}).value();
    const Player player{*scene, disc};
    Pose pose;
    pose.position = grid.Point(random);
    if (Overlaps(player, pose)) continue;
    const auto push = [&] { return grid.scale * (8 * random.Unit() - 4); };
    const SlideAnswers slide = Slide(player, pose, {{push(), push()}, {push(), push()}});
    ASSERT_TRUE(slide.errors.empty());
    ASSERT_NO_FATAL_FAILURE(ExpectLegsReplay(player, pose, slide)) << "seed " << seed;
    for (const SlideLeg& leg : slide.legs) blocked += leg.has_hit ? 1 : 0;
    ++moved;
    pose.position = slide.rows[0].position;
    ASSERT_FALSE(Overlaps(player, pose)) << "seed " << seed;
  }
  EXPECT_GT(moved, 50);
  EXPECT_GT(blocked, 20);
}

// A leg along a slope had 1.2 times the greatest coordinate that is accepted: asked again as a
// sweep it was an error.
TEST(SlideTest, LegsAreSweepsThatAreAccepted) {
  PolygonSpec slope;
  slope.id = 1;
  slope.rings = {{{{-8, -2}, {8, 6}, {-8, 6}}, false}};
  const TestScene scene = MakeScene({slope});
  const Shape disc = CircleOf({0, 0}, 0.5);
  const Player player{*scene.scene, disc};
  const SlideAnswers slide = Slide(player, {{0, -1}}, {{0x1p53, 0x1p53}});
  ASSERT_EQ(slide.legs.size(), 1u);
  EXPECT_TRUE(slide.legs[0].has_hit);
  ExpectLegsReplay(player, {{0, -1}}, slide);
}

TEST(SlideTest, WhatOverlapsMayLeave) {
  const TestScene scene = MakeScene({BoxAt(1, {0, 0}, {4, 4}), BoxAt(2, {8, 0}, {9, 4})});
  const SlideAnswers leaves = Slide({*scene.scene, CircleOf({0, 0}, 1)}, {{3.5, 2}}, {{9, 0}});
  EXPECT_EQ(leaves.rows[0].position, (Vec2{7, 2}));
  SlideOptions options;
  options.inside_policy = InsidePolicy::kBlocking;
  const SlideAnswers stays =
      Slide({*scene.scene, CircleOf({0, 0}, 1)}, {{3.5, 2}}, {{9, 0}}, options);
  EXPECT_EQ(stays.rows[0].position, (Vec2{3.5, 2}));
  EXPECT_TRUE(stays.legs[0].hit.starts_inside);
}

// Walls of many kinds: tiles, turned boxes, open chains, concave rings and needles.
TestScene Arena(Random& random) {
  std::vector<PolygonSpec> specs;
  specs.push_back(BoxAt(0, {-1, -1}, {21, 0}));
  specs.push_back(BoxAt(1, {-1, 20}, {21, 21}));
  specs.push_back(BoxAt(2, {-1, 0}, {0, 20}));
  specs.push_back(BoxAt(3, {20, 0}, {21, 20}));
  const int count = 20 + random.Below(20);
  for (int i = 0; i < count; ++i) {
    PolygonSpec spec;
    spec.id = specs.size();
    const double x = 1 + 18 * random.Unit();
    const double y = 1 + 18 * random.Unit();
    RingSpec ring;
    const int kind = random.Below(5);
    if (kind == 0) {
      spec = BoxAt(spec.id, {std::floor(x), std::floor(y)}, {std::floor(x) + 1, std::floor(y) + 1});
      specs.push_back(spec);
      continue;
    }
    const int vertices = kind == 1 ? 2 : 3 + random.Below(5);
    const double turn = 6.28 * random.Unit();
    for (int k = 0; k < vertices; ++k) {
      const CosSin at = SinCos(turn + 6.283185307179586 * k / vertices);
      const double far = kind == 2 ? 0.3 + 1.5 * random.Unit() : 1;
      ring.vertices.push_back({x + far * at.c, y + far * at.s});
    }
    if (kind == 3) {
      spec.solidity = Solidity::kBoundary;
      ring.open = true;
    }
    spec.rings = {ring};
    specs.push_back(spec);
  }
  return MakeScene(std::move(specs));
}

// Story: a shape that touched a slanted wall slid past its end, and met another one that overhangs.
// The places that are free of that one led into the first wall, at the start: it stayed, stuck.
TEST(SlideTest, PastTheEndOfAWallUnderAnOverhang) {
  Random random(77);
  const Vec2 along{0.8, 0.6};
  const Vec2 up{-0.6, 0.8};
  const auto sum = [&](double a, double b, Vec2 at = {}) {
    return Vec2{at.x + a * along.x + b * up.x, at.y + a * along.y + b * up.y};
  };
  const Shape shape = ShapeOf(RingOf({{0, 0}, sum(0.8, 1), sum(0, 2), sum(-0.8, 1)}));
  for (int i = 0; i < Repeats(2000, 200000); ++i) {
    const Pose start{{100.0 + random.Below(400) / 8.0, random.Below(32) / 8.0}};
    const CosSin m = SinCos(0.4 + random.Unit());
    const auto overhang = [&](double a, double b) {
      return sum(1.6 + a * m.c - b * m.s, 1.2 + a * m.s + b * m.c, start.position);
    };
    const auto [x, y] = start.position;
    const TestScene scene =
        MakeScene({RingOf({{x - 4, y - 3}, {x, y - 4}, {x + 1, y + 0.75}}, 0),
                   RingOf({overhang(0.9, -3), overhang(3, 0), overhang(0.9, 3)}, 1)});
    const Player player{*scene.scene, shape};
    const SlideAnswers slide = Slide(player, start, {sum(3, -1)});
    EXPECT_GT(Distance(slide.rows[0].position, start.position), 1) << i;
    ExpectLegsReplay(player, start, slide);
  }
}

TEST(SlideTest, PlayersNeverOverlapCrossOrGetStuck) {
  const int arenas = Repeats(8, 400);
  const int ticks = Repeats(150, 600);
  WalkCounts counts;
  for (int i = 0; i < arenas && !::testing::Test::HasFailure(); ++i) {
    Random random(0xa7e7a + static_cast<uint64_t>(i));
    const TestScene scene = Arena(random);
    for (const Shape& shape : PlayerShapes(0.8)) {
      const CosSin turn = random.Below(2) == 0 ? CosSin{1, 0} : SinCos(6.28 * random.Unit());
      Pose pose{{0, 0}, turn.c, turn.s};
      do {
        pose.position = {1 + 18 * random.Unit(), 1 + 18 * random.Unit()};
      } while (Overlaps({*scene.scene, shape}, pose));
      SCOPED_TRACE(absl::StrCat("arena ", i));
      Walk({*scene.scene, shape}, pose, ticks, random, counts);
    }
  }
  std::cout << counts.ticks << " ticks, " << counts.blocked << " blocked, " << counts.overlapping
            << " overlapping, " << counts.crossing << " crossing, " << counts.stuck << " stuck\n";
  EXPECT_GT(counts.blocked, counts.ticks / 10);
  EXPECT_EQ(counts.overlapping, 0);
  EXPECT_EQ(counts.crossing, 0);
  EXPECT_EQ(counts.stuck, 0);
}

}  // namespace
}  // namespace carom::testing
