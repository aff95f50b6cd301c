// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas against their definition in rationals, on seeded random scenes full of coincidences: the
// sequence of pieces and their edges are equal, starts and sizes are within their bounds.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "carom/predicates.h"
#include "tests/core/area/area_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::area_definition_test {
namespace {

struct Order {
  int turns = 0;
  int clockwise = 0;  // consecutive starts that turn clockwise, less than a quarter turn apart
};

bool IsWithin(double got, const Rational& want, double scale, int ulps) {
  return abs(Exact(got) - want) <= Exact(ulps * Ulp(scale));
}

std::string Text(const AreaAnswers& got, const BruteArea& want) {
  std::string text = "got\n";
  for (const AreaPiece& p : got.pieces) {
    absl::StrAppendFormat(&text, "  %d %d %d/%d at %.17g %.17g\n", static_cast<int>(p.kind),
                          p.polygon_id, p.edge.ring, p.edge.edge, p.start.x, p.start.y);
  }
  text += "want\n";
  for (const BrutePiece& p : want.pieces) {
    absl::StrAppendFormat(&text, "  %d %d %d/%d at %.17g %.17g\n", static_cast<int>(p.kind),
                          p.edge.polygon, p.edge.ring, p.edge.edge, NearestDouble(p.start.x),
                          NearestDouble(p.start.y));
  }
  return text;
}

void CountOrder(const EyeCase& eye, const AreaAnswers& got, Order& order) {
  for (size_t i = 1; i < got.pieces.size(); ++i) {
    const Vec2 a = got.pieces[i - 1].start, b = got.pieces[i].start, p = eye.eye;
    ++order.turns;
    if (Orientation(p, a, b) >= 0) continue;
    // Seen from the eye, the two are near one another: else the turn is more than half of one.
    const double dot = (a.x - p.x) * (b.x - p.x) + (a.y - p.y) * (b.y - p.y);
    const double cross = (a.x - p.x) * (b.y - p.y) - (a.y - p.y) * (b.x - p.x);
    if (dot > 0 && std::abs(cross) < 1e-6 * dot) ++order.clockwise;
  }
}

void Check(const TestScene& scene, const EyeCase& eye, unsigned bits, Order& order) {
  SCOPED_TRACE(scene.ToCode() + eye.ToCode());
  std::vector<OraclePolygon> polygons;
  for (const PolygonSpec& spec : scene.specs) polygons.push_back(ToOracle(spec));
  const BruteArea want = BruteEye(polygons, eye, bits).Find();
  const AreaAnswers got = AreasOf(*scene.scene, {eye});
  SCOPED_TRACE(Text(got, want));
  ASSERT_TRUE(got.errors.empty());
  EXPECT_EQ(got.starts_inside[0] != 0, want.starts_inside);
  ASSERT_EQ(got.pieces.size(), want.pieces.size());
  ASSERT_EQ(got.counts[0], want.pieces.size());
  for (size_t i = 0; i < want.pieces.size(); ++i) {
    const AreaPiece& a = got.pieces[i];
    const BrutePiece& b = want.pieces[i];
    ASSERT_EQ(a.kind, b.kind) << i;
    ASSERT_EQ((OracleEdge{a.polygon_id, a.edge.ring, a.edge.edge}), b.edge) << i;
    const double scale =
        std::max({std::abs(eye.eye.x), std::abs(eye.eye.y), std::abs(NearestDouble(b.start.x)),
                  std::abs(NearestDouble(b.start.y))});
    ASSERT_TRUE(IsWithin(a.start.x, b.start.x, scale, 4)) << i;
    ASSERT_TRUE(IsWithin(a.start.y, b.start.y, scale, 4)) << i;
  }
  const double square = eye.range * eye.range;
  ASSERT_LE(std::abs(static_cast<double>(got.areas[0] - want.area)), 0x1p-49 * square);
  CountOrder(eye, got, order);
}

EyeCase RandomEye(Random& random, const Grid& grid, const Grid& eyes) {
  EyeCase eye;
  eye.eye = eyes.Point(random);
  const double unit = grid.scale;
  switch (random.Below(4)) {
    case 0:
      eye.range = unit * (1 + random.Below(6));
      break;
    case 1:
      eye.range = unit * 5 * random.Unit() + unit / 8;
      break;
    default:
      eye.range = unit * 20;
  }
  if (random.Below(3) == 0) {
    const double from = 8 * random.Unit() - 4;
    eye.sector = {from, from + (random.Below(4) == 0 ? 1e-3 : 6.28) * (random.Unit() + 1e-3) / 1.1};
  }
  if (random.Below(8) == 0) eye.sector = {0, 1e-9};
  eye.policy = random.Below(2) == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  return eye;
}

TEST(AreaDefinitionTest, PiecesEqualTheDefinition) {
  Random random(4301);
  Order order;
  for (int i = 0; i < Repeats(1500, 40000) && !HasFailure(); ++i) {
    const double scale = i % 2 == 0 ? 1 : 0.1;
    const Grid grid{3 + random.Below(6), scale, i % 4 == 0 ? 15 : 0};
    const Grid eyes{grid.size * 2, scale / 2, 0};
    const TestScene scene = RandomScene(random, grid);
    for (int k = 0; k < 3 && !HasFailure(); ++k) {
      Check(scene, RandomEye(random, grid, random.Below(2) == 0 ? grid : eyes), 1200, order);
    }
  }
  std::printf("%d of %d consecutive starts turn clockwise\n", order.clockwise, order.turns);
}

TEST(AreaDefinitionTest, PiecesEqualTheDefinitionAllOverTheRange) {
  Random random(4302);
  Order order;
  for (int i = 0; i < Repeats(200, 10000) && !HasFailure(); ++i) {
    Grid grid;
    grid.mixed = true;
    const TestScene scene = RandomScene(random, grid);
    EyeCase eye;
    eye.eye = grid.Point(random);
    const double most = std::max(std::abs(eye.eye.x), std::abs(eye.eye.y));
    eye.range = std::min(std::abs(grid.Coordinate(random)) + 0x1p-140, 0x1p53 - most);
    if (!(eye.range >= 0x1p-140)) continue;
    eye.policy = i % 2 == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
    Check(scene, eye, 6000, order);
  }
  std::printf("%d of %d consecutive starts turn clockwise\n", order.clockwise, order.turns);
}

}  // namespace
}  // namespace carom::testing::area_definition_test
