// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/overlap.h"
#include "random_scene.h"
#include "tests/support/oracle_sweep.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                      InsidePolicy::kExit};

RingSpec Rectangle(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

Shape ShapeOf(const PolygonSpec& spec) { return Shape(Polygon::Create(spec).value()); }
Shape CapsuleOf(Vec2 a, Vec2 b, double radius) {
  return Shape::Create(Capsule{{a, b}, radius}).value();
}
Shape CircleOf(Vec2 center, double radius) { return CapsuleOf(center, center, radius); }

SweepAnswers Sweep(const Scene& scene, const Shape& shape, Vec2 from, Vec2 to,
                   const SweepOptions& options = {}) {
  SweepColumns columns;
  columns.movers.shapes = {&shape, 1};
  columns.movers.x = {&from.x, 1};
  columns.movers.y = {&from.y, 1};
  columns.to_x = {&to.x, 1};
  columns.to_y = {&to.y, 1};
  SweepAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(SweepShapes(scene, columns, options, answers, meter));
  return answers;
}

SweepAnswers Sweep(const Scene& scene, const Shape& shape, Vec2 d,
                   const SweepOptions& options = {}) {
  return Sweep(scene, shape, {0, 0}, d, options);
}

SweepOptions All(InsidePolicy policy = InsidePolicy::kReportStart) {
  return {CastMode::kAll, policy};
}

// The fraction of the first hit, or -1.
double First(const Scene& scene, const Shape& shape, Vec2 d,
             InsidePolicy policy = InsidePolicy::kReportStart) {
  const SweepAnswers answers = Sweep(scene, shape, d, {CastMode::kClosest, policy});
  return answers.hits.empty() ? -1 : answers.hits[0].fraction;
}

void ExpectSameHit(const SweepHit& a, const SweepHit& b) {
  EXPECT_EQ(a.polygon_id, b.polygon_id);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.starts_inside, b.starts_inside);
  EXPECT_EQ(a.has_edge, b.has_edge);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.normal, b.normal);
}

// --- boundary ------------------------------------------------------------------------------------

TEST(SweepTest, ABoxMeetsAWallWhereTheyTouch) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, ShapeOf({0, {Rectangle(-1, -1, 1, 1)}}), {18, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  const SweepHit& hit = answers.hits[0];
  EXPECT_EQ(hit.polygon_id, 7u);
  EXPECT_EQ(hit.fraction, 0.5);
  EXPECT_FALSE(hit.starts_inside);
  EXPECT_TRUE(hit.has_edge);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
  EXPECT_EQ(hit.point.x, 10);
  EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
}

TEST(SweepTest, ReachingTheWallExactlyAtTheEndIsAHit) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(-1, -1, 1, 1)}});
  EXPECT_EQ(First(*scene, box, {9, 0}), 1);
  EXPECT_EQ(First(*scene, box, {std::nextafter(9, 0), 0}), -1);
  EXPECT_EQ(First(*scene, box, {-9, 0}), -1);
  const Shape disc = CircleOf({0, 0}, 1);
  EXPECT_EQ(First(*scene, disc, {9, 0}), 1);
  EXPECT_EQ(First(*scene, disc, {std::nextafter(9, 0), 0}), -1);
}

TEST(SweepTest, SlidingAlongAWallIsContact) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 1, 12, 5)}}}).scene;
  EXPECT_EQ(First(*scene, ShapeOf({0, {Rectangle(-1, -1, 1, 1)}}), {18, 0}), 0.5);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1), {20, 0}), 0.5);  // tangent where the wall begins
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, std::nextafter(1, 0)), {20, 0}), -1);
}

TEST(SweepTest, ACircleMeetsACornerAtItsRadius) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 3, 12, 5)}}}).scene;
  // 3-4-5: the centre is at x = 6 when the corner (10, 3) is 5 away.
  const SweepAnswers answers = Sweep(*scene, CircleOf({0, 0}, 5), {24, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.25);
  EXPECT_EQ(answers.hits[0].point, (Vec2{10, 3}));
  EXPECT_DOUBLE_EQ(answers.hits[0].normal.x, -0.8);
  EXPECT_DOUBLE_EQ(answers.hits[0].normal.y, -0.6);
}

TEST(SweepTest, ACapsulesSideMeetsACorner) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, 0, 12, 5)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, CapsuleOf({0, -8}, {0, 8}, 2), {16, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
}

TEST(SweepTest, TheNormalOfASmallCircleFarOutIsRight) {
  const double far = 0x1p40;
  const Scene::Ptr scene = MakeScene({{7, {{{{far, 0}}}}}}).scene;
  const double r = 0x1p-20;
  const SweepAnswers answers = Sweep(*scene, CircleOf({0, r * 0.6}, r), {2 * far, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_NEAR(answers.hits[0].normal.x, -0.8, 0x1p-52);
  EXPECT_NEAR(answers.hits[0].normal.y, 0.6, 0x1p-52);
}

TEST(SweepTest, TwoVerticesThatMeetPushAgainstTheMotion) {
  const Scene::Ptr scene = MakeScene({{7, {{{{4, 0}, {6, 1}, {6, -1}}}}}}).scene;
  const Shape wedge = ShapeOf({0, {{{{0, 0}, {-2, 1}, {-2, -1}}}}});
  const SweepAnswers answers = Sweep(*scene, wedge, {8, 0});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].point, (Vec2{4, 0}));
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
}

TEST(SweepTest, FacesThatMeetVertexOnVertexPushAlongTheirNormal) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(4, 0, 8, 4)}}}).scene;
  const SweepAnswers answers = Sweep(*scene, ShapeOf({0, {Rectangle(-4, 4, 0, 8)}}), {8, -4});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.5);
  EXPECT_EQ(answers.hits[0].edge, (EdgeRef{0, 2}));  // its end (4, 4) is on the mover's face
  EXPECT_EQ(answers.hits[0].normal, (Vec2{-1, 0}));
  // Faces that cover each other exactly.
  const SweepAnswers aligned = Sweep(*scene, ShapeOf({0, {Rectangle(-4, 2, 0, 6)}}), {8, -4});
  ASSERT_EQ(aligned.hits.size(), 1u);
  EXPECT_EQ(aligned.hits[0].fraction, 0.5);
  EXPECT_EQ(aligned.hits[0].normal, (Vec2{-1, 0}));
}

// --- inside policies -----------------------------------------------------------------------------

TEST(SweepTest, AStartInsideIsReportedIgnoredOrLeft) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 8, 8), Rectangle(16, 0, 24, 8)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(3, 3, 5, 5)}});
  const Shape disc = CircleOf({4, 4}, 1);
  for (const Shape& mover : {box, disc}) {
    EXPECT_EQ(First(*scene, mover, {32, 0}), 0);
    EXPECT_EQ(First(*scene, mover, {32, 0}, InsidePolicy::kIgnore), 11 / 32.0);
    EXPECT_EQ(First(*scene, mover, {32, 0}, InsidePolicy::kExit), 5 / 32.0);
    EXPECT_EQ(First(*scene, mover, {2, 0}, InsidePolicy::kIgnore), -1);
    EXPECT_EQ(First(*scene, mover, {2, 0}, InsidePolicy::kExit), 1);
    const SweepAnswers start = Sweep(*scene, mover, {32, 0});
    EXPECT_TRUE(start.hits[0].starts_inside);
    EXPECT_FALSE(start.hits[0].has_edge);
    EXPECT_EQ(start.hits[0].normal, Vec2{});
    const SweepAnswers exit = Sweep(*scene, mover, {32, 0}, All(InsidePolicy::kExit));
    EXPECT_TRUE(exit.hits[0].starts_inside);
    EXPECT_EQ(exit.hits[0].edge, (EdgeRef{0, 1}));
    EXPECT_EQ(exit.hits[0].normal, Vec2{});
  }
}

TEST(SweepTest, AMoverThatSwallowsThePolygonHoldsThePassageOpen) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(-1, -1, 1, 1)}}}).scene;
  const Shape box = ShapeOf({0, {Rectangle(-8, -8, 8, 8)}});
  EXPECT_EQ(First(*scene, box, {18, 0}, InsidePolicy::kExit), 0.5);
  PolygonSpec hollow{0, {Rectangle(-8, -8, 8, 8)}};
  hollow.solidity = Solidity::kBoundary;
  EXPECT_EQ(First(*scene, ShapeOf(hollow), {14, 0}), 0.5);
}

// The end of the passage and the re-entry lie between two neighbouring doubles.
TEST(SweepTest, AGapBelowTheResolutionOfTheFractionParts) {
  const double a = 0.75 * 0x1p52;
  const Scene::Ptr scene = MakeScene({{7, {{{{0, 0}, {a, 0}}}, {{{a + 2.5, 0}}}}}}).scene;
  const Vec2 d{0x1p52, 0};
  const double both = (a + 1.5) / 0x1p52;
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.125), d, InsidePolicy::kExit), both);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.125), d, InsidePolicy::kIgnore), both);
  // Discs that just meet leave none.
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.25), d, InsidePolicy::kIgnore), -1);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, 1.25), d, InsidePolicy::kExit), (a + 4) / 0x1p52);
}

// As small as a fraction gets: the start misses by the least that the numbers can express.
TEST(SweepTest, TinyFractionsAreNotZero) {
  const double tiny = 0x1p-140;
  const Scene::Ptr scene = MakeScene({{7, {{{{tiny * 3, -1}, {tiny * 3, 1}}}}}}).scene;
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, tiny * 2), {0x1p53, 0}), 0x1p-193);
  EXPECT_EQ(First(*scene, ShapeOf({0, {{{{tiny * 2, 0}}}}}), {0x1p53, 0}), 0x1p-193);
  EXPECT_EQ(First(*scene, CircleOf({0, 0}, tiny * 3), {0x1p53, 0}), 0);
}

TEST(SweepTest, ASweepOfLengthZeroIsAnOverlapTest) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(0, 0, 4, 4)}}}).scene;
  for (const Shape& mover : {ShapeOf({0, {Rectangle(4, 4, 6, 6)}}), CircleOf({5, 4}, 1)}) {
    EXPECT_EQ(First(*scene, mover, {0, 0}), 0);
    EXPECT_EQ(First(*scene, mover, {0, 0}, InsidePolicy::kExit), 0);
    EXPECT_EQ(First(*scene, mover, {0, 0}, InsidePolicy::kIgnore), -1);
    const SweepAnswers moved = Sweep(*scene, mover, {1, 0}, {1, 0});
    EXPECT_TRUE(moved.hits.empty());
  }
}

// --- modes, errors -------------------------------------------------------------------------------

TEST(SweepTest, AllKeepsTheFirstOfTheTotalOrder) {
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < 5; ++i) {
    specs.push_back({static_cast<uint64_t>(9 - i), {Rectangle(4 + i / 2, 0, 5 + i / 2, 1)}});
  }
  const Scene::Ptr scene = MakeScene(specs).scene;
  SweepOptions options = All();
  options.max_hits = 3;
  const Shape box = ShapeOf({0, {Rectangle(0, 0, 1, 1)}});
  const SweepAnswers answers = Sweep(*scene, box, {16, 0}, options);
  ASSERT_EQ(answers.hits.size(), 3u);
  EXPECT_EQ(answers.hits[0].polygon_id, 8u);
  EXPECT_EQ(answers.hits[1].polygon_id, 9u);
  EXPECT_EQ(answers.hits[2].polygon_id, 6u);
  EXPECT_EQ(answers.truncated, std::vector<uint32_t>{0});
  EXPECT_EQ(Sweep(*scene, box, {16, 0}, {CastMode::kAny}).counts[0], 1u);
  EXPECT_TRUE(Sweep(*scene, box, {16, 0}, {CastMode::kAny}).hits.empty());
  options.mask = 2;
  EXPECT_TRUE(Sweep(*scene, box, {16, 0}, options).hits.empty());
}

TEST(SweepTest, ABadItemIsNamedAndTheOthersAreAnswered) {
  const Scene::Ptr scene = MakeScene({{7, {Rectangle(10, -5, 12, 5)}}}).scene;
  const Shape shape = ShapeOf({0, {Rectangle(-4, -4, 4, 4)}});
  const double nan = std::nan("");
  const std::vector<uint32_t> index = {0, 0, 0, 1, 0, 0};
  const std::vector<double> x = {0, nan, 0, 0, -0x1p53, 0x1p53};
  const std::vector<double> y = {0, 0, 0, 0, 0, 0};
  const std::vector<double> to_x = {24, 24, 18, 18, 0x1p53, 0};
  const std::vector<double> to_y = {0, 0, HUGE_VAL, 0, 0, 0};
  SweepColumns columns;
  columns.movers.shapes = {&shape, 1};
  columns.movers.shape = index;
  columns.movers.x = x;
  columns.movers.y = y;
  columns.to_x = to_x;
  columns.to_y = to_y;
  SweepAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(SweepShapes(*scene, columns, {}, answers, meter));
  EXPECT_EQ(answers.counts[0], 1u);
  ASSERT_EQ(answers.errors.size(), 5u);
  EXPECT_EQ(answers.errors[0], (ItemError{1, ItemColumn::kX, ItemFault::kNotAccepted}));
  EXPECT_EQ(answers.errors[1], (ItemError{2, ItemColumn::kToY, ItemFault::kNotAccepted}));
  EXPECT_EQ(answers.errors[2], (ItemError{3, ItemColumn::kShape, ItemFault::kUnknownShape}));
  EXPECT_EQ(answers.errors[3], (ItemError{4, ItemColumn::kX, ItemFault::kPlacedOutOfRange}));
  EXPECT_EQ(answers.errors[4], (ItemError{5, ItemColumn::kX, ItemFault::kPlacedOutOfRange}));

  const Shape dot = CircleOf({0, 0}, 0);
  columns.movers.shapes = {&dot, 1};
  ASSERT_TRUE(SweepShapes(*scene, columns, {}, answers, meter));
  ASSERT_EQ(answers.errors.size(), 4u);
  EXPECT_EQ(answers.errors[3], (ItemError{4, ItemColumn::kToX, ItemFault::kNotAccepted}));
}

TEST(SweepTest, AMeterStopsTheWorkAnywhere) {
  Random random(0x3e7e4);
  const Grid grid;
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < 200; ++i) {
    specs.push_back(RandomPolygon(random, grid, static_cast<uint64_t>(i)));
  }
  const TestScene scene = MakeScene(specs);
  const Shape shapes[] = {ShapeOf(RandomPolygon(random, grid, 0)), CapsuleOf({1, 1}, {2, 3}, 1)};
  const std::vector<double> from(100, 0);
  const std::vector<double> to(100, 5);
  for (const Shape& shape : shapes) {
    const std::vector<uint32_t> index(100, 0);
    SweepColumns columns;
    columns.movers.shapes = {&shape, 1};
    columns.movers.shape = index;
    columns.movers.x = from;
    columns.movers.y = from;
    columns.to_x = to;
    columns.to_y = to;
    SweepAnswers answers;
    for (const InsidePolicy policy : kPolicies) {
      for (int checks = 0; checks < 20; ++checks) {
        int left = checks;
        WorkMeter meter([&left] { return left-- == 0; });
        EXPECT_FALSE(SweepShapes(*scene.scene, columns, All(policy), answers, meter));
      }
      WorkMeter rows;
      rows.set_max_rows(7);
      EXPECT_FALSE(SweepShapes(*scene.scene, columns, All(policy), answers, rows));
      EXPECT_TRUE(rows.out_of_rows());
    }
  }
}

// --- oracle: polygons ----------------------------------------------------------------------------

struct Expected {
  Rational fraction;
  const OracleShape* fixed;
  bool starts_inside = false;
  bool at_exit = false;
};

OracleShape MoverShape(const PolygonSpec& spec) { return OracleShape(ToOracle(spec)); }

std::vector<Expected> ExpectedHits(const TestScene& scene, const OracleShape& mover, Vec2 d,
                                   InsidePolicy policy) {
  std::vector<Expected> hits;
  for (const OracleShape& fixed : scene.oracle.shapes()) {
    const auto passages = SweepPassages(fixed, mover, {d.x, d.y});
    if (passages.empty()) continue;
    const bool inside = passages[0].begin == 0;
    if (inside && policy == InsidePolicy::kIgnore) {
      if (passages.size() > 1) hits.push_back({passages[1].begin, &fixed});
    } else if (inside && policy == InsidePolicy::kExit && !(d == Vec2{})) {
      hits.push_back({passages[0].end, &fixed, true, true});
    } else {
      hits.push_back({passages[0].begin, &fixed, inside});
    }
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Expected& a, const Expected& b) { return a.fraction < b.fraction; });
  return hits;
}

double Largest(const PolygonSpec& spec) {
  double largest = 0;
  for (const RingSpec& ring : spec.rings) {
    for (const Vec2 p : ring.vertices) {
      largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
    }
  }
  return largest;
}

// Whether the normal is perpendicular to an edge that meets another, on the side that d comes from,
// or is -d / |d|.
bool IsPlausibleNormal(Vec2 normal, const OracleShape& fixed, const OracleShape& mover, Vec2 d,
                       const Rational& t) {
  const Xy n{normal.x, normal.y};
  const RationalXy motion = Exact(Xy{d.x, d.y});
  if (IsUnitVectorWithin(n, Rational(-1) * motion, 1)) return true;
  for (const OracleEdgePair& pair : TouchingPairs(fixed, mover, {d.x, d.y}, t)) {
    for (const auto& edge : {fixed.edges()[pair.fixed], mover.edges()[pair.moving]}) {
      const RationalXy s = Exact(edge.to) - Exact(edge.from);
      const int side = Sign(Cross(motion, s));
      // (-s.y, s.x) . d = -(d x s) ... the direction against d.
      const RationalXy against = Rational(side) * RationalXy{-s.y, s.x};
      if (side != 0 && IsUnitVectorWithin(n, against, 1)) return true;
    }
  }
  return false;
}

void ExpectMeasures(const SweepHit& hit, const Expected& expected, const OracleShape& mover, Vec2 d,
                    double largest) {
  const Xy motion{d.x, d.y};
  const Rational& t = expected.fraction;
  const bool reaches_end = expected.at_exit && t == 1;
  const auto edge = FirstEdgeTouched(*expected.fixed, mover, motion, t);
  EXPECT_EQ(hit.has_edge, edge.has_value() && !reaches_end);
  if (hit.has_edge && edge) {
    EXPECT_EQ(hit.edge.ring, edge->ring);
    EXPECT_EQ(hit.edge.edge, edge->edge);
  }
  const Rational tolerance = 4 * Exact(Ulp(largest));
  const RationalXy point = Exact(Xy{hit.point.x, hit.point.y});
  EXPECT_TRUE(IsNear(*expected.fixed, point, tolerance));
  EXPECT_TRUE(IsNear(mover, point - t * Exact(motion), tolerance));
  if (hit.starts_inside) {
    EXPECT_EQ(hit.normal, Vec2{});
  } else {
    EXPECT_TRUE(IsPlausibleNormal(hit.normal, *expected.fixed, mover, d, t));
  }
}

void ExpectModesAgree(const TestScene& scene, const Shape& shape, Vec2 d, InsidePolicy policy,
                      const SweepAnswers& all) {
  const SweepAnswers closest = Sweep(*scene.scene, shape, d, {CastMode::kClosest, policy});
  EXPECT_EQ(closest.counts[0], all.hits.empty() ? 0u : 1u);
  if (!closest.hits.empty() && !all.hits.empty()) ExpectSameHit(closest.hits[0], all.hits[0]);
  const SweepAnswers any = Sweep(*scene.scene, shape, d, {CastMode::kAny, policy});
  EXPECT_EQ(any.counts[0], closest.counts[0]);
  SweepOptions one = All(policy);
  one.max_hits = 1;
  const SweepAnswers truncated = Sweep(*scene.scene, shape, d, one);
  EXPECT_EQ(truncated.counts[0], closest.counts[0]);
  EXPECT_EQ(truncated.truncated.size(), all.hits.size() > 1 ? 1u : 0u);
}

void ExpectPolygonSweep(const TestScene& scene, const PolygonSpec& spec, const Shape& shape,
                        Vec2 d) {
  const OracleShape mover = MoverShape(spec);
  double largest = std::max({Largest(spec), std::abs(d.x), std::abs(d.y)});
  for (const PolygonSpec& fixed : scene.specs) largest = std::max(largest, Largest(fixed));
  for (const InsidePolicy policy : kPolicies) {
    SCOPED_TRACE(absl::StrFormat("policy %d", static_cast<int>(policy)));
    const auto expected = ExpectedHits(scene, mover, d, policy);
    const SweepAnswers all = Sweep(*scene.scene, shape, d, All(policy));
    ASSERT_EQ(all.hits.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const SweepHit& hit = all.hits[i];
      EXPECT_EQ(hit.polygon_id, expected[i].fixed->id());
      EXPECT_EQ(hit.fraction, NearestDouble(expected[i].fraction));
      EXPECT_FALSE(std::signbit(hit.fraction));
      EXPECT_EQ(hit.starts_inside, expected[i].starts_inside);
      ExpectMeasures(hit, expected[i], mover, d, largest);
    }
    ExpectModesAgree(scene, shape, d, policy, all);
  }
}

// Grids from all over the accepted range. Displacements are accepted too.
Grid RandomGrid(Random& random) {
  constexpr double kScales[] = {1, 1, 1, 0x1p-138, 0x1p48, 0.1};
  Grid grid;
  grid.size = 4 + random.Below(4);
  grid.scale = kScales[random.Below(6)];
  grid.percent_off = random.Below(3) == 0 ? 10 : 0;
  grid.mixed = random.Below(12) == 0;
  return grid;
}

Vec2 RandomDisplacement(Random& random, const Grid& grid) {
  if (grid.mixed) return Normalized(grid.Point(random));
  const auto component = [&] {
    const double value = grid.Coordinate(random) - grid.scale * random.Below(grid.size);
    return Normalized(value);
  };
  const double x = component();
  return {x, component()};
}

PolygonSpec Displaced(PolygonSpec spec, const Grid& grid, Random& random) {
  if (grid.mixed) return spec;
  const double x = grid.scale * (random.Below(2 * grid.size) - grid.size);
  const double y = grid.scale * (random.Below(2 * grid.size) - grid.size);
  for (RingSpec& ring : spec.rings) {
    for (Vec2& p : ring.vertices) p = {p.x + x, p.y + y};
  }
  return spec;
}

TEST(SweepOracleTest, PolygonsAgreeWithRationals) {
  const int cases = Repeats(70, 20000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x5eed0000 + static_cast<uint64_t>(i));
    const Grid grid = RandomGrid(random);
    const TestScene scene = RandomScene(random, grid);
    const PolygonSpec spec = Displaced(RandomPolygon(random, grid, 0), grid, random);
    const Vec2 d = RandomDisplacement(random, grid);
    SCOPED_TRACE(
        absl::StrFormat("case %d%smover %sd {%a, %a}", i, scene.ToCode(), ToCode(spec), d.x, d.y));
    ExpectPolygonSweep(scene, spec, ShapeOf(spec), d);
  }
}

TEST(SweepOracleTest, CapsulesOfRadiusZeroAgreeWithRationals) {
  const int cases = Repeats(100, 20000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xca95000 + static_cast<uint64_t>(i));
    const Grid grid = RandomGrid(random);
    const TestScene scene = RandomScene(random, grid);
    PolygonSpec spec;
    const Vec2 a = grid.Point(random);
    const Vec2 b = random.Below(2) == 0 ? a : grid.Point(random);
    spec.rings = {{{a, b}, true}};
    spec.solidity = Solidity::kBoundary;
    const Vec2 d = RandomDisplacement(random, grid);
    SCOPED_TRACE(
        absl::StrFormat("case %d%smover %sd {%a, %a}", i, scene.ToCode(), ToCode(spec), d.x, d.y));
    ExpectPolygonSweep(scene, spec, CapsuleOf(a, b, 0), d);
  }
}

// --- oracle: capsules ----------------------------------------------------------------------------

struct RoundCase {
  OracleCapsule mover;
  Xy d;
  Rational tolerance;
};

// The squared distance from a point to the displaced axis.
Rational AxisDistance2(const RoundCase& c, const RationalXy& point, const Rational& t) {
  const RationalXy by = t * Exact(c.d);
  return SquaredDistance(point, Exact(c.mover.a) + by, Exact(c.mover.b) + by);
}

void ExpectSharedPoint(const SweepHit& hit, const OracleShape& fixed, const RoundCase& c) {
  const RationalXy point = Exact(Xy{hit.point.x, hit.point.y});
  EXPECT_TRUE(IsNear(fixed, point, c.tolerance));
  const Rational reach = Exact(c.mover.radius) + c.tolerance;
  EXPECT_LE(AxisDistance2(c, point, Exact(hit.fraction)), reach * reach);
}

void ExpectRoundHit(const SweepHit& hit, const OracleShape& fixed, const RoundCase& c) {
  const Rational t = Exact(hit.fraction);
  EXPECT_TRUE(hit.fraction >= 0 && hit.fraction <= 1);
  std::optional<OracleEdge> edge;
  if (hit.starts_inside) {
    EXPECT_EQ(hit.fraction, 0);
    EXPECT_TRUE(IsInContact(fixed, c.mover, c.d, 0));
    edge = FirstEdgeReached(fixed, c.mover, c.d, 0, 0);
    EXPECT_EQ(hit.normal, Vec2{});
  } else {
    edge = FirstEdgeReached(fixed, c.mover, c.d, 0, t);
    EXPECT_TRUE(edge.has_value());
    EXPECT_FALSE(IsInContact(fixed, c.mover, c.d, 0));
    const Rational before = Exact(std::nextafter(hit.fraction, 0));
    EXPECT_FALSE(FirstEdgeReached(fixed, c.mover, c.d, 0, before));
  }
  EXPECT_EQ(hit.has_edge, edge.has_value());
  if (edge && hit.has_edge) {
    EXPECT_EQ(hit.edge.ring, edge->ring);
    EXPECT_EQ(hit.edge.edge, edge->edge);
  }
  ExpectSharedPoint(hit, fixed, c);
  if (hit.starts_inside) return;
  const RationalXy point = Exact(Xy{hit.point.x, hit.point.y});
  const RationalXy normal = Exact(Xy{hit.normal.x, hit.normal.y});
  EXPECT_LE(abs(Dot(normal, normal) - 1), Exact(0x1p-50));
  EXPECT_LE(AxisDistance2(c, point + Exact(c.mover.radius) * normal, t),
            c.tolerance * c.tolerance * 4);
}

double RandomRadius(Random& random, const Grid& grid) {
  if (grid.mixed) return std::max(0x1p-140, std::abs(grid.Coordinate(random)));
  constexpr double kCommon[] = {1, 2, 0.5, 5, 1e-9, 1.25};
  const double radius = grid.scale * kCommon[random.Below(6)];
  return std::max(radius, 0x1p-140);
}

RoundCase RandomRoundCase(Random& random, const Grid& grid, const TestScene& scene) {
  const Vec2 a = grid.Point(random);
  const Vec2 b = random.Below(2) == 0 ? a : grid.Point(random);
  Vec2 d = RandomDisplacement(random, grid);
  if (d == Vec2{}) d.x = std::max(grid.scale, 0x1p-140);
  const double radius = RandomRadius(random, grid);
  double largest = std::max({std::abs(d.x), std::abs(d.y), radius, std::abs(a.x), std::abs(a.y),
                             std::abs(b.x), std::abs(b.y)});
  for (const PolygonSpec& fixed : scene.specs) largest = std::max(largest, Largest(fixed));
  const OracleCapsule mover{Flushed(Xy{a.x, a.y}), Flushed(Xy{b.x, b.y}), radius};
  return {mover, {d.x, d.y}, 4 * Exact(Ulp(largest))};
}

std::string ToCode(const RoundCase& c) {
  return absl::StrFormat("a {%a, %a} b {%a, %a} r %a d {%a, %a}", c.mover.a.x, c.mover.a.y,
                         c.mover.b.x, c.mover.b.y, c.mover.radius, c.d.x, c.d.y);
}

Shape ShapeOf(const OracleCapsule& capsule) {
  return CapsuleOf({capsule.a.x, capsule.a.y}, {capsule.b.x, capsule.b.y}, capsule.radius);
}

TEST(SweepOracleTest, RoundShapesAgreeWithRationals) {
  const int cases = Repeats(300, 40000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x40420000 + static_cast<uint64_t>(i));
    const Grid grid = RandomGrid(random);
    const TestScene scene = RandomScene(random, grid);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    SCOPED_TRACE(absl::StrFormat("case %d%s%s", i, scene.ToCode(), ToCode(c)));
    const SweepAnswers all = Sweep(*scene.scene, ShapeOf(c.mover), {c.d.x, c.d.y}, All());
    size_t hits = 0;
    for (const OracleShape& fixed : scene.oracle.shapes()) {
      const bool touches = IsInContact(fixed, c.mover, c.d, 0) ||
                           FirstEdgeReached(fixed, c.mover, c.d, 0, 1).has_value();
      const auto hit = std::find_if(all.hits.begin(), all.hits.end(),
                                    [&](const SweepHit& h) { return h.polygon_id == fixed.id(); });
      EXPECT_EQ(hit != all.hits.end(), touches);
      if (hit == all.hits.end()) continue;
      ++hits;
      ExpectRoundHit(*hit, fixed, c);
    }
    EXPECT_EQ(hits, all.hits.size());
    for (size_t k = 1; k < all.hits.size(); ++k) {
      const SweepHit& a = all.hits[k - 1];
      const SweepHit& b = all.hits[k];
      EXPECT_TRUE(a.fraction < b.fraction ||
                  (a.fraction == b.fraction && a.polygon_id < b.polygon_id));
    }
    ExpectModesAgree(scene, ShapeOf(c.mover), {c.d.x, c.d.y}, InsidePolicy::kReportStart, all);
  }
}

double RoundedUp(const Rational& value) {
  double result = NearestDouble(value);
  if (Exact(result) < value) result = std::nextafter(result, HUGE_VAL);
  return result;
}

bool IsRoundedUp(double fraction, const OracleBracket& bracket) {
  return fraction >= RoundedUp(bracket.low) && fraction <= RoundedUp(bracket.high);
}

TEST(SweepOracleTest, RoundPassagesAgreeWithRationals) {
  const int cases = Repeats(15, 1500);
  int told = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x9a55a9e0000 + static_cast<uint64_t>(i));
    const Grid grid{5, i % 4 == 1 ? 0x1p-138 : 1, i % 3 == 0 ? 10 : 0};
    const TestScene scene = RandomScene(random, grid);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    const Vec2 d{c.d.x, c.d.y};
    SCOPED_TRACE(absl::StrFormat("case %d%s%s", i, scene.ToCode(), ToCode(c)));
    const SweepAnswers ignore =
        Sweep(*scene.scene, ShapeOf(c.mover), d, All(InsidePolicy::kIgnore));
    const SweepAnswers exit = Sweep(*scene.scene, ShapeOf(c.mover), d, All(InsidePolicy::kExit));
    for (const OracleShape& fixed : scene.oracle.shapes()) {
      if (!IsInContact(fixed, c.mover, c.d, 0)) continue;
      const auto passages = RoundPassages(fixed, c.mover, c.d);
      if (!passages) continue;
      ++told;
      const auto hit_of = [&](const SweepAnswers& answers) {
        return std::find_if(answers.hits.begin(), answers.hits.end(),
                            [&](const SweepHit& h) { return h.polygon_id == fixed.id(); });
      };
      const auto left = hit_of(exit);
      ASSERT_NE(left, exit.hits.end());
      EXPECT_TRUE(IsRoundedUp(left->fraction, (*passages)[0].end)) << left->fraction;
      EXPECT_TRUE(left->starts_inside);
      ExpectSharedPoint(*left, fixed, c);
      const auto entered = hit_of(ignore);
      ASSERT_EQ(entered != ignore.hits.end(), passages->size() > 1);
      if (passages->size() <= 1) continue;
      EXPECT_TRUE(IsRoundedUp(entered->fraction, (*passages)[1].begin)) << entered->fraction;
      EXPECT_FALSE(entered->starts_inside);
      ExpectSharedPoint(*entered, fixed, c);
    }
  }
  EXPECT_GT(told, cases / 2);
}

// --- laws ----------------------------------------------------------------------------------------

TEST(SweepLawTest, FractionZeroMeansOverlapAtTheStart) {
  const int cases = Repeats(2000, 200000);
  for (int i = 0; i < cases; ++i) {
    Random random(0x0e7a0000 + static_cast<uint64_t>(i));
    const Grid grid = RandomGrid(random);
    const TestScene scene = RandomScene(random, grid);
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Vec2 d = RandomDisplacement(random, grid);
    const Polygon polygon = Polygon::Create(spec).value();
    const double zero = 0;
    OverlapAnswers overlap;
    WorkMeter meter;
    const PolygonColumns at_start{{&polygon, 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}};
    ASSERT_TRUE(OverlapPolygons(*scene.scene, at_start, {}, overlap, meter));
    const auto starts = [](const SweepAnswers& answers) {
      std::vector<uint64_t> ids;
      for (const SweepHit& hit : answers.hits) {
        if (hit.fraction == 0 && hit.starts_inside) ids.push_back(hit.polygon_id);
      }
      return ids;
    };
    ASSERT_EQ(starts(Sweep(*scene.scene, Shape(polygon), d, All())), overlap.polygon_ids) << i;
    const Vec2 center = Normalized(grid.Point(random));
    const double radius = RandomRadius(random, grid);
    ASSERT_TRUE(OverlapCircles(*scene.scene, {{&center.x, 1}, {&center.y, 1}, {&radius, 1}}, {},
                               overlap, meter));
    ASSERT_EQ(starts(Sweep(*scene.scene, CircleOf(center, radius), d, All())), overlap.polygon_ids)
        << i;
  }
}

TEST(SweepLawTest, APointSweepsAsASegmentIsCast) {
  const int cases = Repeats(2000, 200000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xca570000 + static_cast<uint64_t>(i));
    Grid grid;
    grid.percent_off = 0;
    const TestScene scene = RandomScene(random, grid);
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    for (const InsidePolicy policy : kPolicies) {
      CastAnswers cast;
      WorkMeter meter;
      CastOptions options;
      options.mode = CastMode::kAll;
      options.inside_policy = policy;
      if (policy == InsidePolicy::kIgnore && a == b) continue;
      ASSERT_TRUE(CastSegments(*scene.scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, options,
                               cast, meter));
      const SweepAnswers sweep = Sweep(*scene.scene, CircleOf({0, 0}, 0), a, b, All(policy));
      SCOPED_TRACE(
          absl::StrFormat("case %d%s{%a, %a} to {%a, %a}", i, scene.ToCode(), a.x, a.y, b.x, b.y));
      ASSERT_EQ(sweep.hits.size(), cast.hits.size());
      for (size_t k = 0; k < sweep.hits.size(); ++k) {
        EXPECT_EQ(sweep.hits[k].polygon_id, cast.hits[k].polygon_id);
        EXPECT_EQ(sweep.hits[k].fraction, cast.hits[k].fraction);
        EXPECT_EQ(sweep.hits[k].starts_inside, cast.hits[k].starts_inside);
        const Vec2 normal = cast.hits[k].normal;
        if (!sweep.hits[k].starts_inside && !(normal == Vec2{})) {
          EXPECT_EQ(sweep.hits[k].normal, normal);
        }
      }
    }
  }
}

TEST(SweepLawTest, TheWayBackHitsTheSamePolygons) {
  const int cases = Repeats(2000, 200000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xbac40000 + static_cast<uint64_t>(i));
    Grid grid;
    grid.percent_off = 0;
    const TestScene scene = RandomScene(random, grid);
    const Shape shape = random.Below(2) == 0 ? ShapeOf(RandomPolygon(random, grid, 0))
                                             : CapsuleOf(grid.Point(random), grid.Point(random),
                                                         RandomRadius(random, grid));
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    const auto ids = [&](Vec2 from, Vec2 to) {
      std::vector<uint64_t> found;
      for (const SweepHit& hit : Sweep(*scene.scene, shape, from, to, All()).hits) {
        found.push_back(hit.polygon_id);
      }
      std::sort(found.begin(), found.end());
      return found;
    };
    EXPECT_EQ(ids(a, b), ids(b, a)) << i;
  }
}

PolygonSpec ScaledSpec(PolygonSpec spec, double factor) {
  for (RingSpec& ring : spec.rings) {
    for (Vec2& p : ring.vertices) p = {p.x * factor, p.y * factor};
  }
  return spec;
}

TEST(SweepLawTest, APowerOfTwoChangesNothingButTheScale) {
  const int cases = Repeats(150, 20000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x5ca1e000 + static_cast<uint64_t>(i));
    const Grid grid;
    const TestScene scene = RandomScene(random, grid);
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    const double radius = RandomRadius(random, grid);
    const Vec2 d = RandomDisplacement(random, grid);
    const double factor = std::ldexp(1, random.Below(80) - 35);
    std::vector<PolygonSpec> specs;
    for (const PolygonSpec& fixed : scene.specs) specs.push_back(ScaledSpec(fixed, factor));
    const TestScene scaled = MakeScene(specs);
    const auto grown = [&](Vec2 p) { return Vec2{p.x * factor, p.y * factor}; };
    const Shape shapes[] = {ShapeOf(spec), CapsuleOf(a, b, radius)};
    const Shape grown_shapes[] = {ShapeOf(ScaledSpec(spec, factor)),
                                  CapsuleOf(grown(a), grown(b), radius * factor)};
    for (int k = 0; k < 2; ++k) {
      for (const InsidePolicy policy : kPolicies) {
        const SweepAnswers first = Sweep(*scene.scene, shapes[k], d, All(policy));
        SweepAnswers second = Sweep(*scaled.scene, grown_shapes[k], grown(d), All(policy));
        ASSERT_EQ(first.hits.size(), second.hits.size()) << i;
        for (size_t h = 0; h < first.hits.size(); ++h) {
          SweepHit expected = first.hits[h];
          expected.point = grown(expected.point);
          SCOPED_TRACE(absl::StrFormat("case %d shape %d", i, k));
          ExpectSameHit(expected, second.hits[h]);
        }
      }
    }
  }
}

// The same set with some vertices twice and some edges cut in the middle.
PolygonSpec Refined(PolygonSpec spec, Random& random) {
  for (RingSpec& ring : spec.rings) {
    std::vector<Vec2> vertices;
    for (size_t i = 0; i < ring.vertices.size(); ++i) {
      const Vec2 p = ring.vertices[i];
      const bool last = i + 1 == ring.vertices.size();
      vertices.push_back(p);
      if (random.Below(4) == 0) vertices.push_back(p);
      if (last && ring.open) continue;
      const Vec2 q = ring.vertices[last ? 0 : i + 1];
      if (random.Below(3) == 0) vertices.push_back({(p.x + q.x) / 2, (p.y + q.y) / 2});
    }
    if (!ring.open && vertices.size() > 1) vertices.push_back(vertices.front());
    ring.vertices = vertices;
  }
  return spec;
}

TEST(SweepLawTest, DuplicateAndCollinearVerticesChangeNoFraction) {
  const int cases = Repeats(100, 10000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xd0b1e000 + static_cast<uint64_t>(i));
    Grid grid;
    grid.percent_off = 0;
    const TestScene scene = RandomScene(random, grid);
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    const Vec2 d{c.d.x, c.d.y};
    std::vector<PolygonSpec> specs;
    for (const PolygonSpec& fixed : scene.specs) specs.push_back(Refined(fixed, random));
    const TestScene refined = MakeScene(specs);
    const auto expect_same = [&](const Shape& first, const Shape& second) {
      for (const InsidePolicy policy : kPolicies) {
        const SweepAnswers a = Sweep(*scene.scene, first, d, All(policy));
        const SweepAnswers b = Sweep(*refined.scene, second, d, All(policy));
        ASSERT_EQ(a.hits.size(), b.hits.size()) << i;
        for (size_t h = 0; h < a.hits.size(); ++h) {
          EXPECT_EQ(a.hits[h].fraction, b.hits[h].fraction) << i;
          EXPECT_EQ(a.hits[h].polygon_id, b.hits[h].polygon_id) << i;
          EXPECT_EQ(a.hits[h].starts_inside, b.hits[h].starts_inside) << i;
        }
      }
    };
    expect_same(ShapeOf(spec), ShapeOf(Refined(spec, random)));
    expect_same(ShapeOf(c.mover), ShapeOf(c.mover));
  }
}

TEST(SweepLawTest, ASweepIsThatOfThePlacedShape) {
  const int cases = Repeats(500, 20000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x91ace000 + static_cast<uint64_t>(i));
    Grid grid;
    grid.scale = 0.1;
    const TestScene scene = RandomScene(random, grid);
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Vec2 from = grid.Point(random);
    const Vec2 to = grid.Point(random);
    const Pose pose{from, 0.6, 0.8};
    PolygonSpec placed = spec;
    for (RingSpec& ring : placed.rings) {
      for (Vec2& p : ring.vertices) p = Placed(pose, Normalized(p));
    }
    SweepColumns columns;
    const Shape shape = ShapeOf(spec);
    columns.movers.shapes = {&shape, 1};
    columns.movers.x = {&from.x, 1};
    columns.movers.y = {&from.y, 1};
    columns.movers.c = {&pose.c, 1};
    columns.movers.s = {&pose.s, 1};
    columns.to_x = {&to.x, 1};
    columns.to_y = {&to.y, 1};
    SweepAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(SweepShapes(*scene.scene, columns, All(), answers, meter));
    const Vec2 d{to.x - from.x, to.y - from.y};
    const SweepAnswers expected = Sweep(*scene.scene, ShapeOf(placed), d, All());
    ASSERT_EQ(answers.hits.size(), expected.hits.size()) << i;
    for (size_t k = 0; k < answers.hits.size(); ++k) {
      ExpectSameHit(answers.hits[k], expected.hits[k]);
    }
  }
}

}  // namespace
}  // namespace carom::testing
