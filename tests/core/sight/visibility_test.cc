// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sights and fans. Both are casts: what is tested is that they are the casts that the header
// promises, and their own faults.

#include "carom/visibility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/sincos.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle.h"
#include "tests/support/repeats.h"

namespace carom::testing::visibility_test {
namespace {

using carom::Segment;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The solid square [2, 4] x [-1, 1], id 7.
Scene::Ptr Square() { return MakeScene({{7, {{{{2, -1}, {4, -1}, {4, 1}, {2, 1}}}}}}).scene; }

SightAnswers Visible(const Scene& scene, const std::vector<Segment>& sights,
                     uint64_t mask = kEveryCategory) {
  std::vector<double> ax, ay, bx, by;
  for (const Segment& s : sights) {
    ax.push_back(s.a.x);
    ay.push_back(s.a.y);
    bx.push_back(s.b.x);
    by.push_back(s.b.y);
  }
  SightAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(TestLinesOfSight(scene, {ax, ay, bx, by}, {mask}, answers, meter));
  return answers;
}

TEST(SightTest, TouchingBlocksAndSoDoesAPolygonThatHoldsAnEnd) {
  const Scene::Ptr scene = Square();
  const double above = std::nextafter(1, 2);
  const SightAnswers answers = Visible(*scene, {{{0, 0}, {8, 0}},
                                                {{0, 1}, {8, 1}},
                                                {{0, above}, {8, above}},
                                                {{0, 0}, {2, 0}},
                                                {{3, 0}, {3, 9}},
                                                {{3, 0}, {3, 0}},
                                                {{9, 9}, {9, 9}}});
  EXPECT_EQ(answers.visible, (std::vector<uint8_t>{0, 0, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(answers.errors.empty());
}

TEST(SightTest, MaskAndFaults) {
  const Scene::Ptr scene = Square();
  EXPECT_EQ(Visible(*scene, {{{0, 0}, {8, 0}}}, 2).visible, (std::vector<uint8_t>{1}));
  const SightAnswers answers = Visible(*scene, {{{9, 0}, {8, 0}}, {{9, 0}, {8, kNan}}});
  EXPECT_EQ(answers.visible, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kBy, ItemFault::kNotAccepted}}));
}

TEST(SightLawTest, SightIsSymmetricAndEqualsTheOracle) {
  Random random(81);
  for (int i = 0; i < Repeats(4000, 200000) && !HasFailure(); ++i) {
    Grid grid{4 + random.Below(5), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    grid.mixed = i % 5 == 0;
    const TestScene scene = RandomScene(random, grid);
    const Segment s{grid.Point(random), grid.Point(random)};
    SCOPED_TRACE(scene.ToCode() +
                 absl::StrFormat("{{%a, %a}, {%a, %a}}", s.a.x, s.a.y, s.b.x, s.b.y));
    const bool hit = scene.oracle.Hits(carom::testing::Segment({s.a.x, s.a.y}, {s.b.x, s.b.y}));
    const uint8_t want = hit ? 0 : 1;
    EXPECT_EQ(Visible(*scene.scene, {s, {s.b, s.a}}).visible, (std::vector<uint8_t>{want, want}));
  }
}

struct Fan {
  Vec2 from;
  double angle = 0;
  double step = 0;
  double range = 0;
  uint32_t beams = 1;
};

FanAnswers Scan(const Scene& scene, const std::vector<Fan>& fans, const FanOptions& options = {}) {
  std::vector<double> x, y, angle, step, range;
  std::vector<uint32_t> beams;
  for (const Fan& fan : fans) {
    x.push_back(fan.from.x);
    y.push_back(fan.from.y);
    angle.push_back(fan.angle);
    step.push_back(fan.step);
    range.push_back(fan.range);
    beams.push_back(fan.beams);
  }
  FanAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(ScanFans(scene, {x, y, angle, step, range, beams}, options, answers, meter));
  size_t rows = 0;
  for (const uint32_t count : answers.counts) rows += count;
  EXPECT_EQ(meter.rows(), rows);
  EXPECT_EQ(answers.hits.size(), rows);
  EXPECT_EQ(answers.distances.size(), rows);
  EXPECT_EQ(answers.polygon_ids.size(), rows);
  return answers;
}

TEST(FanTest, BeamsAnswerDistances) {
  // To the right, upwards, to the left.
  const FanAnswers answers =
      Scan(*Square(), {{{0, 0}, 0, std::acos(0.0), 8, 3}, {{3, 0}, 0, 0, 4}});
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{3, 1}));
  EXPECT_EQ(answers.hits, (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(answers.distances, (std::vector<double>{2, 8, 8, 0}));
  EXPECT_EQ(answers.polygon_ids, (std::vector<uint64_t>{7, 0, 0, 7}));
}

TEST(FanTest, PolicyAndMask) {
  const Fan inside{{3, 0}, 0, 0, 4, 2};
  FanOptions options;
  options.inside_policy = InsidePolicy::kExit;
  EXPECT_EQ(Scan(*Square(), {inside}, options).distances, (std::vector<double>{1, 1}));
  options.inside_policy = InsidePolicy::kIgnore;
  EXPECT_EQ(Scan(*Square(), {inside}, options).hits, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(Scan(*Square(), {inside}, options).distances, (std::vector<double>{4, 4}));
  options = {};
  options.mask = 2;
  EXPECT_EQ(Scan(*Square(), {inside}, options).hits, (std::vector<uint8_t>{0, 0}));
}

TEST(FanBoundaryTest, ABeamThatEndsOnAnEdgeHits) {
  const double below = std::nextafter(2, 0);
  const FanAnswers answers =
      Scan(*Square(), {{{0, 0}, 0, 0, 2}, {{0, 0}, 0, 0, below}, {{2, 0}, 0, 0, 0}});
  EXPECT_EQ(answers.hits, (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(answers.distances, (std::vector<double>{2, below, 0}));
}

// The end (2^-154, 2^-100) is read as (0, 2^-100): the beam runs up the axis onto a wall that
// stands on it. At 2^-80 the end is beside the axis, x = 2^-133 or so, and the beam passes the
// wall.
TEST(FanBoundaryTest, AnEndBelowTheLeastMagnitudeIsReadAsZero) {
  PolygonSpec wall{7, {{{{0, 0x1p-101}, {0, 1}}, true}}};
  wall.solidity = Solidity::kBoundary;
  const Scene::Ptr scene = MakeScene({wall}).scene;
  const double up = std::acos(0.0);
  ASSERT_GT(SinCos(up).c, 0);
  const FanAnswers answers = Scan(*scene, {{{0, 0}, up, 0, 0x1p-100}, {{0, 0}, up, 0, 0x1p-80}});
  EXPECT_EQ(answers.hits, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(answers.distances, (std::vector<double>{0x1p-101, 0x1p-80}));
  // So are the start and the range: the beam is the origin.
  PolygonSpec point{7, {{{{0, 0}}, true}}};
  point.solidity = Solidity::kBoundary;
  const FanAnswers at = Scan(*MakeScene({point}).scene, {{{0x1p-141, -0x1p-150}, 1, 0, 0x1p-141}});
  EXPECT_EQ(at.hits, (std::vector<uint8_t>{1}));
  EXPECT_EQ(at.distances, (std::vector<double>{0}));
}

TEST(FanTest, FaultsAreNamedByColumn) {
  const Fan good{{0, 0}, 0, 0.1, 8, 3};
  const double above = std::nextafter(kMaxAngle, HUGE_VAL);
  const FanAnswers answers = Scan(*Square(), {good,
                                              {{kNan, 0}, 0, 0, 1, 1},
                                              {{0, 0x1p54}, 0, 0, 1, 1},
                                              {{0, 0}, kNan, 0, 1, 1},
                                              {{0, 0}, above, 0, 1, 1},
                                              {{0, 0}, 0, -above, 1, 1},
                                              {{0, 0}, 0, kNan, 1, 1},
                                              {{0, 0}, 0, 0, HUGE_VAL, 1},
                                              {{0, 0}, 0, 0, -1, 1},
                                              {{0, 0}, 0, 0, 1, 0},
                                              {{0, 0}, 0, 0, 1, 65537},
                                              {{0, 0}, kMaxAngle, 1, 1, 2},
                                              {{0x1p53, 0}, 0, 1, 4, 2},
                                              {{0, 0}, kMaxAngle, 1, 1, 1},
                                              good});
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kX, ItemFault::kNotAccepted},
                                    {2, ItemColumn::kY, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kAngle, ItemFault::kAngleOutOfRange},
                                    {4, ItemColumn::kAngle, ItemFault::kAngleOutOfRange},
                                    {5, ItemColumn::kStep, ItemFault::kAngleOutOfRange},
                                    {6, ItemColumn::kStep, ItemFault::kAngleOutOfRange},
                                    {7, ItemColumn::kRange, ItemFault::kNotAccepted},
                                    {8, ItemColumn::kRange, ItemFault::kNegativeLength},
                                    {9, ItemColumn::kBeams, ItemFault::kTooManyBeams},
                                    {10, ItemColumn::kBeams, ItemFault::kTooManyBeams},
                                    {11, ItemColumn::kStep, ItemFault::kAngleOutOfRange},
                                    {12, ItemColumn::kRange, ItemFault::kNotAccepted}}));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3}));
}

TEST(FanTest, RowsAndWorkAreMetered) {
  const std::vector<double> zero(4, 0), one(4, 1);
  const std::vector<uint32_t> beams(4, kMaxBeams);
  FanAnswers answers;
  WorkMeter rows;
  rows.set_max_rows(100000);
  EXPECT_FALSE(ScanFans(*Square(), {zero, zero, zero, zero, one, beams}, {}, answers, rows));
  EXPECT_TRUE(rows.out_of_rows());
  int asked = 0;
  WorkMeter work([&asked] { return ++asked > 2; });
  EXPECT_FALSE(ScanFans(*Square(), {zero, zero, zero, zero, one, beams}, {}, answers, work));
  EXPECT_LT(work.used(), 10 * WorkMeter::kInterval);
}

// Each beam is the cast that the header describes.
TEST(FanLawTest, BeamsAreCastsToTheirEnds) {
  Random random(82);
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    Grid grid{4 + random.Below(5), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    const TestScene scene = RandomScene(random, grid);
    const Fan fan{grid.Point(random), 8 * random.Unit() - 4, random.Unit() - 0.5,
                  grid.scale * random.Below(12), 1 + static_cast<uint32_t>(random.Below(9))};
    FanOptions options;
    options.inside_policy = static_cast<InsidePolicy>(random.Below(3));
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{%a, %a} %a %a %a %d", fan.from.x, fan.from.y,
                                                  fan.angle, fan.step, fan.range, fan.beams));
    const FanAnswers got = Scan(*scene.scene, {fan}, options);
    ASSERT_EQ(got.counts[0], fan.beams);
    for (uint32_t k = 0; k < fan.beams; ++k) {
      const CosSin to = SinCos(fan.angle + k * fan.step);
      const OracleLine line = carom::testing::Segment(
          {fan.from.x, fan.from.y}, {fan.from.x + fan.range * to.c, fan.from.y + fan.range * to.s});
      OracleCastOptions asked;
      asked.inside = static_cast<OracleInside>(options.inside_policy);
      const OracleCastAnswer want = scene.oracle.Cast(line, asked);
      ASSERT_EQ(want.hits.empty() ? 0 : 1, got.hits[k]);
      if (want.hits.empty()) {
        EXPECT_EQ(fan.range, got.distances[k]);
        EXPECT_EQ(got.polygon_ids[k], 0u);
      } else {
        EXPECT_EQ(NearestDouble(want.hits[0].at.fraction) * fan.range, got.distances[k]);
        EXPECT_EQ(want.hits[0].polygon, got.polygon_ids[k]);
      }
    }
  }
}

}  // namespace
}  // namespace carom::testing::visibility_test
