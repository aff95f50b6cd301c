// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas of sight: boundary, degenerate cases and faults.

#include "carom/area.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

#include "absl/strings/str_format.h"
#include "area/boundary.h"
#include "area/direction.h"
#include "carom/bodies.h"
#include "carom/shape.h"
#include "tests/core/area/area_cases.h"

namespace carom::testing::area_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The boundary of an area in short: `A(x y)` for an arc, `S(x y)` for a piece along a line of
// sight, `E id.edge(x y)` for one on an edge, with the starts.
std::string Short(const AreaAnswers& answers) {
  std::string text;
  for (const AreaPiece& p : answers.pieces) {
    if (p.kind == AreaPieceKind::kEdge) {
      absl::StrAppendFormat(&text, "E%s%d.%d", p.is_body ? "b" : "", p.polygon_id, p.edge.edge);
    } else {
      text += p.kind == AreaPieceKind::kArc ? "A" : "S";
    }
    absl::StrAppendFormat(&text, "(%g %g) ", p.start.x, p.start.y);
  }
  return text;
}

PolygonSpec Wall(uint64_t id, const std::vector<Vec2>& points) {
  PolygonSpec spec{id, {{points, true}}};
  spec.solidity = Solidity::kBoundary;
  return spec;
}

std::string Of(std::vector<PolygonSpec> specs, const EyeCase& eye) {
  return Short(AreasOf(*MakeScene(std::move(specs)).scene, {eye}));
}

TEST(AreaTest, WithoutWallsTheAreaIsTheDiscOrASectorOfIt) {
  const Scene::Ptr scene = MakeScene({}).scene;
  const AreaAnswers whole = AreasOf(*scene, {{{3, 1}, 2}});
  EXPECT_EQ(Short(whole), "A(1 1) ");
  EXPECT_NEAR(whole.areas[0], std::acos(-1) * 4, 0x1p-47);
  const AreaAnswers part = AreasOf(*scene, {{{3, 1}, 2, std::pair(0.0, 1.0)}});
  EXPECT_EQ(part.pieces.size(), 3u);
  EXPECT_EQ(part.pieces[0], (AreaPiece{0, {}, AreaPieceKind::kSight, false, {3, 1}}));
  EXPECT_EQ(part.pieces[1], (AreaPiece{0, {}, AreaPieceKind::kArc, false, {5, 1}}));
  EXPECT_EQ(part.pieces[2].kind, AreaPieceKind::kSight);
  EXPECT_NEAR(part.areas[0], 2, 0x1p-47);
  EXPECT_EQ(Short(AreasOf(*scene, {{{3, 1}, 2, std::pair(-1.0, 0x1.921fb54442d18p+2 - 1)}})),
            "A(1 1) ");
}

TEST(AreaTest, AWallCastsAShadow) {
  EXPECT_EQ(Of({Wall(5, {{1, -1}, {1, 1}})}, {{0, 0}, 4}),
            "S(2.82843 -2.82843) E5.0(1 -1) S(1 1) A(2.82843 2.82843) ");
  // Behind the cut, too.
  EXPECT_EQ(Of({Wall(5, {{-1, -1}, {-1, 1}})}, {{0, 0}, 4}),
            "S(-1 -1) A(-2.82843 -2.82843) S(-2.82843 2.82843) E5.0(-1 1) ");
  // It ends on the circle.
  EXPECT_EQ(Of({Wall(5, {{3, -4}, {3, 4}})}, {{0, 0}, 5}), "E5.0(3 -4) A(3 4) ");
  // Its ends are beyond the circle.
  EXPECT_EQ(Of({Wall(5, {{3, -9}, {3, 9}})}, {{0, 0}, 5}), "E5.0(3 -4) A(3 4) ");
}

TEST(AreaTest, WhatHasNoWidthCountsNot) {
  // On a line with the eye; a tangent of the circle; an end on the circle from outside; a point.
  EXPECT_EQ(Of({Wall(1, {{1, 0}, {2, 0}})}, {{0, 0}, 4}), "A(-4 0) ");
  EXPECT_EQ(Of({Wall(1, {{4, -1}, {4, 1}})}, {{0, 0}, 4}), "A(-4 0) ");
  EXPECT_EQ(Of({Wall(1, {{4, 0}, {5, 1}})}, {{0, 0}, 4}), "A(-4 0) ");
  EXPECT_EQ(Of({Wall(1, {{1, 1}})}, {{0, 0}, 4}), "A(-4 0) ");
  // One ulp within the circle.
  const double x = std::nextafter(4, 0);
  EXPECT_EQ(AreasOf(*MakeScene({Wall(1, {{x, -1}, {x, 1}})}).scene, {{{0, 0}, 4}}).pieces.size(),
            2u);
}

TEST(AreaTest, NoLightPassesWherePolygonsTouch) {
  // Two walls that share a corner, and a T-junction.
  EXPECT_EQ(Of({Wall(1, {{1, -2}, {1, 0}}), Wall(2, {{1, 0}, {2, 2}})}, {{0, 0}, 2}),
            "E1.0(1 -1.73205) E2.0(1 0) A(1.6 1.2) ");
  EXPECT_EQ(Of({Wall(1, {{1, -2}, {1, 2}}), Wall(2, {{0.5, 0}, {1, 0}})}, {{0, 0.5}, 1.5}),
            Of({Wall(1, {{1, -2}, {1, 2}}), Wall(2, {{0.5, 0}, {7, 0}})}, {{0, 0.5}, 1.5}));
}

TEST(AreaTest, CrossingWallsAndCoincidentOnes) {
  EXPECT_EQ(Of({Wall(1, {{1, -3}, {3, 1}}), Wall(2, {{3, -3}, {1, 1}})}, {{0, 0}, 8}),
            "S(2.52982 -7.58947) E1.0(1 -3) E2.0(2 -1) S(1 1) A(5.65685 5.65685) ");
  // Where they coincide, the lesser polygon counts.
  EXPECT_EQ(Of({Wall(2, {{1, -2}, {1, 1}}), Wall(1, {{1, -1}, {1, 2}})}, {{0, 0}, 2}),
            "E2.0(1 -1.73205) E1.0(1 -1) A(1 1.73205) ");
}

PolygonSpec Square(uint64_t id) { return {id, {{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}}}}; }

TEST(AreaTest, AnEyeInAPolygon) {
  const TestScene scene = MakeScene({Square(7), Wall(8, {{3, -1}, {3, 1}})});
  for (const Vec2 p : {Vec2{0, 0}, Vec2{1, 0.5}, Vec2{1, 1}}) {
    EyeCase eye{p, 9};
    const AreaAnswers blind = AreasOf(*scene.scene, {eye});
    EXPECT_TRUE(blind.pieces.empty());
    EXPECT_EQ(blind.starts_inside[0], 1);
    EXPECT_EQ(blind.areas[0], 0);
    eye.policy = InsidePolicy::kIgnore;
    const AreaAnswers seeing = AreasOf(*scene.scene, {eye});
    EXPECT_EQ(seeing.starts_inside[0], 1);
    ASSERT_EQ(seeing.pieces.size(), 4u);
    EXPECT_EQ(seeing.pieces[1].polygon_id, 8u);
  }
  // In the arm of a U the other arm blocks, and the passage does not.
  const PolygonSpec u{1, {{{{0, 0}, {5, 0}, {5, 4}, {4, 4}, {4, 1}, {1, 1}, {1, 4}, {0, 4}}}}};
  EyeCase eye{{0.5, 3}, 20};
  eye.policy = InsidePolicy::kIgnore;
  const AreaAnswers answers = AreasOf(*MakeScene({u}).scene, {eye});
  std::vector<uint32_t> edges;
  for (const AreaPiece& p : answers.pieces) {
    if (p.kind == AreaPieceKind::kEdge) edges.push_back(p.edge.edge);
  }
  EXPECT_EQ(edges, (std::vector<uint32_t>{4, 3}));
  // On a corner of a hollow polygon its other edges block.
  PolygonSpec hollow = Square(3);
  hollow.solidity = Solidity::kBoundary;
  eye.eye = {1, 1};
  EXPECT_EQ(Of({hollow}, eye), "E3.0(-1 -1) S(1 -1) A(1 -19) S(-19 1) E3.3(-1 1) ");
}

TEST(AreaTest, BodiesBlockButRoundOnesDoNot) {
  const Scene::Ptr scene = MakeScene({}).scene;
  const std::vector<Shape> shapes = {Shape(Polygon::Create(Square(0)).value()),
                                     Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const std::vector<uint32_t> shape = {0, 1}, owner = {4, 0};
  const std::vector<double> x = {3, -3}, y = {0, 0};
  const Bodies bodies = Bodies::Create({{shapes, shape, x, y}, {}, owner}).value();
  Scope scope;
  scope.against = Against::kBodies;
  const AreaAnswers answers = AreasOf({*scene, &bodies}, {{{0, 0}, 5}}, scope);
  EXPECT_EQ(Short(answers), "S(4.47214 -2.23607) Eb0.3(2 -1) S(2 1) A(4.47214 2.23607) ");
  const std::vector<uint32_t> ignored = {4};
  scope.ignore_owner = ignored;
  EXPECT_EQ(Short(AreasOf({*scene, &bodies}, {{{0, 0}, 5}}, scope)), "A(-5 0) ");
}

TEST(AreaTest, RowsAreLimited) {
  const Scene::Ptr scene = MakeScene({Square(7)}).scene;
  const std::vector<EyeCase> eyes = {{{3, 0}, 9}, {{9, 9}, 1}};
  const AreaAnswers all = AreasOf(*scene, eyes);
  EXPECT_TRUE(all.truncated.empty());
  const AreaAnswers few = AreasOf(*scene, eyes, {}, 2);
  EXPECT_EQ(few.truncated, (std::vector<uint32_t>{0}));
  EXPECT_EQ(few.counts, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(few.areas, all.areas);
  EXPECT_EQ(few.pieces[1], all.pieces[1]);
}

TEST(AreaTest, Faults) {
  const Scene::Ptr scene = MakeScene({Square(7)}).scene;
  const double ok = 4;
  const auto fault = [&](const EyeCase& eye) {
    const AreaAnswers answers = AreasOf(*scene, {eye});
    EXPECT_TRUE(answers.pieces.empty());
    if (answers.errors.size() != 1) return std::string("none");
    return std::string(Name(answers.errors[0].column)) + " " + Description(answers.errors[0].fault);
  };
  EXPECT_EQ(fault({{kNan, 0}, ok}).substr(0, 6), "x must");
  EXPECT_EQ(fault({{0, 1e300}, ok}).substr(0, 6), "y must");
  EXPECT_EQ(fault({{0, 5}, kNan}).substr(0, 20), "range must be finite");
  const std::string positive = "range must not be negative, nor 0 as the range of an area";
  EXPECT_EQ(fault({{0, 5}, 0}), positive);
  EXPECT_EQ(fault({{0, 5}, 0x1p-141}), positive);
  EXPECT_EQ(fault({{0, 5}, -1}), positive);
  EXPECT_EQ(fault({{0, 5}, ok, std::pair(kNan, 1.0)}).substr(0, 7), "from mu");
  EXPECT_EQ(fault({{0, 5}, ok, std::pair(0.0, 0x1p21)}).substr(0, 7), "to must");
  EXPECT_EQ(fault({{0, 5}, ok, std::pair(1.0, 1.0)}).substr(0, 7), "to must");
  EXPECT_EQ(fault({{0, 5}, ok, std::pair(0.0, 6.3)}).substr(0, 7), "to must");
  EXPECT_EQ(fault({{0x1p52, 5}, 0x1p53}).substr(0, 20), "range must be finite");
  EXPECT_EQ(fault({{0x1p53, 5}, 0x1p-140}).substr(0, 20), "range must be finite");
  EXPECT_EQ(fault({{0, 0}, 0x1p53}), "none");
}

TEST(AreaTest, WorkIsMetered) {
  Random random(5);
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 400; ++i) {
    const double x = 50 * random.Unit() + 1, y = 50 * random.Unit() + 1;
    specs.push_back(Wall(i, {{x, y}, {x + random.Unit(), y + random.Unit()}}));
  }
  const Scene::Ptr scene = MakeScene(specs).scene;
  const double x[] = {0}, y[] = {0}, range[] = {100};
  for (const uint64_t most : {0, 1000, 4000, 100000000}) {
    WorkMeter meter;
    meter.set_max_units(most);
    AreaAnswers out;
    EXPECT_EQ(FindAreas(*scene, {x, y, range}, {}, out, meter), most == 100000000);
    EXPECT_LE(meter.used(), most + 4 * WorkMeter::kInterval);
  }
  WorkMeter meter;
  meter.set_max_rows(3);
  AreaAnswers out;
  EXPECT_FALSE(FindAreas(*scene, {x, y, range}, {}, out, meter));
}

// An eye in a polygon may see the inner part of an edge from a direction on in which several
// vertices lie. Which of them leads there decides nothing, not even the last bit of the size.
TEST(AreaTest, APointInADirectionIsTheSameWhateverLeadsThere) {
  using internal::Place;
  using internal::PlaceKind;
  Random random(11);
  const Polygon polygon = Polygon::Create(Square(1)).value();
  int differ = 0;
  for (int i = 0; i < 200; ++i) {
    const double x = 1 + random.Below(9), y = random.Below(9) - 4;
    internal::Eye eye;
    eye.Start({{0, 0}, 100});
    eye.AddSource({&polygon, 1, false});
    ASSERT_TRUE(eye.AddEdge({{x, y}, {x, y + 1}}, 0));
    ASSERT_TRUE(eye.AddEdge({{3 * x, 3 * y}, {3 * x, 3 * y + 1}}, 1));
    ASSERT_TRUE(eye.AddEdge({{60 + random.Unit(), -80}, {60 + random.Unit(), 80}}, 2));
    const auto vector_to = [&](PlaceKind kind, size_t leader, bool is_any) {
      const Place place{kind, 2, eye.edges()[leader].begin, is_any};
      const internal::PairVector v = PointOf(eye, place).from_eye;
      return std::vector{v.x.high, v.x.low, v.y.high, v.y.low};
    };
    for (const PlaceKind kind : {PlaceKind::kEdge, PlaceKind::kArc}) {
      EXPECT_EQ(vector_to(kind, 0, true), vector_to(kind, 1, true));
      EXPECT_NEAR(vector_to(kind, 0, true)[0], vector_to(kind, 0, false)[0], 1e-12);
      EXPECT_NEAR(vector_to(kind, 0, true)[2], vector_to(kind, 0, false)[2], 1e-12);
      differ += vector_to(kind, 0, false) != vector_to(kind, 1, false) ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 0);
}

// Story: a ray that entered thousands of edges in one direction sorted them without counting, so
// that nothing stopped it for seconds.
TEST(AreaTest, TheMeterIsAskedWhereManyEdgesBeginInOneDirection) {
  constexpr int kEdges = 20000;
  PolygonSpec spec{1, {{{{0, 0}}, false}}};
  for (int i = 1; i <= kEdges; ++i) {
    spec.rings[0].vertices.push_back({1.0 * i, 0});
    spec.rings[0].vertices.push_back({0, i + 0.25});
  }
  const Scene::Ptr scene = MakeScene({spec}).scene;
  std::clock_t last = std::clock(), longest = 0;
  WorkMeter meter([&] {
    const std::clock_t now = std::clock();
    longest = std::max(longest, now - last);
    last = now;
    return false;
  });
  const double x[] = {0}, y[] = {0}, range[] = {2 * kEdges};
  AreaOptions options;
  options.inside_policy = InsidePolicy::kIgnore;
  AreaAnswers out;
  EXPECT_TRUE(FindAreas(*scene, {x, y, range}, options, out, meter));
  // Between the first edge and the second one it is outside, so the second one blocks.
  EXPECT_EQ(Short(out), "S(40000 0) E1.2(2 0) S(0 1.25) A(0 40000) ");
  EXPECT_LT(longest, 2 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace carom::testing::area_test
