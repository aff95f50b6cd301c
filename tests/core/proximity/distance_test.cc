// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/overlap.h"
#include "tests/core/proximity/distance_cases.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_distance.h"
#include "tests/support/repeats.h"

namespace carom::testing::distance_test {
namespace {

RingSpec Rectangle(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

Shape Solid(std::vector<RingSpec> rings) { return Polygon::Create({1, std::move(rings)}).value(); }

Shape Round(Vec2 a, Vec2 b, double radius) { return Shape::Create({{a, b}, radius}).value(); }

// Boundary.

TEST(DistanceTest, PolygonsApart) {
  const Separation corner =
      Distance(Solid({Rectangle(0, 0, 1, 1)}), Solid({Rectangle(4, 5, 6, 6)}));
  EXPECT_EQ(corner.distance, 5);
  EXPECT_EQ(corner.point_a, (Vec2{1, 1}));
  EXPECT_EQ(corner.point_b, (Vec2{4, 5}));
  // A vertex over the middle of a slanted edge: 3-4-5.
  const Separation edge = Distance(Solid({{{{0, 0}, {-4, 3}}}}), Solid({{{{-2 + 3, 1.5 + 4}}}}));
  EXPECT_EQ(edge.distance, 5);
  EXPECT_EQ(edge.point_a, (Vec2{-2, 1.5}));
}

TEST(DistanceTest, TouchingIsZeroAndOneUlpApartIsNot) {
  const Shape square = Solid({Rectangle(0, 0, 1, 1)});
  EXPECT_EQ(Distance(square, Solid({Rectangle(1, 1, 2, 2)})).distance, 0);
  const double beyond = std::nextafter(1, 2);
  EXPECT_EQ(Distance(square, Solid({Rectangle(beyond, 0, 2, 2)})).distance, beyond - 1);
  EXPECT_TRUE(IsWithin(square, Solid({Rectangle(1, 1, 2, 2)}), 0));
  EXPECT_FALSE(IsWithin(square, Solid({Rectangle(beyond, 0, 2, 2)}), 0));
  EXPECT_TRUE(IsWithin(square, Solid({Rectangle(beyond, 0, 2, 2)}), beyond - 1));
  EXPECT_FALSE(
      IsWithin(square, Solid({Rectangle(beyond, 0, 2, 2)}), std::nextafter(beyond - 1, 0)));
}

TEST(DistanceTest, RadiiAreSubtractedExactly) {
  // 3-4-5 times 2 between the axes.
  const Shape left = Round({0, 0}, {-9, 0}, 4);
  EXPECT_EQ(Distance(left, Round({6, 8}, {20, 30}, 6)).distance, 0);
  EXPECT_EQ(Distance(left, Round({6, 8}, {20, 30}, std::nextafter(6, 0))).distance,
            6 - std::nextafter(6, 0));
  const Separation apart = Distance(left, Round({6, 8}, {20, 30}, 1));
  EXPECT_EQ(apart.distance, 5);
  EXPECT_NEAR(apart.point_a.x, 2.4, 1e-15);
  EXPECT_NEAR(apart.point_a.y, 3.2, 1e-15);
  EXPECT_NEAR(apart.point_b.x, 5.4, 1e-15);
  EXPECT_NEAR(apart.point_b.y, 7.2, 4e-15);
  // Two radii whose sum is no double.
  const double half = 5 + 0x1p-60;
  EXPECT_EQ(Distance(Round({0, 0}, {0, 0}, 5), Round({6, 8}, {6, 8}, half)).distance, 0);
  EXPECT_FALSE(
      IsWithin(Round({0, 0}, {0, 0}, 0x1p-60), Round({3, 4}, {3, 4}, 1), std::nextafter(4, 0)));
  EXPECT_TRUE(IsWithin(Round({0, 0}, {0, 0}, 0x1p-60), Round({3, 4}, {3, 4}, 1), 4));
}

// The distance is nearly all cancelled: what is left is still rounded correctly.
TEST(DistanceTest, TheLastBitOfARootBesideARadiusIsMeasured) {
  const double root = std::sqrt(2.0);  // the double is above the root
  for (const double radius : {root, std::nextafter(root, 0)}) {
    const double d = Distance(Round({0, 0}, {0, 0}, radius), Round({1, 1}, {1, 1}, 0)).distance;
    if (Exact(radius) * Exact(radius) >= 2) {
      EXPECT_EQ(d, 0);
    } else {
      EXPECT_TRUE(IsNearestToRoot(d, 2, Exact(radius)));
    }
  }
}

TEST(DistanceTest, WithinTakesAnyDistance) {
  const Shape a = Round({0, 0}, {1, 0}, 0.5);
  const Shape b = Round({9, 0}, {8, 0}, 0x1p-140);
  EXPECT_TRUE(IsWithin(a, b, kInfinity));
  EXPECT_TRUE(IsWithin(a, b, std::numeric_limits<double>::max()));
  EXPECT_TRUE(IsWithin(a, b, 0x1p600));
  EXPECT_FALSE(IsWithin(a, b, 0));
  EXPECT_FALSE(IsWithin(a, b, 0x1p-1074));
  EXPECT_TRUE(IsWithin(a, b, 6.5));
  EXPECT_FALSE(IsWithin(a, b, std::nextafter(6.5, 0)));
  EXPECT_FALSE(IsWithin(a, b, -1));
  EXPECT_FALSE(IsWithin(a, b, NAN));
  // Exactly 4 + 2^-1074 short of 5 is not enough by the smallest double there is.
  EXPECT_TRUE(IsWithin(Round({0, 0}, {0, 0}, 5), Round({3, 4}, {3, 4}, 0), 0x1p-1074));
  EXPECT_TRUE(IsWithin(Round({0, 0}, {0, 0}, 0), Solid({{{{3, 4}}}}), 5));
}

TEST(DistanceTest, HollowPolygonsHaveNoInside) {
  PolygonSpec spec{1, {Rectangle(0, 0, 9, 9)}};
  EXPECT_EQ(Distance(Polygon::Create(spec).value(), Round({4, 4}, {4, 4}, 1)).distance, 0);
  spec.solidity = Solidity::kBoundary;
  const Polygon hollow = Polygon::Create(spec).value();
  EXPECT_EQ(Distance(hollow, Round({4, 4}, {4, 4}, 1)).distance, 3);
  EXPECT_EQ(Distance(hollow, Solid({Rectangle(3, 2, 4, 4)})).distance, 2);
}

// Degenerate.

TEST(DistanceTest, PointsAndZeroEdges) {
  EXPECT_EQ(Distance(Solid({{{{1, 1}}}}), Solid({{{{1, 1}, {1, 1}, {1, 1}}}})).distance, 0);
  EXPECT_EQ(Distance(Solid({{{{1, 1}}}}), Solid({{{{4, 5}, {4, 5}}}})).distance, 5);
  EXPECT_EQ(Distance(Round({1, 1}, {1, 1}, 0), Round({4, 5}, {4, 5}, 0)).distance, 5);
}

TEST(DistanceTest, TheEndsOfTheRange) {
  const double m = kMaxCoordinate;
  const Separation far = Distance(Solid({{{{-m, -m}}}}), Solid({{{{m, m}}}}));
  EXPECT_TRUE(IsNearestToRoot(far.distance, 8 * Exact(m) * Exact(m), 0));
  // One step above the smallest magnitude there is.
  const double small = 0x1p-140;
  const double next = std::nextafter(small, 1);
  EXPECT_EQ(Distance(Solid({{{{small, 0}}}}), Solid({{{{next, 0}}}})).distance, 0x1p-192);
  // A vertex next to the line of the longest edge.
  const Separation thin = Distance(Solid({{{{-m, -m}, {m, m}}}}), Solid({{{{small, 0}}}}));
  EXPECT_TRUE(IsNearestToRoot(thin.distance, Exact(small) * Exact(small) / 2, 0));
  EXPECT_EQ(Distance(Round({m, m}, {-m, m}, m), Round({0, -m}, {0, -m}, m)).distance, 0);
}

// In a scene.

TEST(DistanceTest, TiesAreReportedById) {
  const Scene::Ptr scene = MakeScene({{9, {Rectangle(5, 0, 6, 1)}},
                                      {2, {Rectangle(-6, 0, -5, 1)}},
                                      {4, {{{{0, 8}, {0, 9}}}}},
                                      {5, {Rectangle(-9, -6, 9, -5)}}})
                               .scene;
  const DistanceAnswers point = Nearest(*scene, Round({0, 0}, {0, 0}, 1));
  EXPECT_EQ(point.polygon_ids, (Ids{2, 5, 9}));
  for (const DistanceRow& row : point.rows) EXPECT_EQ(row.distance, 4);
  EXPECT_EQ(point.rows[0].edge, (EdgeRef{0, 0}));  // both of its lowest edges hold (-5, 0)
  EXPECT_EQ(point.rows[0].point, (Vec2{-5, 0}));
  EXPECT_EQ(point.rows[0].mover_point, (Vec2{-1, 0}));
  EXPECT_EQ(point.rows[1].edge, (EdgeRef{0, 2}));
  EXPECT_EQ(Measure(*scene, Round({0, 0}, {0, 0}, 1), DistanceMode::kNearest, 4).polygon_ids,
            (Ids{2, 5, 9}));
  EXPECT_TRUE(Measure(*scene, Round({0, 0}, {0, 0}, 1), DistanceMode::kNearest, 3.9).rows.empty());
  EXPECT_EQ(Measure(*scene, Round({0, 0}, {0, 0}, 1), DistanceMode::kAll, 7).polygon_ids,
            (Ids{2, 4, 5, 9}));
  EXPECT_EQ(Measure(*scene, Round({0, 0}, {0, 0}, 1), DistanceMode::kWithin, 6.9).polygon_ids,
            (Ids{2, 5, 9}));
}

TEST(DistanceTest, AllThatIsTouchedTiesAtZero) {
  const Scene::Ptr scene =
      MakeScene({{1, {Rectangle(0, 0, 9, 9)}}, {2, {Rectangle(5, 0, 6, 1)}}, {3, {{{{4, 4}}}}}})
          .scene;
  const DistanceAnswers got = Nearest(*scene, Round({4, 0.5}, {4, 0.5}, 1));
  EXPECT_EQ(got.polygon_ids, (Ids{1, 2}));
  EXPECT_EQ(got.rows[0].edge, (EdgeRef{0, 0}));  // within the radius, though the centre is inside
  EXPECT_TRUE(got.rows[0].has_edge);
  EXPECT_EQ(got.rows[0].point, (Vec2{4, 0}));
  EXPECT_EQ(got.rows[1].point, (Vec2{5, 0.5}));
  EXPECT_EQ(got.rows[1].mover_point, (Vec2{5, 0.5}));
}

TEST(DistanceTest, ContainmentEitherWay) {
  const Scene::Ptr scene = MakeScene({{1, {{{{50, 50}}}, Rectangle(0, 0, 9, 9)}}}).scene;
  const DistanceAnswers inside = Nearest(*scene, Round({4, 4}, {5, 5}, 1));
  EXPECT_EQ(inside.rows[0].distance, 0);
  EXPECT_FALSE(inside.rows[0].has_edge);
  EXPECT_EQ(inside.rows[0].point, (Vec2{4, 4}));
  EXPECT_EQ(inside.rows[0].mover_point, (Vec2{4, 4}));
  const DistanceAnswers around = Nearest(*scene, Solid({Rectangle(-1, -1, 10, 10)}));
  EXPECT_EQ(around.rows[0].distance, 0);
  EXPECT_TRUE(around.rows[0].has_edge);
  EXPECT_EQ(around.rows[0].edge, (EdgeRef{1, 0}));
  EXPECT_EQ(around.rows[0].point, (Vec2{0, 0}));
}

TEST(DistanceTest, EmptySceneMaskAndErrors) {
  EXPECT_TRUE(Nearest(*Scene::Create({}).value(), Round({}, {}, 1)).polygon_ids.empty());
  PolygonSpec spec{1, {Rectangle(5, 0, 6, 1)}};
  spec.category = 2;
  const Scene::Ptr scene = MakeScene({spec, {7, {Rectangle(8, 0, 9, 1)}}}).scene;
  const std::vector<Shape> shapes{Round({0, 0}, {0, 0}, 1)};
  const std::vector<uint32_t> shape{0, 1, 0, 0, 0, 0};
  const std::vector<double> x{0, 0, NAN, 0, 0, kMaxCoordinate};
  const std::vector<double> y(6, 0);
  const std::vector<double> most{9, 9, 9, -0x1p-1074, NAN, -0.0};
  DistanceColumns columns{{shapes, shape, x, y, {}, {}, {}}, most};
  DistanceAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(MeasureDistances(*scene, columns, {DistanceMode::kNearest, 1}, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(answers.polygon_ids, Ids{7});
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kShape, ItemFault::kUnknownShape},
                                    {2, ItemColumn::kX, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kMaxDistance, ItemFault::kNegativeLength},
                                    {4, ItemColumn::kMaxDistance, ItemFault::kNegativeLength}}));
}

TEST(DistanceTest, AStoppedMeterStopsTheBatch) {
  const Scene::Ptr scene =
      MakeScene({{1, {Rectangle(0, 0, 1, 1)}}, {2, {Rectangle(3, 0, 4, 1)}}}).scene;
  const Shape mover = Round({2, 0.5}, {2, 0.5}, 0);
  const double zero = 0;
  DistanceColumns columns;
  columns.movers.shapes = {&mover, 1};
  columns.movers.x = {&zero, 1};
  columns.movers.y = {&zero, 1};
  DistanceAnswers answers;
  WorkMeter stopped([] { return true; });
  EXPECT_FALSE(MeasureDistances(*scene, columns, {}, answers, stopped));
  WorkMeter one_row;
  one_row.set_max_rows(1);
  EXPECT_FALSE(MeasureDistances(*scene, columns, {}, answers, one_row));
  WorkMeter one_of_all;
  one_of_all.set_max_rows(1);
  EXPECT_FALSE(MeasureDistances(*scene, columns, {DistanceMode::kWithin}, answers, one_of_all));
  WorkMeter two_rows;
  two_rows.set_max_rows(2);
  EXPECT_TRUE(MeasureDistances(*scene, columns, {}, answers, two_rows));
}

// Ties beyond the rows that there may be stop the work, unless something nearer comes after them.
TEST(DistanceTest, TiesBeyondTheRowsStopTheWorkUnlessSomethingIsNearer) {
  const double zero = 0;
  const Shape mover = Round({0, 0}, {0, 0}, 0);
  DistanceColumns columns;
  columns.movers.shapes = {&mover, 1};
  columns.movers.x = {&zero, 1};
  columns.movers.y = {&zero, 1};
  std::vector<PolygonSpec> ties;
  for (uint64_t id = 1; id <= 40; ++id) ties.push_back({id, {{{{5, 0}}}}});
  for (uint64_t nearer : {0u, 41u}) {  // below and above the ids of all ties
    DistanceAnswers answers;
    WorkMeter meter;
    meter.set_max_rows(8);
    EXPECT_FALSE(MeasureDistances(*MakeScene(ties).scene, columns, {}, answers, meter));
    EXPECT_TRUE(meter.out_of_rows());
    std::vector<PolygonSpec> specs = ties;
    specs.push_back({nearer, {{{{0, 4}}}}});
    WorkMeter enough;
    enough.set_max_rows(8);
    answers.Clear();
    EXPECT_TRUE(MeasureDistances(*MakeScene(specs).scene, columns, {}, answers, enough));
    EXPECT_EQ(answers.polygon_ids, Ids{nearer});
    EXPECT_EQ(enough.rows(), 1u);
  }
}

// A scene of many polygons, in which a first bound is searched for: the same as over each polygon
// alone.
TEST(DistanceTest, ManyPolygonsGiveTheLeastOfAll) {
  Random random(8);
  for (int i = 0; i < Repeats(20, 400); ++i) {
    const double spread = i % 3 == 0 ? 1 : i % 3 == 1 ? 1e6 : 0;
    std::vector<PolygonSpec> specs;
    for (uint64_t id = 0; id < 200; ++id) {
      const double x = std::floor(random.Unit() * 40) * spread;
      const double y = std::floor(random.Unit() * 40) * spread * (i % 4 == 0 ? 0 : 1);
      specs.push_back({id, {Rectangle(x, y, x + 0.5, y + 0.5)}});
      specs.back().category = 1 + random.Below(2);
    }
    const TestScene scene = MakeScene(specs);
    const TestMover mover = RandomMover(random, {60, std::max(1.0, spread), 0});
    const uint64_t mask = 1 + random.Below(3);
    double least = kInfinity;
    Ids want;
    for (const PolygonSpec& spec : specs) {
      if ((spec.category & mask) == 0) continue;
      const double d = Distance(Polygon::Create(spec).value(), mover.shape).distance;
      if (d < least) want.clear();
      least = std::min(least, d);
      if (d == least) want.push_back(spec.id);
    }
    const double zero = 0;
    DistanceColumns columns;
    columns.movers.shapes = {&mover.shape, 1};
    columns.movers.x = {&zero, 1};
    columns.movers.y = {&zero, 1};
    DistanceAnswers got;
    WorkMeter meter;
    ASSERT_TRUE(
        MeasureDistances(*scene.scene, columns, {DistanceMode::kNearest, mask}, got, meter));
    ASSERT_EQ(got.polygon_ids, want) << scene.ToCode() << mover.code;
    ASSERT_EQ(got.rows[0].distance, least);
  }
}

// Laws.

// Distance 0 <=> overlap; the same bits both ways round; IsWithin is a comparison.
TEST(DistanceLawTest, ZeroIsOverlapAndOrderDoesNotMatter) {
  ForGrids(11, Repeats(300, 6000), [](Random& random, const Grid& grid) {
    const TestMover a = RandomMover(random, grid);
    const TestMover b = RandomMover(random, grid);
    SCOPED_TRACE(a.code + b.code);
    const Separation ab = Distance(a.shape, b.shape);
    const Separation ba = Distance(b.shape, a.shape);
    EXPECT_EQ(ab.distance, ba.distance);
    EXPECT_FALSE(std::signbit(ab.distance));
    EXPECT_EQ(ab.distance == 0, IsWithin(a.shape, b.shape, 0));
    if (ab.distance == 0) {
      EXPECT_EQ(ab.point_a, ab.point_b);
    }
    EXPECT_TRUE(IsWithin(a.shape, b.shape, std::nextafter(ab.distance, kInfinity)));
    if (ab.distance > 0) {
      EXPECT_FALSE(IsWithin(b.shape, a.shape, std::nextafter(ab.distance, 0)));
    }
    if (a.shape.polygon() == nullptr || b.shape.polygon() == nullptr) return;
    const Scene::Ptr scene = Scene::Create({*a.shape.polygon()}).value();
    const double zero = 0;
    PolygonColumns columns;
    columns.shapes = {b.shape.polygon(), 1};
    columns.x = {&zero, 1};
    columns.y = {&zero, 1};
    OverlapAnswers overlap;
    WorkMeter meter;
    ASSERT_TRUE(OverlapPolygons(*scene, columns, {}, overlap, meter));
    EXPECT_EQ(ab.distance == 0, overlap.counts[0] == 1);
  });
}

PolygonSpec Scaled(PolygonSpec spec, double factor) {
  for (RingSpec& ring : spec.rings) {
    for (Vec2& p : ring.vertices) p = {p.x * factor, p.y * factor};
  }
  return spec;
}

// Within the accepted range and above what is read as 0.
TEST(DistanceLawTest, ScalingByAPowerOfTwoScales) {
  Random random(12);
  for (int i = 0; i < Repeats(1500, 40000); ++i) {
    const Grid grid{3 + random.Below(6), i % 2 == 0 ? 1 : 1.0 / 3, 0};
    const PolygonSpec a = RandomPolygon(random, grid, 1);
    const PolygonSpec b = RandomPolygon(random, grid, 1);
    const double factor = random.Below(2) == 0 ? 0x1p-100 : 0x1p45;
    const Separation one = Distance(Polygon::Create(a).value(), Polygon::Create(b).value());
    const Separation scaled = Distance(Polygon::Create(Scaled(a, factor)).value(),
                                       Polygon::Create(Scaled(b, factor)).value());
    ASSERT_EQ(one.distance * factor, scaled.distance) << ToCode(a) << ToCode(b);
    ASSERT_EQ((Vec2{one.point_a.x * factor, one.point_a.y * factor}), scaled.point_a);
    ASSERT_EQ((Vec2{one.point_b.x * factor, one.point_b.y * factor}), scaled.point_b);
  }
}

TEST(DistanceLawTest, RingStartWindingAndDuplicatesChangeNothing) {
  Random random(13);
  for (int i = 0; i < Repeats(1500, 40000); ++i) {
    const Grid grid{3 + random.Below(6), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    const PolygonSpec a = RandomPolygon(random, grid, 1);
    PolygonSpec other = a;
    for (RingSpec& ring : other.rings) {
      std::vector<Vec2>& v = ring.vertices;
      if (v.size() >= 2 && v.front() == v.back()) continue;  // a closing duplicate is dropped
      std::reverse(v.begin(), v.end());
      if (!ring.open) std::rotate(v.begin(), v.begin() + random.Below(int(v.size())), v.end());
      v.insert(v.begin(), 1 + random.Below(2), v.front());
    }
    const TestMover b = RandomMover(random, grid);
    ASSERT_EQ(Distance(Polygon::Create(a).value(), b.shape).distance,
              Distance(Polygon::Create(other).value(), b.shape).distance)
        << ToCode(a) << ToCode(other) << b.code;
  }
}

}  // namespace
}  // namespace carom::testing::distance_test
