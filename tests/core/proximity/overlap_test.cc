// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "carom/cast.h"
#include "carom/sincos.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_distance.h"
#include "tests/support/repeats.h"

namespace carom::testing::overlap_test {
namespace {

RingSpec Rectangle(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

OverlapAnswers OfCircle(const Scene& scene, double x, double y, double radius,
                        OverlapDetail detail = OverlapDetail::kIds) {
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapCircles(scene, {{&x, 1}, {&y, 1}, {&radius, 1}}, {detail}, answers, meter));
  return answers;
}

OverlapAnswers OfPolygon(const Scene& scene, const PolygonSpec& spec, Pose pose = {},
                         OverlapDetail detail = OverlapDetail::kIds) {
  const Polygon shape = Polygon::Create(spec).value();
  PolygonColumns columns;
  columns.shapes = {&shape, 1};
  columns.x = {&pose.position.x, 1};
  columns.y = {&pose.position.y, 1};
  columns.c = {&pose.c, 1};
  columns.s = {&pose.s, 1};
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapPolygons(scene, columns, {detail}, answers, meter));
  return answers;
}

OverlapAnswers OfCapsule(const Scene& scene, const Capsule& capsule,
                         OverlapDetail detail = OverlapDetail::kIds) {
  const Vec2& a = capsule.axis.a;
  const Vec2& b = capsule.axis.b;
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapCapsules(scene,
                              {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}, {&capsule.radius, 1}},
                              {detail}, answers, meter));
  return answers;
}

OverlapAnswers OfBox(const Scene& scene, const Box& box,
                     OverlapDetail detail = OverlapDetail::kIds) {
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapBoxes(scene,
                           {{&box.min.x, 1}, {&box.min.y, 1}, {&box.max.x, 1}, {&box.max.y, 1}},
                           {detail}, answers, meter));
  return answers;
}

void ExpectEqual(const OverlapAnswers& a, const OverlapAnswers& b) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.polygon_ids, b.polygon_ids);
  EXPECT_EQ(a.touching, b.touching);
  EXPECT_EQ(a.edge_counts, b.edge_counts);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.errors, b.errors);
}

using Ids = std::vector<uint64_t>;

TEST(OverlapTest, ACircleTouchesAtExactlyItsRadius) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  EXPECT_EQ(OfCircle(*scene, 7, 8, 5).polygon_ids, Ids{1});  // 3-4-5 to the corner
  EXPECT_EQ(OfCircle(*scene, 7, 8, 5).touching, std::vector<uint8_t>{1});
  EXPECT_TRUE(OfCircle(*scene, 7, 8, std::nextafter(5, 0)).polygon_ids.empty());
  EXPECT_EQ(OfCircle(*scene, 7, 8, std::nextafter(5, 6)).touching, std::vector<uint8_t>{0});
  EXPECT_EQ(OfCircle(*scene, 2, 2, 0.5).polygon_ids, Ids{1});  // strictly inside
  EXPECT_EQ(OfCircle(*scene, 2, 2, 0).touching, std::vector<uint8_t>{1});
  EXPECT_EQ(OfCircle(*scene, 4, 2, 1).touching, std::vector<uint8_t>{0});
}

TEST(OverlapTest, ACircleInAHoleOrAHollowPolygonTouchesNothing) {
  const Scene::Ptr holed = MakeScene({{1, {Rectangle(0, 0, 9, 9), Rectangle(2, 2, 7, 7)}}}).scene;
  EXPECT_TRUE(OfCircle(*holed, 4.5, 4.5, 2).polygon_ids.empty());
  EXPECT_EQ(OfCircle(*holed, 4.5, 4.5, 2.5).polygon_ids, Ids{1});
  PolygonSpec hollow{1, {Rectangle(0, 0, 9, 9)}};
  hollow.solidity = Solidity::kBoundary;
  EXPECT_TRUE(OfCircle(*MakeScene({hollow}).scene, 4, 4, 1).polygon_ids.empty());
}

TEST(OverlapTest, EdgesAreThoseTheSolidShapeMeets) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const OverlapAnswers circle = OfCircle(*scene, 5, 2, 1, OverlapDetail::kEdges);
  EXPECT_EQ(circle.edges, (std::vector<EdgeRef>{{0, 1}}));
  const OverlapAnswers inside = OfCircle(*scene, 2, 2, 1, OverlapDetail::kEdges);
  EXPECT_EQ(inside.counts[0], 1u);
  EXPECT_EQ(inside.edge_counts, std::vector<uint32_t>{0});
  // A mover that swallows the polygon meets all of its edges though no edges cross.
  const OverlapAnswers around =
      OfPolygon(*scene, {0, {Rectangle(-9, -9, 9, 9)}}, {}, OverlapDetail::kEdges);
  EXPECT_EQ(around.edge_counts, std::vector<uint32_t>{4});
}

TEST(OverlapTest, ContainmentEitherWayIsOverlap) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  EXPECT_EQ(OfPolygon(*scene, {0, {Rectangle(1, 1, 2, 2)}}).polygon_ids, Ids{1});
  EXPECT_EQ(OfPolygon(*scene, {0, {Rectangle(-1, -1, 9, 9)}}).polygon_ids, Ids{1});
  // Inside the mover's hole: no contact.
  EXPECT_TRUE(OfPolygon(*scene, {0, {Rectangle(-9, -9, 9, 9), Rectangle(-1, -1, 5, 5)}})
                  .polygon_ids.empty());
}

TEST(OverlapTest, CornersTouchExactlyAndOneUlpApartDoNot) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const PolygonSpec unit{0, {Rectangle(0, 0, 1, 1)}};
  EXPECT_EQ(OfPolygon(*scene, unit, {{4, 4}, 1, 0}).polygon_ids, Ids{1});
  EXPECT_TRUE(OfPolygon(*scene, unit, {{std::nextafter(4, 5), 4}, 1, 0}).polygon_ids.empty());
}

TEST(OverlapTest, ACapsuleTouchesAtExactlyItsRadius) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const auto capsule = [](double radius) { return Capsule{{{7, 8}, {20, 9}}, radius}; };
  EXPECT_EQ(OfCapsule(*scene, capsule(5)).polygon_ids, Ids{1});  // 3-4-5 to the corner
  EXPECT_EQ(OfCapsule(*scene, capsule(5)).touching, std::vector<uint8_t>{1});
  EXPECT_TRUE(OfCapsule(*scene, capsule(std::nextafter(5, 0))).polygon_ids.empty());
  EXPECT_EQ(OfCapsule(*scene, capsule(std::nextafter(5, 6))).touching, std::vector<uint8_t>{0});
  // The corner is nearest to the inside of the axis: x + y = 13 is 5 / sqrt(2) from (4, 4).
  const carom::Segment slant{{10, 3}, {3, 10}};
  const double half = 5 / std::sqrt(2.0);  // a double below or above the root, never equal
  EXPECT_NE(OfCapsule(*scene, {slant, half}).counts[0],
            OfCapsule(*scene, {slant, std::nextafter(half, half * half < 12.5 ? 9 : 0)}).counts[0]);
}

TEST(OverlapTest, ACapsuleInsideHasNoEdgesAndOneAroundHasAll) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 9, 9)}}}).scene;
  const OverlapAnswers inside = OfCapsule(*scene, {{{3, 3}, {6, 6}}, 1}, OverlapDetail::kEdges);
  EXPECT_EQ(inside.counts[0], 1u);
  EXPECT_EQ(inside.touching, std::vector<uint8_t>{0});
  EXPECT_EQ(inside.edge_counts, std::vector<uint32_t>{0});
  const OverlapAnswers around = OfCapsule(*scene, {{{3, 3}, {6, 6}}, 90}, OverlapDetail::kEdges);
  EXPECT_EQ(around.edge_counts, std::vector<uint32_t>{4});
  PolygonSpec hollow{1, {Rectangle(0, 0, 9, 9)}};
  hollow.solidity = Solidity::kBoundary;
  EXPECT_EQ(OfCapsule(*MakeScene({hollow}).scene, {{{3, 3}, {6, 6}}, 1}).counts[0], 0u);
  // Inside, with the radius reaching exactly to an edge: that edge touches, the distance is 0.
  const OverlapAnswers reaching = OfCapsule(*scene, {{{3, 3}, {6, 4}}, 3}, OverlapDetail::kEdges);
  EXPECT_EQ(reaching.touching, std::vector<uint8_t>{0});
  EXPECT_EQ(reaching.edges, (std::vector<EdgeRef>{{0, 0}, {0, 1}, {0, 3}}));
}

TEST(OverlapTest, ABoxIsTheClosedSolidRectangle) {
  const Scene::Ptr scene = MakeScene({{1, {{{{0, 0}, {4, 4}, {0, 4}}}}}}).scene;
  EXPECT_EQ(OfBox(*scene, {{2, 1}, {5, 2}}).polygon_ids, Ids{1});  // a corner on the slant
  EXPECT_TRUE(OfBox(*scene, {{std::nextafter(2, 3), 1}, {5, 2}}).polygon_ids.empty());
  EXPECT_EQ(OfBox(*scene, {{-1, 2}, {0, 3}}).polygon_ids, Ids{1});
  EXPECT_EQ(OfBox(*scene, {{1, 2}, {1.5, 3}}, OverlapDetail::kEdges).edge_counts,
            std::vector<uint32_t>{0});
  EXPECT_EQ(OfBox(*scene, {{-1, -1}, {9, 9}}, OverlapDetail::kEdges).edge_counts,
            std::vector<uint32_t>{3});
  EXPECT_EQ(OfBox(*scene, {{2, 2}, {2, 2}}).polygon_ids, Ids{1});  // a point on the slant
  EXPECT_TRUE(OfBox(*scene, {{2, 2}, {2, 2}}).touching.empty());
}

TEST(OverlapTest, BadCapsulesAndBoxesAreAnsweredAlone) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const std::vector<double> zero(6, 0);
  const std::vector<double> ax{1, NAN, 1, 1, 1, 1};
  const std::vector<double> by{1, 1, HUGE_VAL, 1, 1, 1};
  const std::vector<double> radius{1, 1, 1, -1, NAN, -0.0};
  OverlapAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(OverlapCapsules(*scene, {ax, zero, zero, by, radius}, {}, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kAx, ItemFault::kNotAccepted},
                                    {2, ItemColumn::kBy, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kRadius, ItemFault::kNegativeRadius},
                                    {4, ItemColumn::kRadius, ItemFault::kNotAccepted}}));
  // What is read as 0 does not make a box empty.
  const std::vector<double> min_x{0, 3, 0, 0, 3, 0x1p-141};
  const std::vector<double> min_y{0, 0, 3, NAN, 3, 0};
  const std::vector<double> max_x{2, 2, 2, 2, 2, 0};
  const std::vector<double> max_y{2, 2, 2, 2, 2, 0};
  ASSERT_TRUE(OverlapBoxes(*scene, {min_x, min_y, max_x, max_y}, {}, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(answers.errors, (std::vector<ItemError>{{1, ItemColumn::kMinX, ItemFault::kEmptyBox},
                                                    {2, ItemColumn::kMinY, ItemFault::kEmptyBox},
                                                    {3, ItemColumn::kMinY, ItemFault::kNotAccepted},
                                                    {4, ItemColumn::kMinX, ItemFault::kEmptyBox}}));
}

TEST(OverlapTest, AStoppedMeterStopsCapsulesAndBoxes) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const double one = 1;
  const CapsuleColumns capsules{{&one, 1}, {&one, 1}, {&one, 1}, {&one, 1}, {&one, 1}};
  const BoxColumns boxes{{&one, 1}, {&one, 1}, {&one, 1}, {&one, 1}};
  OverlapAnswers answers;
  WorkMeter stopped([] { return true; });
  EXPECT_FALSE(OverlapCapsules(*scene, capsules, {}, answers, stopped));
  EXPECT_FALSE(OverlapBoxes(*scene, boxes, {}, answers, stopped));
  WorkMeter no_rows;
  no_rows.set_max_rows(0);
  EXPECT_FALSE(OverlapCapsules(*scene, capsules, {}, answers, no_rows));
  WorkMeter none_either;
  none_either.set_max_rows(0);
  EXPECT_FALSE(OverlapBoxes(*scene, boxes, {}, answers, none_either));
}

TEST(OverlapTest, AnglesTurnAsSinCosDoes) {
  Random random(41);
  const Grid grid{6, 1, 0};
  for (int i = 0; i < 200; ++i) {
    const TestScene scene = RandomScene(random, grid);
    const Polygon shape = Polygon::Create(RandomPolygon(random, grid, 0)).value();
    const double x = grid.Coordinate(random);
    const double y = grid.Coordinate(random);
    const double angle = random.Unit() * 12 - 6;
    const CosSin turn = SinCos(angle);
    PolygonColumns columns;
    columns.shapes = {&shape, 1};
    columns.x = {&x, 1};
    columns.y = {&y, 1};
    columns.angle = {&angle, 1};
    OverlapAnswers by_angle;
    WorkMeter meter;
    ASSERT_TRUE(OverlapPolygons(*scene.scene, columns, {}, by_angle, meter));
    EXPECT_EQ(by_angle.polygon_ids,
              OfPolygon(*scene.scene, shape.spec(), {{x, y}, turn.c, turn.s}).polygon_ids);
  }
}

TEST(OverlapTest, BadItemsAreAnsweredAlone) {
  const Scene::Ptr scene = MakeScene({{1, {Rectangle(0, 0, 4, 4)}}}).scene;
  const Polygon shape = Polygon::Create({0, {Rectangle(0, 0, 2, 2)}}).value();
  const std::vector<uint32_t> which{0, 1, 0, 0, 0};
  const std::vector<double> x{1, 1, NAN, 1, kMaxCoordinate};
  const std::vector<double> y{1, 1, 1, 1, 1};
  const std::vector<double> c{1, 1, 1, 0.9, 1};
  const std::vector<double> s{0, 0, 0, 0, 0};
  PolygonColumns columns{{&shape, 1}, which, x, y, c, s, {}};
  OverlapAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(OverlapPolygons(*scene, columns, {}, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0}));
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kShape, ItemFault::kUnknownShape},
                                    {2, ItemColumn::kX, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kC, ItemFault::kNotARotation},
                                    {4, ItemColumn::kX, ItemFault::kPlacedOutOfRange}}));
  const std::vector<double> radius{-1};
  const OverlapAnswers negative = OfCircle(*scene, 0, 0, -1);
  EXPECT_EQ(negative.errors,
            (std::vector<ItemError>{{0, ItemColumn::kRadius, ItemFault::kNegativeRadius}}));
}

// Law: under REPORT_START a segment hits what it overlaps as a shape of two vertices.
TEST(OverlapLawTest, CastHitsEqualTheOverlapOfTheSegment) {
  Random random(42);
  for (int i = 0; i < 3000; ++i) {
    const Grid grid{4 + random.Below(4), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    const TestScene scene = RandomScene(random, grid);
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    CastAnswers cast;
    WorkMeter meter;
    CastOptions all;
    all.mode = CastMode::kAll;
    ASSERT_TRUE(
        CastSegments(*scene.scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, all, cast, meter));
    Ids hit;
    for (const CastHit& h : cast.hits) hit.push_back(h.polygon_id);
    std::sort(hit.begin(), hit.end());
    ASSERT_EQ(hit, OfPolygon(*scene.scene, {0, {{{a, b}}}}).polygon_ids) << scene.ToCode();
  }
}

// Law: overlap is symmetric.
TEST(OverlapLawTest, OverlapIsSymmetric) {
  Random random(43);
  for (int i = 0; i < 5000; ++i) {
    const Grid grid{4 + random.Below(4), 1, i % 4 == 0 ? 15 : 0};
    const PolygonSpec a = RandomPolygon(random, grid, 1);
    const PolygonSpec b = RandomPolygon(random, grid, 1);
    ASSERT_EQ(OfPolygon(*MakeScene({a}).scene, b).polygon_ids,
              OfPolygon(*MakeScene({b}).scene, a).polygon_ids)
        << ToCode(a) << ToCode(b);
  }
}

constexpr double kScales[] = {1, 1e-9, 0.1, 1e9, 0x1p-138, 0x1p50, 1.0 / 3};

// Calls check(random, grid, scene) on scenes of all scales.
template <class Check>
void ForScenes(uint64_t seed, int rounds, Check check) {
  Random random(seed);
  const auto ask = [&](const Grid& grid) {
    const TestScene scene = RandomScene(random, grid);
    for (int q = 0; q < 5 && !::testing::Test::HasFailure(); ++q) check(random, grid, scene);
  };
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    for (const double scale : kScales) ask({3 + random.Below(6), scale, i % 3 == 0 ? 0 : 15});
    ask({.mixed = true});
  }
}

// Law: a capsule with equal ends is a circle, one of radius 0 the polygon of its two ends.
TEST(OverlapLawTest, CapsulesGeneraliseCirclesAndSegments) {
  ForScenes(44, Repeats(100, 4000), [](Random& random, const Grid& grid, const TestScene& scene) {
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    const double radius = std::abs(grid.Coordinate(random)) * (random.Below(2) + 1) / 2;
    SCOPED_TRACE(scene.ToCode() +
                 absl::StrFormat("{{%a, %a}, {%a, %a}}, %a", a.x, a.y, b.x, b.y, radius));
    ExpectEqual(OfCapsule(*scene.scene, {{a, a}, radius}, OverlapDetail::kEdges),
                OfCircle(*scene.scene, a.x, a.y, radius, OverlapDetail::kEdges));
    OverlapAnswers segment = OfPolygon(*scene.scene, {0, {{{a, b}}}}, {}, OverlapDetail::kEdges);
    segment.touching.assign(segment.polygon_ids.size(), 1);
    ExpectEqual(OfCapsule(*scene.scene, {{a, b}, 0}, OverlapDetail::kEdges), segment);
    ExpectEqual(OfCapsule(*scene.scene, {{a, b}, radius}, OverlapDetail::kEdges),
                OfCapsule(*scene.scene, {{b, a}, radius}, OverlapDetail::kEdges));
  });
}

// Law: a box is the polygon of its corners.
TEST(OverlapLawTest, ABoxIsItsPolygon) {
  ForScenes(45, Repeats(100, 4000), [](Random& random, const Grid& grid, const TestScene& scene) {
    Box box;
    box.Extend(Normalized(grid.Point(random)));
    box.Extend(Normalized(grid.Point(random)));
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{{%a, %a}, {%a, %a}}", box.min.x, box.min.y,
                                                  box.max.x, box.max.y));
    const PolygonSpec polygon{0, {Rectangle(box.min.x, box.min.y, box.max.x, box.max.y)}};
    const OverlapAnswers got = OfBox(*scene.scene, box, OverlapDetail::kEdges);
    ExpectEqual(got, OfPolygon(*scene.scene, polygon, {}, OverlapDetail::kEdges));
    EXPECT_EQ(got.polygon_ids, OfBox(*scene.scene, box).polygon_ids);
  });
}

TEST(OverlapOracleTest, CapsulesEqualTheOracle) {
  ForScenes(46, Repeats(15, 1200), [](Random& random, const Grid& grid, const TestScene& scene) {
    const TestMover mover = RandomCapsule(random, grid);
    const Capsule& capsule = *mover.shape.capsule();
    SCOPED_TRACE(scene.ToCode() + mover.code);
    const Rational radius = Exact(mover.radius);
    OverlapAnswers want;
    for (const OracleShape& polygon : scene.oracle.shapes()) {
      const OracleNearness near = Nearness(polygon, mover.core);
      const int order = CompareRoot(near.square, radius);
      if (order > 0) continue;
      want.polygon_ids.push_back(polygon.id());
      want.touching.push_back(order == 0 ? 1 : 0);
      want.edge_counts.push_back(0);
      for (size_t i = 0; i < near.edges2.size(); ++i) {
        if (CompareRoot(near.edges2[i], radius) > 0) continue;
        ++want.edge_counts.back();
        want.edges.push_back({polygon.edges()[i].name.ring, polygon.edges()[i].name.edge});
      }
    }
    want.counts.push_back(static_cast<uint32_t>(want.polygon_ids.size()));
    ExpectEqual(OfCapsule(*scene.scene, capsule, OverlapDetail::kEdges), want);
    const OverlapAnswers ids = OfCapsule(*scene.scene, capsule);
    EXPECT_EQ(ids.polygon_ids, want.polygon_ids);
    EXPECT_EQ(ids.touching, want.touching);
  });
}

}  // namespace
}  // namespace carom::testing::overlap_test
