// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/locate.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/random_scene.h"

namespace carom::testing::locate_test {
namespace {

LocateAnswers Locate(const Scene& scene, std::vector<double> x, std::vector<double> y,
                     uint64_t mask = kEveryCategory) {
  LocateAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(LocatePoints(scene, {x, y}, mask, answers, meter));
  return answers;
}

Location At(const Scene& scene, double x, double y) {
  const LocateAnswers answers = Locate(scene, {x}, {y});
  return answers.locations.empty() ? Location::kOutside : answers.locations[0];
}

// A pentagram: the middle pentagon has winding number 2.
PolygonSpec Pentagram() { return {1, {{{{0, 9}, {6, -8}, {-9, 3}, {9, 3}, {-6, -8}}}}}; }

TEST(LocateTest, FillRuleDecidesTheMiddleOfAPentagram) {
  PolygonSpec spec = Pentagram();
  EXPECT_EQ(At(*MakeScene({spec}).scene, 0, 0), Location::kOutside);
  spec.fill_rule = FillRule::kNonZero;
  EXPECT_EQ(At(*MakeScene({spec}).scene, 0, 0), Location::kInside);
}

TEST(LocateTest, AHoleIsOutsideAndItsEdgeBoundary) {
  PolygonSpec spec{1, {{{{0, 0}, {9, 0}, {9, 9}, {0, 9}}}, {{{3, 3}, {6, 3}, {6, 6}, {3, 6}}}}};
  const Scene::Ptr scene = MakeScene({spec}).scene;
  EXPECT_EQ(At(*scene, 1, 1), Location::kInside);
  EXPECT_EQ(At(*scene, 4, 4), Location::kOutside);
  EXPECT_EQ(At(*scene, 3, 4), Location::kBoundary);
  EXPECT_EQ(At(*scene, 9, 9), Location::kBoundary);
}

TEST(LocateTest, AnEdgeInsideTheFilledSetIsBoundary) {
  PolygonSpec spec{1, {{{{0, 0}, {9, 0}, {9, 9}, {0, 9}}}, {{{3, 3}, {6, 6}}}}};
  EXPECT_EQ(At(*MakeScene({spec}).scene, 4, 4), Location::kBoundary);
  EXPECT_EQ(At(*MakeScene({spec}).scene, 4, 5), Location::kInside);
}

TEST(LocateTest, AHollowPolygonHasNoInside) {
  PolygonSpec spec{1, {{{{0, 0}, {9, 0}, {9, 9}}, true}}};
  spec.solidity = Solidity::kBoundary;
  const Scene::Ptr scene = MakeScene({spec}).scene;
  EXPECT_EQ(At(*scene, 5, 1), Location::kOutside);
  EXPECT_EQ(At(*scene, 5, 0), Location::kBoundary);
  EXPECT_EQ(At(*scene, 4, 4), Location::kOutside);  // the chain is open
}

TEST(LocateTest, OneUlpDecides) {
  const Scene::Ptr scene = MakeScene({{1, {{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}}}).scene;
  EXPECT_EQ(At(*scene, 1, 0.5), Location::kBoundary);
  EXPECT_EQ(At(*scene, std::nextafter(1, 0), 0.5), Location::kInside);
  EXPECT_EQ(At(*scene, std::nextafter(1, 2), 0.5), Location::kOutside);
}

TEST(LocateTest, RowsAreByAscendingIdAndMaskApplies) {
  PolygonSpec masked{5, {{{{0, 0}, {9, 0}, {0, 9}}}}};
  masked.category = 2;
  const std::vector<PolygonSpec> specs{
      {9, {{{{0, 0}, {9, 0}, {0, 9}}}}}, masked, {2, {{{{1, 1}, {5, 1}, {1, 5}}}}}};
  const Scene::Ptr scene = MakeScene(specs).scene;
  EXPECT_EQ(Locate(*scene, {1}, {2}).polygon_ids, (std::vector<uint64_t>{2, 5, 9}));
  EXPECT_EQ(Locate(*scene, {1}, {2}, 1).polygon_ids, (std::vector<uint64_t>{2, 9}));
}

TEST(LocateTest, ABadItemIsAnsweredAlone) {
  const Scene::Ptr scene = MakeScene({{1, {{{{0, 0}, {9, 0}, {0, 9}}}}}}).scene;
  const LocateAnswers answers = Locate(*scene, {1, NAN, 1}, {1, 1, -INFINITY});
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0}));
  EXPECT_EQ(answers.errors, (std::vector<ItemError>{{1, ItemColumn::kX, ItemFault::kNotAccepted},
                                                    {2, ItemColumn::kY, ItemFault::kNotAccepted}}));
}

}  // namespace
}  // namespace carom::testing::locate_test
