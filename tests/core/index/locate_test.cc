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

// Scenes of few polygons are asked without their trees. Others that are far away, which make them
// many, change no answer.
TEST(LocateTest, AFewPolygonsAnswerAsAmongMany) {
  const std::vector<double> steps{-9, -8, -6, -3.5, -3, 0, 1.5, 3, 4, 6, 8, 9, 1e300};
  std::vector<double> x, y;
  for (const double a : steps) {
    for (const double b : steps) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::vector<PolygonSpec> few;
  for (uint64_t count = 0; count <= 6; ++count) {
    std::vector<PolygonSpec> many = few;
    for (uint64_t i = 0; i < 9; ++i) {
      const double far = 100 + 10 * static_cast<double>(i);
      many.push_back({100 + i, {{{{far, 0}, {far + 1, 0}, {far, 1}}}}});
    }
    for (const uint64_t mask : {kEveryCategory, uint64_t{1}, uint64_t{2}}) {
      const LocateAnswers of_few = Locate(*MakeScene(few).scene, x, y, mask);
      const LocateAnswers of_many = Locate(*MakeScene(many).scene, x, y, mask);
      EXPECT_EQ(of_few.counts, of_many.counts) << count;
      EXPECT_EQ(of_few.polygon_ids, of_many.polygon_ids) << count;
      EXPECT_EQ(of_few.locations, of_many.locations) << count;
      EXPECT_EQ(of_few.is_body, of_many.is_body) << count;
      EXPECT_EQ(of_few.errors.size(), of_many.errors.size()) << count;
    }
    PolygonSpec next = Pentagram();
    next.id = 50 - count;
    next.category = count % 2 + 1;
    few.push_back(next);
  }
}

// Neither a cap of rows nor a budget lets a scene of few polygons go on.
TEST(LocateTest, AFewPolygonsStopWithTheMeter) {
  const Scene::Ptr scene = MakeScene({Pentagram()}).scene;
  const std::vector<double> x(5000, 1), y(5000, -7.5);
  LocateAnswers answers;
  const std::vector<double> in_x(5000, 5), in_y(5000, -6.7);
  WorkMeter rows;
  rows.set_max_rows(100);
  EXPECT_FALSE(LocatePoints(*scene, {in_x, in_y}, kEveryCategory, answers, rows));
  EXPECT_TRUE(rows.out_of_rows());
  EXPECT_LE(answers.polygon_ids.size(), 300);
  WorkMeter units;
  units.set_max_units(7000);
  EXPECT_FALSE(LocatePoints(*scene, {x, y}, kEveryCategory, answers, units));
  EXPECT_LE(units.used(), 7000 + 2 * WorkMeter::kInterval);
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
