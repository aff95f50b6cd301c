// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Blocking sweeps and slides that meet bodies. Laws:
//   1. a round body blocks a round mover as its axis blocks one that is grown by its radius;
//   2. a round body and a ring block each other, whichever of the two moves;
//   3. many bodies block as each does alone, in the total order;
//   4. where they come to, slides overlap no body, and each leg is the sweep that it says.
// Bodies without a radius are answered as polygons of the scene are (group/bodies_test.cc, law 1).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/bodies.h"
#include "carom/distance.h"
#include "numeric/expansion.h"
#include "tests/core/slide/slide_cases.h"
#include "tests/support/body_case.h"
#include "tests/support/repeats.h"

namespace carom::testing::blocking_bodies_test {
namespace {

constexpr InsidePolicy kBlockingPolicies[] = {InsidePolicy::kBlocking,
                                              InsidePolicy::kBlockingLeave};

// Bodies where their shapes are.
struct Crowd {
  explicit Crowd(std::vector<Shape> its_shapes) : shapes(std::move(its_shapes)) {
    const std::vector<double> zeros(shapes.size(), 0);
    bodies = Bodies::Create({{shapes, {}, zeros, zeros}}).value();
  }

  std::vector<Shape> shapes;
  Bodies bodies;
};

const Scene& EmptyScene() {
  static const Scene::Ptr scene = Scene::Create({}).value();
  return *scene;
}

std::string CodeOf(const Capsule& capsule) {
  const auto& [a, b] = capsule.axis;
  return absl::StrFormat("Capsule{{{%a, %a}, {%a, %a}}, %a}", a.x, a.y, b.x, b.y, capsule.radius);
}

Capsule RandomRound(Random& random, const Grid& grid) {
  const Vec2 a = Normalized(grid.Point(random));
  const Vec2 b = random.Below(3) == 0 ? a : Normalized(grid.Point(random));
  double radius = 0;
  while (radius < 0x1p-100) radius = std::abs(grid.Coordinate(random)) / (1 + random.Below(3));
  return {{a, b}, radius};
}

// A ring that may be one of a mover.
PolygonSpec RandomRing(Random& random, const Grid& grid) {
  PolygonSpec spec;
  spec.rings.resize(1);
  const int vertices = 3 + random.Below(4);
  for (int i = 0; i < vertices; ++i) {
    spec.rings[0].vertices.push_back(Normalized(grid.Point(random)));
  }
  return spec;
}

// What is known of one obstacle, met by something else in its stead. `sign` is that of the normal.
void ExpectSame(const SweepAnswers& out, const SweepAnswers& expected, double sign,
                const std::string& code) {
  ASSERT_EQ(out.counts[0], expected.counts[0]) << code;
  if (out.counts[0] == 0) return;
  const SweepHit& hit = out.hits[0];
  ASSERT_EQ(hit.fraction, expected.hits[0].fraction) << code;
  ASSERT_EQ(hit.starts_inside, expected.hits[0].starts_inside) << code;
  ASSERT_TRUE(hit.is_body && !hit.has_edge) << code;
  ASSERT_NEAR(hit.normal.x, sign * expected.hits[0].normal.x, 1e-13) << code;
  ASSERT_NEAR(hit.normal.y, sign * expected.hits[0].normal.y, 1e-13) << code;
}

// The point of a hit is of both, but for roundings; and the safe pose is one.
void ExpectPointAndSafePose(const Player& player, Vec2 d, const SweepAnswers& out, double scale,
                            const std::string& code) {
  const double near = 1e-12 * (1 + scale);
  if (out.counts[0] != 0) {
    const SweepHit& hit = out.hits[0];
    const Pose at{{hit.fraction * d.x, hit.fraction * d.y}};
    const Shape point = CircleOf(hit.point, 0);
    ASSERT_LE(Distance(point, Placed(player.shape, at).value()).distance, near) << code;
  }
  const bool starts_free = !Overlaps(player, {});
  if (starts_free) {
    ASSERT_FALSE(Overlaps(player, {out.safe[0]})) << code;
  }
}

TEST(BlockingBodiesTest, Law1RoundBodiesGrowRoundMovers) {
  size_t hits = 0;
  for (int seed = 1; seed <= Repeats(12000, 600000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), seed % 3 == 0 ? 20 : 0};
    const Capsule body = RandomRound(random, grid);
    const Capsule mover = RandomRound(random, grid);
    const internal::TwoDoubles sum = internal::TwoSum(mover.radius, body.radius);
    if (sum.low != 0) continue;
    const Vec2 d = Normalized(grid.Point(random));
    const Crowd crowd({Shape::Create(body).value()});
    const Shape shape = Shape::Create(mover).value();
    const Shape grown = Shape::Create(Capsule{mover.axis, sum.high}).value();
    const Scene::Ptr axis = SceneOf(
        {{0, {{{body.axis.a, body.axis.b}, true}}, FillRule::kEvenOdd, Solidity::kBoundary}});
    const std::string code = absl::StrCat("seed ", seed, " ", CodeOf(body), " ", CodeOf(mover),
                                          absl::StrFormat(" {%a, %a}", d.x, d.y));
    for (const InsidePolicy policy : kBlockingPolicies) {
      const SweepOptions options{CastMode::kClosest, policy};
      const Player player{EmptyScene(), shape, 0, 0, &crowd.bodies};
      const SweepAnswers out = SweepBy(player, {}, d, options);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(out, SweepBy({*axis, grown}, {}, d, options), 1, code));
      ASSERT_NO_FATAL_FAILURE(ExpectPointAndSafePose(player, d, out, grid.scale, code));
      hits += out.counts[0];
    }
  }
  EXPECT_GT(hits, 1000u);
}

TEST(BlockingBodiesTest, Law2RingsAndRoundBodiesBlockEachOther) {
  size_t hits = 0;
  for (int seed = 1; seed <= Repeats(16000, 600000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), seed % 3 == 0 ? 20 : 0};
    const Capsule body = RandomRound(random, grid);
    const PolygonSpec ring = RandomRing(random, grid);
    const Vec2 d = Normalized(grid.Point(random));
    const Crowd crowd({Shape::Create(body).value()});
    const Shape shape = ShapeOf(ring);
    const Scene::Ptr fixed = SceneOf({ring});
    const std::string code = absl::StrCat("seed ", seed, " ", CodeOf(body), " ", ToCode(ring),
                                          absl::StrFormat(" {%a, %a}", d.x, d.y));
    for (const InsidePolicy policy : kBlockingPolicies) {
      const SweepOptions options{CastMode::kClosest, policy};
      const Player player{EmptyScene(), shape, 0, 0, &crowd.bodies};
      const SweepAnswers out = SweepBy(player, {}, d, options);
      if (!out.errors.empty()) break;
      const Vec2 back{0 - d.x, 0 - d.y};
      ASSERT_NO_FATAL_FAILURE(
          ExpectSame(out, SweepBy({*fixed, crowd.shapes[0]}, {}, back, options), -1, code));
      ASSERT_NO_FATAL_FAILURE(ExpectPointAndSafePose(player, d, out, grid.scale, code));
      hits += out.counts[0];
    }
  }
  EXPECT_GT(hits, 1000u);
}

// Where nothing touches at the start, the first overlap in more than touch is the first touch of an
// ordinary sweep, but for what is grazed.
TEST(BlockingBodiesTest, FractionsAreThoseOfOrdinarySweeps) {
  size_t hits = 0;
  size_t grazes = 0;
  for (int seed = 1; seed <= Repeats(20000, 600000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), 30};
    const Crowd crowd({Shape::Create(RandomRound(random, grid)).value()});
    const Shape shape = random.Below(2) == 0 ? Shape::Create(RandomRound(random, grid)).value()
                                             : ShapeOf(RandomRing(random, grid));
    const Player player{EmptyScene(), shape, 0, 0, &crowd.bodies};
    const Vec2 d = Normalized(grid.Point(random));
    const SweepAnswers blocked =
        SweepBy(player, {}, d, {CastMode::kClosest, InsidePolicy::kBlocking});
    if (!blocked.errors.empty()) continue;
    SweepColumns columns;
    const double zero = 0;
    columns.movers = {{&shape, 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}, player.scope()};
    columns.dx = {&d.x, 1};
    columns.dy = {&d.y, 1};
    SweepAnswers touched;
    WorkMeter meter;
    ASSERT_TRUE(SweepShapes(player.world(), columns, {}, touched, meter));
    if (touched.counts[0] == 0 || touched.hits[0].starts_inside || blocked.counts[0] == 0) {
      if (touched.counts[0] == 0) {
        ASSERT_EQ(blocked.counts[0], 0u) << seed;
      }
      continue;
    }
    ++hits;
    ASSERT_GE(blocked.hits[0].fraction, touched.hits[0].fraction) << "seed " << seed;
    grazes += blocked.hits[0].fraction > touched.hits[0].fraction ? 1 : 0;
    // Sides that are parallel share more than a point.
    const Shape point = CircleOf(blocked.hits[0].point, 0);
    const double t = blocked.hits[0].fraction;
    const Shape there = Placed(shape, {{t * d.x, t * d.y}}).value();
    ASSERT_LE(Distance(point, there).distance, 1e-12 * (1 + grid.scale)) << "seed " << seed;
    ASSERT_LE(Distance(point, crowd.shapes[0]).distance, 1e-12 * (1 + grid.scale)) << seed;
  }
  EXPECT_GT(hits, 500u);
  EXPECT_LT(grazes, 1 + hits / 1000);
}

// A scene, and bodies of all kinds, some twice with another radius.
TEST(BlockingBodiesTest, Law3ManyBlockAsEachDoesAlone) {
  size_t hits = 0;
  for (int seed = 1; seed <= Repeats(1500, 60000) && !HasFailure(); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{8, std::ldexp(1, random.Below(5) - 2), seed % 2 == 0 ? 20 : 0};
    const TestScene scene = RandomScene(random, grid);
    std::vector<Shape> shapes;
    for (int i = 0; i < 4; ++i) {
      const Capsule round = RandomRound(random, grid);
      shapes.push_back(Shape::Create(round).value());
      if (i == 0) shapes.push_back(CapsuleOf(round.axis.a, round.axis.b, round.radius / 2));
      if (i == 1) shapes.push_back(ShapeOf(RandomRing(random, grid)));
    }
    const Crowd crowd(shapes);
    const Shape mover = random.Below(2) == 0 ? Shape::Create(RandomRound(random, grid)).value()
                                             : ShapeOf(RandomRing(random, grid));
    const Vec2 d = Normalized(grid.Point(random));
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    for (const InsidePolicy policy : kBlockingPolicies) {
      const SweepOptions all{CastMode::kAll, policy};
      const Player player{*scene.scene, mover, 0, 0, &crowd.bodies};
      const SweepAnswers out = SweepBy(player, {}, d, all);
      if (!out.errors.empty()) break;
      std::vector<SweepHit> expected = SweepBy({*scene.scene, mover}, {}, d, all).hits;
      for (size_t i = 0; i < shapes.size(); ++i) {
        const Crowd one({shapes[i]});
        for (SweepHit hit : SweepBy({EmptyScene(), mover, 0, 0, &one.bodies}, {}, d, all).hits) {
          hit.polygon_id = i;
          expected.push_back(hit);
        }
      }
      ASSERT_EQ(out.hits.size(), expected.size());
      std::stable_sort(expected.begin(), expected.end(), [](const SweepHit& a, const SweepHit& b) {
        return std::tie(a.fraction, a.is_body) < std::tie(b.fraction, b.is_body);
      });
      for (size_t i = 0; i < expected.size(); ++i) {
        // Fractions that are not exact doubles may tie when they are rounded.
        ASSERT_EQ(out.hits[i].fraction, expected[i].fraction);
        if (i > 0 && out.hits[i].fraction == out.hits[i - 1].fraction) continue;
        if (i + 1 < expected.size() && out.hits[i].fraction == out.hits[i + 1].fraction) continue;
        ASSERT_EQ(out.hits[i].polygon_id, expected[i].polygon_id);
        ASSERT_EQ(out.hits[i].is_body, expected[i].is_body);
        ASSERT_EQ(out.hits[i].starts_inside, expected[i].starts_inside);
      }
      hits += out.hits.size();
      const SweepAnswers closest = SweepBy(player, {}, d, {CastMode::kClosest, policy});
      ASSERT_EQ(closest.hits.size(), std::min<size_t>(1, out.hits.size()));
      if (!closest.hits.empty()) ExpectSameHit(closest.hits[0], out.hits[0]);
      ASSERT_EQ(closest.safe, out.safe);
      if (!Overlaps(player, {})) {
        ASSERT_FALSE(Overlaps(player, {out.safe[0]}));
      }
      ExpectLegsReplay(player, {}, Slide(player, {}, {d, {d.y, -d.x}}, {policy}), {policy});
    }
  }
  EXPECT_GT(hits, 500u);
}

// A polygon and a round body at once, at a time that is no double: both are contacts, whichever of
// them is the hit.
TEST(BlockingBodiesTest, AFloorAndABodyAtOnceAreACorner) {
  const Scene::Ptr floor = SceneOf({{3, {{{{-20, -1}, {20, -1}, {20, 0}, {-20, 0}}}}}});
  const Shape box = BoxShape(2, 2);
  // The box comes to (3, 1), its right side to (4, 1), the least point of the disc.
  const Crowd disc({CircleOf({5, 1}, 1)});
  const Player player{*floor, box, 0, 0, &disc.bodies};
  for (const Vec2 d : {Vec2{8, -8}, Vec2{7, -7}, Vec2{11, -11}}) {
    const SweepAnswers out =
        SweepBy(player, {{0, 4}}, d, {CastMode::kAll, InsidePolicy::kBlocking});
    ASSERT_EQ(out.counts[0], 2u);
    EXPECT_EQ(out.hits[0].polygon_id, 3u);
    EXPECT_FALSE(out.hits[0].is_body);
    EXPECT_TRUE(out.hits[1].is_body);
    EXPECT_GE(out.hits[1].fraction, out.hits[0].fraction);
    const SlideAnswers slide = Slide(player, {{0, 4}}, {d});
    ASSERT_EQ(slide.legs.size(), 1u);
    EXPECT_NEAR(slide.rows[0].position.x, 3, 8 * Ulp(8));
    EXPECT_NEAR(slide.rows[0].position.y, 1, 8 * Ulp(8));
    EXPECT_FALSE(Overlaps(player, {slide.rows[0].position}));
  }
  // The disc alone lets it go on down.
  const Player alone{EmptyScene(), box, 0, 0, &disc.bodies};
  const SlideAnswers down = Slide(alone, {{0, 4}}, {{8, -8}});
  EXPECT_NEAR(down.rows[0].position.x, 3, 8 * Ulp(8));
  EXPECT_NEAR(down.rows[0].position.y, -4, 8 * Ulp(8));
}

// Two discs of 0.1 and 0.2, whose sum is no double, that touch: sliding past is free, coming closer
// is not.
TEST(BlockingBodiesTest, TouchingIsFreeAndExact) {
  const Crowd disc({CircleOf({0, 0}, 1)});
  for (const Shape& shape : {CircleOf({0, 0}, 2), BoxShape(4, 4)}) {
    const double far = shape.capsule() != nullptr ? 3 : 3;
    const Player player{EmptyScene(), shape, 0, 0, &disc.bodies};
    for (const Vec2 d : {Vec2{0, 5}, Vec2{0, -5}, Vec2{1, 3}, Vec2{7, 0}}) {
      const SweepAnswers out =
          SweepBy(player, {{far, 0}}, d, {CastMode::kClosest, InsidePolicy::kBlocking});
      EXPECT_EQ(out.counts[0], 0u) << d.x << " " << d.y;
      EXPECT_EQ(out.safe[0], (Vec2{far + d.x, d.y}));
    }
    const SweepAnswers in =
        SweepBy(player, {{far, 0}}, {-1, 1}, {CastMode::kClosest, InsidePolicy::kBlocking});
    ASSERT_EQ(in.counts[0], 1u);
    EXPECT_EQ(in.hits[0].fraction, 0);
    EXPECT_FALSE(in.hits[0].starts_inside);
    EXPECT_EQ(in.hits[0].normal, (Vec2{1, 0}));
    EXPECT_EQ(in.hits[0].point, (Vec2{1, 0}));
  }
  const Crowd small({CircleOf({0, 0}, 0.1)});
  const Shape mover = CircleOf({0, 0}, 0.2);
  const Player player{EmptyScene(), mover, 0, 0, &small.bodies};
  // 0.1 + 0.2 as doubles is above 0.3: there they overlap in more than touch.
  EXPECT_TRUE(Overlaps(player, {{0.3, 0}}));
  EXPECT_FALSE(Overlaps(player, {{std::nextafter(0.1 + 0.2, 1), 0}}));
}

// Who is pushed at a disc goes around it, unless head on.
TEST(BlockingBodiesTest, ACircleSlidesAroundACircle) {
  const Crowd disc({CircleOf({0, 0}, 1)});
  for (const Shape& shape : PlayerShapes(1)) {
    for (const double y : {-1.2, -0.3, 1e-3, 0.7}) {
      const Player player{EmptyScene(), shape, 0, 0, &disc.bodies};
      Pose pose{{-4, y}};
      int ticks = 0;
      for (; ticks < 4000 && pose.position.x < 3; ++ticks) {
        const SlideAnswers slide = Slide(player, pose, {{0.25, 0}});
        ExpectLegsReplay(player, pose, slide);
        pose.position = slide.rows[0].position;
        ASSERT_FALSE(Overlaps(player, pose)) << y << " tick " << ticks;
      }
      // A flat side that is met head on stays there.
      const double flat = shape.capsule() == nullptr ? 1 : shape.capsule()->axis.b.y;
      if (std::abs(y) > flat) {
        EXPECT_LT(ticks, 200) << y;
      }
    }
  }
}

// Owners and masks of items: a player does not block itself, and passes its own team.
TEST(BlockingBodiesTest, AnOwnerPassesItsOwnBody) {
  const std::vector<Shape> shapes{CircleOf({0, 0}, 1)};
  const std::vector<uint32_t> which{0, 0};
  const std::vector<double> x{0, 5}, y{0, 0}, dx{10, -10}, dy{0, 0};
  const std::vector<uint32_t> owner{1, 2};
  const std::vector<uint64_t> category{1, 2}, mask{3, 2};
  const Bodies bodies = Bodies::Create({{shapes, which, x, y}, category, owner}).value();
  SlideColumns columns;
  columns.movers = {shapes, which, x, y, {}, {}, {}, {Against::kBodies, {}, owner}};
  columns.dx = dx;
  columns.dy = dy;
  SlideAnswers out;
  WorkMeter meter;
  ASSERT_TRUE(SlideShapes({EmptyScene(), &bodies}, columns, {}, out, meter));
  EXPECT_EQ(out.rows[0].position, (Vec2{3, 0}));
  EXPECT_EQ(out.rows[1].position, (Vec2{2, 0}));
  ASSERT_TRUE(out.legs[0].has_hit && out.legs[0].hit.is_body);
  EXPECT_EQ(out.legs[0].hit.polygon_id, 1u);
  columns.movers.scope.mask = mask;
  ASSERT_TRUE(SlideShapes({EmptyScene(), &bodies}, columns, {}, out, meter));
  EXPECT_EQ(out.rows[0].position, (Vec2{3, 0}));
  EXPECT_EQ(out.rows[1].position, (Vec2{-5, 0}));
}

// A hall of tiles, in which others stand about.
TEST(BlockingBodiesTest, Law4PlayersWalkAmongOthers) {
  WalkCounts counts;
  for (int i = 0; i < Repeats(8, 60) && !HasFailure(); ++i) {
    Random random(0xb0d1e5 + static_cast<uint64_t>(i));
    std::vector<PolygonSpec> walls;
    const auto add_box = [&](Vec2 min, Vec2 max) {
      PolygonSpec spec;
      spec.id = walls.size();
      spec.rings = {{{min, {max.x, min.y}, max, {min.x, max.y}}, false}};
      walls.push_back(spec);
    };
    add_box({-1, -1}, {13, 0});
    add_box({-1, 12}, {13, 13});
    add_box({-1, 0}, {0, 12});
    add_box({12, 0}, {13, 12});
    for (int k = 0; k < 6; ++k) {
      const Vec2 at{1.0 + random.Below(10), 1.0 + random.Below(10)};
      add_box(at, {at.x + 1, at.y + 1});
    }
    std::vector<Shape> others;
    for (int k = 0; k < 20; ++k) {
      const Vec2 at{12 * random.Unit(), 12 * random.Unit()};
      const std::vector<Shape> shapes = PlayerShapes(0.8);
      const CosSin turn = SinCos(6.28 * random.Unit());
      others.push_back(Placed(shapes[k % 4], {at, turn.c, turn.s}).value());
    }
    const TestScene scene = MakeScene(walls);
    const Crowd crowd(others);
    for (const Shape& shape : PlayerShapes(0.7)) {
      const CosSin turn = random.Below(2) == 0 ? CosSin{1, 0} : SinCos(6.28 * random.Unit());
      const Player player{*scene.scene, shape, 0, 1.5, &crowd.bodies};
      Pose pose{{0, 0}, turn.c, turn.s};
      do {
        pose.position = {12 * random.Unit(), 12 * random.Unit()};
      } while (Overlaps(player, pose));
      SCOPED_TRACE(absl::StrCat("hall ", i));
      Walk(player, pose, Repeats(150, 600), random, counts);
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
}  // namespace carom::testing::blocking_bodies_test
