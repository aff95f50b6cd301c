// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/polygon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "carom/shape.h"
#include "carom/status.h"

namespace carom::polygon_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

PolygonSpec Triangle() { return {7, {{{{0, 0}, {4, 0}, {0, 3}}}}}; }

TEST(PolygonTest, KeepsWhatTheCallerGave) {
  PolygonSpec spec = Triangle();
  spec.rings.push_back({{{1, 1}, {1, 1}, {2, 1}}});
  spec.fill_rule = FillRule::kNonZero;
  spec.category = 6;
  spec.user_data = std::string("a\0b", 3);
  const Polygon polygon = Polygon::Create(spec).value();
  EXPECT_EQ(polygon.id(), 7u);
  EXPECT_EQ(polygon.ring_count(), 2u);
  EXPECT_EQ(polygon.edge_count(), 6u);
  EXPECT_EQ(polygon.edge(2).b, (Vec2{0, 0}));
  EXPECT_EQ(polygon.edge_ref(2), (EdgeRef{0, 2}));
  EXPECT_EQ(polygon.edge_ref(3), (EdgeRef{1, 0}));
  EXPECT_EQ(polygon.fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(polygon.category(), 6u);
  EXPECT_EQ(polygon.user_data(), spec.user_data);
  EXPECT_EQ(polygon.bounds().max, (Vec2{4, 3}));
}

struct RingCase {
  const char* name;
  RingSpec ring;
  size_t vertices;
  size_t edges;
};

TEST(PolygonTest, CountsVerticesAndEdgesOfEveryKindOfRing) {
  const RingCase cases[] = {
      {"a point", {{{1, 1}}}, 1, 1},
      {"a point given twice", {{{1, 1}, {1, 1}}}, 1, 1},
      {"two vertices", {{{0, 0}, {1, 0}}}, 2, 2},
      {"closing duplicate dropped", {{{0, 0}, {1, 0}, {0, 1}, {0, 0}}}, 3, 3},
      {"only one dropped", {{{0, 0}, {1, 0}, {0, 0}, {0, 0}}}, 3, 3},
      {"open chain", {{{0, 0}, {1, 0}, {0, 1}}, true}, 3, 2},
      {"open chain keeps its repeated end", {{{0, 0}, {1, 0}, {0, 0}}, true}, 3, 2},
      {"open chain of one", {{{0, 0}}, true}, 1, 1},
  };
  for (const RingCase& c : cases) {
    SCOPED_TRACE(c.name);
    PolygonSpec spec{1, {c.ring}};
    if (c.ring.open) spec.solidity = Solidity::kBoundary;
    const Polygon polygon = Polygon::Create(spec).value();
    EXPECT_EQ(polygon.vertex_count(), c.vertices);
    EXPECT_EQ(polygon.edge_count(), c.edges);
    const Polygon again = Polygon::Create(polygon.spec()).value();
    EXPECT_EQ(again.vertex_count(), c.vertices);
    EXPECT_EQ(again.edge_count(), c.edges);
  }
}

TEST(PolygonTest, ReadsTinyMagnitudesAsZero) {
  const double tiny = std::nextafter(0x1p-140, 0);
  const Polygon polygon = Polygon::Create({1, {{{{tiny, -tiny}, {0x1p-140, -0.0}}}}}).value();
  EXPECT_EQ(polygon.ring(0)[0], (Vec2{0, 0}));
  EXPECT_FALSE(std::signbit(polygon.ring(0)[0].y));
  EXPECT_FALSE(std::signbit(polygon.ring(0)[1].y));
  EXPECT_EQ(polygon.ring(0)[1].x, 0x1p-140);
}

struct BadCase {
  const char* name;
  PolygonSpec spec;
  absl::StatusCode code;
  const char* field;
};

TEST(PolygonTest, RefusesWhatIsMalformedByFieldAndRange) {
  const double above = std::nextafter(kMaxCoordinate, kInfinity);
  PolygonSpec open = Triangle();
  open.rings[0].open = true;
  PolygonSpec heavy = Triangle();
  heavy.user_data = std::string(4097, 'x');
  const BadCase cases[] = {
      {"no ring", {1, {}}, absl::StatusCode::kInvalidArgument, "rings"},
      {"empty ring", {1, {{{{0, 0}}}, {}}}, absl::StatusCode::kInvalidArgument, "rings[1]"},
      {"nan", {1, {{{{0, kNan}}}}}, absl::StatusCode::kInvalidArgument, "rings[0].y[0]"},
      {"infinite",
       {1, {{{{0, 0}, {-kInfinity, 0}}}}},
       absl::StatusCode::kInvalidArgument,
       "rings[0].x[1]"},
      {"too large",
       {1, {{{{0, 0}, {0, above}}}}},
       absl::StatusCode::kInvalidArgument,
       "rings[0].y[1]"},
      {"open but solid", open, absl::StatusCode::kInvalidArgument, "rings[0].open"},
      {"user data", heavy, absl::StatusCode::kResourceExhausted, "user_data"},
  };
  for (const BadCase& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = Polygon::Create(c.spec).status();
    EXPECT_EQ(status.code(), c.code);
    ASSERT_EQ(Violations(status).size(), 1u);
    EXPECT_EQ(Violations(status)[0].field, c.field);
    EXPECT_FALSE(Violations(status)[0].description.empty());
  }
  EXPECT_TRUE(Polygon::Create({1, {{{{kMaxCoordinate, -kMaxCoordinate}}}}}).ok());
}

TEST(PolygonTest, EnforcesTheVertexLimitAtItsEdge) {
  PolygonLimits limits;
  limits.max_vertices = 3;
  EXPECT_TRUE(Polygon::Create(Triangle(), limits).ok());
  limits.max_vertices = 2;
  EXPECT_EQ(Polygon::Create(Triangle(), limits).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(PolygonTest, ListsSixteenOffencesAndCountsAll) {
  PolygonSpec spec{1, {{std::vector<Vec2>(50, Vec2{kNan, 0})}}};
  const absl::Status status = Polygon::Create(spec).status();
  EXPECT_EQ(Violations(status).size(), 16u);
  EXPECT_NE(std::string(status.message()).find("50 violations"), std::string::npos);
}

TEST(PolygonTest, PlacesEachVertexWithOneRoundingAnOperation) {
  const Polygon shape = Polygon::Create(Triangle()).value();
  const Pose pose{{0.1, -0.2}, 0.6, 0.8};
  const Polygon placed = PlacedPolygon(shape, pose).value();
  EXPECT_EQ(placed.ring(0)[1].x, (0.6 * 4 - 0.8 * 0) + 0.1);
  EXPECT_EQ(placed.ring(0)[1].y, (0.8 * 4 + 0.6 * 0) + -0.2);
  EXPECT_EQ(PlacedPolygon(shape, {{0, 0}, 1, 0}).value().ring(0)[2], (Vec2{0, 3}));
}

TEST(PolygonTest, RefusesAPlacedVertexOutsideTheRange) {
  const Polygon shape = Polygon::Create(Triangle()).value();
  EXPECT_EQ(PlacedPolygon(shape, {{kMaxCoordinate, 0}, 1, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(PlacedPolygon(shape, {{kMaxCoordinate - 4, 0}, 1, 0}).ok());
}

void ExpectEqual(const Polygon& a, const Polygon& b) {
  const PolygonSpec x = a.spec();
  const PolygonSpec y = b.spec();
  ASSERT_EQ(x.rings.size(), y.rings.size());
  for (size_t i = 0; i < x.rings.size(); ++i) {
    EXPECT_EQ(x.rings[i].vertices, y.rings[i].vertices);
    EXPECT_EQ(x.rings[i].open, y.rings[i].open);
  }
  EXPECT_EQ(x.id, y.id);
  EXPECT_EQ(x.category, y.category);
  EXPECT_EQ(x.fill_rule, y.fill_rule);
  EXPECT_EQ(x.solidity, y.solidity);
  EXPECT_EQ(x.user_data, y.user_data);
  EXPECT_EQ(a.edge_count(), b.edge_count());
  EXPECT_EQ(a.bounds().min, b.bounds().min);
  EXPECT_EQ(a.bounds().max, b.bounds().max);
}

TEST(PlaceIntoTest, AnswersAsPlacedPolygonWhateverWasThereBefore) {
  PolygonSpec chain = Triangle();
  chain.rings = {{{{0, 0}, {1, 0}, {2, 1}, {5, 5}}, true}, {{{1, 1}, {2, 2}}}};
  chain.solidity = Solidity::kBoundary;
  chain.fill_rule = FillRule::kNonZero;
  chain.category = 6;
  chain.user_data = "chain";
  const std::vector<Polygon> shapes{Polygon::Create(Triangle()).value(),
                                    Polygon::Create(chain).value()};
  const Pose pose{{0.1, -0.2}, 0.6, 0.8};
  std::optional<Polygon> memory;
  for (const size_t i : {0, 1, 0, 0, 1, 1}) {
    ASSERT_TRUE(PlaceInto(shapes[i], pose, memory));
    ExpectEqual(*memory, PlacedPolygon(shapes[i], pose).value());
  }
}

TEST(PlaceIntoTest, WritesOverWhatNobodyElseHolds) {
  const Polygon shape = Polygon::Create(Triangle()).value();
  std::optional<Polygon> memory;
  ASSERT_TRUE(PlaceInto(shape, {{1, 0}}, memory));
  const void* const block = memory->memory();
  ASSERT_TRUE(PlaceInto(shape, {{2, 0}}, memory));
  EXPECT_EQ(memory->memory(), block);
  const Polygon copy = *memory;
  ASSERT_TRUE(PlaceInto(shape, {{3, 0}}, memory));
  EXPECT_NE(memory->memory(), block);
  EXPECT_EQ(copy.ring(0)[0], (Vec2{2, 0}));
  EXPECT_EQ(memory->ring(0)[0], (Vec2{3, 0}));
}

TEST(PlaceIntoTest, TakesWhatIsThereAsTheShape) {
  const Polygon shape = Polygon::Create(Triangle()).value();
  const Pose pose{{0.1, -0.2}, 0.6, 0.8};
  std::optional<Polygon> memory = shape;
  ASSERT_TRUE(PlaceInto(*memory, pose, memory));
  ExpectEqual(*memory, PlacedPolygon(shape, pose).value());
  std::optional<Shape> placed = Shape(shape);
  ASSERT_TRUE(PlaceInto(*placed, pose, placed));
  ExpectEqual(*placed->polygon(), PlacedPolygon(shape, pose).value());
}

TEST(PlaceIntoTest, LeavesNothingWhereAVertexIsOutsideTheRange) {
  const Polygon shape = Polygon::Create(Triangle()).value();
  std::optional<Polygon> memory;
  ASSERT_TRUE(PlaceInto(shape, {{1, 0}}, memory));
  EXPECT_FALSE(PlaceInto(shape, {{kMaxCoordinate, 0}}, memory));
  EXPECT_FALSE(memory);
}

TEST(RingIntoTest, MakesASolidRingWhateverWasThereBefore) {
  PolygonSpec spec = Triangle();
  spec.solidity = Solidity::kBoundary;
  spec.category = 6;
  spec.user_data = "a";
  std::optional<Polygon> polygon;
  ASSERT_TRUE(PlaceInto(Polygon::Create(spec).value(), {}, polygon));
  RingInto(std::vector<Vec2>{{0, 0}, {1, 2}}, polygon);
  ExpectEqual(*polygon, Polygon::Create({0, {{{{0, 0}, {1, 2}}}}}).value());
}

}  // namespace
}  // namespace carom::polygon_test
