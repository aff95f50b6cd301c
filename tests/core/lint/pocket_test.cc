// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/core/lint/lint_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::pocket_test {
namespace {

PolygonSpec Wall(uint64_t id, std::vector<Vec2> chain) {
  return {.id = id, .rings = {{std::move(chain), true}}, .solidity = Solidity::kBoundary};
}

std::vector<LintFinding> Pockets(const std::vector<PolygonSpec>& specs, double radius, Vec2 from) {
  return FindingsOf(*MakeScene(specs).scene, LintKind::kPocket,
                    {.mover_radius = radius, .from = {from}});
}

// A room of 10 by 10 with a door from (4, 0) to (6, 0).
std::vector<PolygonSpec> Room() {
  return {Wall(1, {{6, 0}, {10, 0}, {10, 10}, {0, 10}, {0, 0}, {4, 0}})};
}

// A disc passes a door of exactly its diameter, and no narrower door.
TEST(PocketTest, TheDoorDecides) {
  EXPECT_TRUE(Pockets(Room(), 1, {5, -5}).empty());
  const std::vector<LintFinding> pockets = Pockets(Room(), std::nextafter(1, 2), {5, -5});
  ASSERT_EQ(pockets.size(), 1u);
  EXPECT_EQ(pockets[0].measure, 100);
  EXPECT_EQ(pockets[0].outline.size(), 6u);
  EXPECT_EQ(pockets[0].polygon_id, 1u);
  EXPECT_TRUE(Pockets(Room(), 2, {5, 5}).empty());  // outside is not bounded
}

// Without a radius, edges alone separate; a start on a wall or in a solid reaches nothing.
TEST(PocketTest, StartsAndSolids) {
  PolygonSpec ring{
      .id = 1,
      .rings = {{{{0, 0}, {10, 0}, {10, 10}, {0, 10}}}, {{{2, 2}, {2, 8}, {8, 8}, {8, 2}}}}};
  EXPECT_EQ(Pockets({ring}, 0, {-1, 0}).size(), 1u);
  EXPECT_EQ(Pockets({ring}, 0, {-1, 0})[0].measure, 36);
  EXPECT_TRUE(Pockets({ring}, 0, {5, 5}).empty());
  EXPECT_EQ(Pockets({ring}, 0, {2, 5}).size(), 1u);
  EXPECT_EQ(Pockets({ring}, 0, {1, 1}).size(), 1u);
}

// Three columns with gaps between them enclose a place, which no edge bounds.
TEST(PocketTest, GapsAloneEncloseAPlace) {
  const auto column = [](uint64_t id, Vec2 p) { return PolygonSpec{.id = id, .rings = {{{p}}}}; };
  const std::vector<PolygonSpec> columns = {column(1, {0, 0}), column(2, {4, 0}),
                                            column(3, {2, 3})};
  const std::vector<LintFinding> pockets = Pockets(columns, 2.5, {9, 9});
  ASSERT_EQ(pockets.size(), 1u);
  EXPECT_EQ(pockets[0].measure, 6);
  EXPECT_EQ(pockets[0].outline, (std::vector<Vec2>{{0, 0}, {4, 0}, {2, 3}}));
  EXPECT_TRUE(Pockets(columns, 1.9, {9, 9}).empty());
}

// An island within a pocket reduces its area, and a room within an island is a pocket of its own.
TEST(PocketTest, Islands) {
  std::vector<PolygonSpec> specs = Room();
  specs.push_back(
      {.id = 2, .rings = {{{{3, 3}, {7, 3}, {7, 7}, {3, 7}}}, {{{4, 4}, {4, 6}, {6, 6}, {6, 4}}}}});
  const std::vector<LintFinding> pockets = Pockets(specs, 1.2, {5, -5});
  ASSERT_EQ(pockets.size(), 2u);
  EXPECT_EQ(pockets[0].measure, 84);
  EXPECT_EQ(pockets[1].measure, 4);
}

TEST(PocketOracleTest, EqualsTheDefinitionOnRandomMaps) {
  const int maps = Repeats(500, 20000);
  size_t pockets = 0;
  for (int i = 0; i < maps; ++i) {
    Random random(static_cast<uint64_t>(i) + 70000);
    const Grid grid{.size = 4 + random.Below(8),
                    .scale = i % 2 == 0 ? 1 : 1.0 / 3,
                    .percent_off = random.Below(2) * 10};
    std::vector<PolygonSpec> specs;
    const int count = 1 + random.Below(3);
    for (int k = 0; k < count; ++k) {
      PolygonSpec spec = RandomPolygon(random, grid, static_cast<uint64_t>(k));
      if (random.Below(2) == 0) spec.solidity = Solidity::kBoundary;
      for (RingSpec& ring : spec.rings)
        ring.open = ring.open && spec.solidity == Solidity::kBoundary;
      specs.push_back(spec);
    }
    const TestScene scene = MakeScene(std::move(specs));
    std::vector<OraclePolygon> described;
    for (const PolygonSpec& spec : scene.specs) described.push_back(ToOracle(spec));
    const double radius = random.Below(5) == 0 ? 0 : grid.scale * (0.25 + 0.25 * random.Below(8));
    const Vec2 from = grid.Point(random);
    std::vector<double> areas;
    for (const LintFinding& pocket :
         FindingsOf(*scene.scene, LintKind::kPocket, {.mover_radius = radius, .from = {from}})) {
      areas.push_back(pocket.measure);
    }
    std::sort(areas.begin(), areas.end());
    const std::vector<Rational> expected = OraclePockets(described, radius, {{from.x, from.y}});
    ASSERT_EQ(areas.size(), expected.size())
        << i << " radius " << radius << " from " << from.x << ", " << from.y << scene.ToCode();
    for (size_t k = 0; k < areas.size(); ++k) {
      ASSERT_NEAR(areas[k], NearestDouble(expected[k]), 1e-12 * grid.scale * grid.scale)
          << i << scene.ToCode();
    }
    pockets += areas.size();
  }
  EXPECT_GT(pockets, static_cast<size_t>(maps));
}

}  // namespace
}  // namespace carom::testing::pocket_test
