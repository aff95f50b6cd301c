// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "carom/cast.h"
#include "carom/sincos.h"
#include "random_scene.h"

namespace carom::testing {
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

}  // namespace
}  // namespace carom::testing
