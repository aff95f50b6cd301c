// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Arcs: worked examples, laws, and random arcs against the rational oracle.

#include "carom/arc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_arc.h"
#include "tests/support/repeats.h"

namespace carom::testing::arc_test {
namespace {

struct Arc {
  Vec2 p, v, a;
  double duration = 0;

  std::string ToCode() const {
    return absl::StrFormat("Arc{{%a, %a}, {%a, %a}, {%a, %a}, %a}", p.x, p.y, v.x, v.y, a.x, a.y,
                           duration);
  }
};

ArcAnswers Ask(const Scene& scene, const Arc& arc, const ArcOptions& options = {}) {
  ArcAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastArcs(scene,
                       {{&arc.p.x, 1},
                        {&arc.p.y, 1},
                        {&arc.v.x, 1},
                        {&arc.v.y, 1},
                        {&arc.a.x, 1},
                        {&arc.a.y, 1},
                        {&arc.duration, 1}},
                       options, answers, meter));
  EXPECT_EQ(answers.counts.size(), 1u);
  return answers;
}

ArcOptions Policy(InsidePolicy policy) {
  ArcOptions options;
  options.inside_policy = policy;
  return options;
}

PolygonSpec Square(uint64_t id, double x, double y, double side) {
  return {id, {{{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}}, false}}};
}

PolygonSpec Chain(uint64_t id, std::vector<Vec2> vertices) {
  PolygonSpec spec{id, {{std::move(vertices), true}}};
  spec.solidity = Solidity::kBoundary;
  return spec;
}

// y = 8 - t^2 / 2 meets y = 0 at t = 4.
TEST(ArcTest, AFallingBulletHitsTheGround) {
  const TestScene scene = MakeScene({Square(7, 0, -10, 10)});
  const ArcAnswers answers = Ask(*scene.scene, {{1, 8}, {1, 0}, {0, -1}, 10});
  ASSERT_EQ(answers.hits.size(), 1u);
  const ArcHit& hit = answers.hits[0];
  EXPECT_EQ(hit.polygon_id, 7u);
  EXPECT_EQ(hit.time, 4);
  EXPECT_FALSE(hit.starts_inside);
  ASSERT_TRUE(hit.has_edge);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 2}));
  EXPECT_EQ(hit.point, (Vec2{5, 0}));
  EXPECT_EQ(hit.normal, (Vec2{0, 1}));
}

// y = 1 - t^2/2: t = sqrt 2, rounded up.
TEST(ArcTest, AnIrrationalTimeIsRoundedUp) {
  const TestScene scene = MakeScene({Square(1, -5, -10, 10)});
  const ArcAnswers answers = Ask(*scene.scene, {{0, 1}, {0, 0}, {0, -1}, 3});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].time, 0x1.6a09e667f3bcdp+0);
  EXPECT_EQ(answers.counts[0], 1u);
}

TEST(ArcTest, ATopThatTouchesIsAHitAndOneUlpLessIsNot) {
  const TestScene scene = MakeScene({Chain(3, {{-8, 2}, {8, 2}})});
  // y = 2 t - t^2/2 has its top, 2, at t = 2.
  const ArcAnswers touch = Ask(*scene.scene, {{0, 0}, {1, 2}, {0, -1}, 9});
  ASSERT_EQ(touch.hits.size(), 1u);
  EXPECT_EQ(touch.hits[0].time, 2);
  EXPECT_EQ(touch.hits[0].point, (Vec2{2, 2}));
  EXPECT_EQ(touch.hits[0].normal, (Vec2{0, 0}));
  EXPECT_TRUE(Ask(*scene.scene, {{0, 0}, {1, std::nextafter(2.0, 0.0)}, {0, -1}, 9}).hits.empty());
  const ArcAnswers above = Ask(*scene.scene, {{0, 0}, {1, std::nextafter(2.0, 3.0)}, {0, -1}, 9});
  ASSERT_EQ(above.hits.size(), 1u);
  EXPECT_LT(above.hits[0].time, 2);
  EXPECT_EQ(above.hits[0].normal, (Vec2{0, -1}));
}

TEST(ArcTest, EndsOfTheDurationBelongToIt) {
  const TestScene scene = MakeScene({Square(7, 0, -10, 10)});
  EXPECT_EQ(Ask(*scene.scene, {{1, 8}, {1, 0}, {0, -1}, 4}).counts[0], 1u);
  EXPECT_EQ(Ask(*scene.scene, {{1, 8}, {1, 0}, {0, -1}, std::nextafter(4.0, 0.0)}).counts[0], 0u);
  EXPECT_EQ(Ask(*scene.scene, {{1, 0}, {1, 0}, {0, -1}, 0}).counts[0], 1u);
  EXPECT_EQ(Ask(*scene.scene, {{1, 1}, {1, 0}, {0, -1}, 0}).counts[0], 0u);
}

TEST(ArcTest, AStartInsideFollowsThePolicy) {
  const TestScene scene = MakeScene({Square(1, 0, 0, 4)});
  // Up and out at the top at t = 4 - sqrt 12, back in at 4 + sqrt 12.
  const Arc arc{{2, 2}, {0, 4}, {0, -1}, 100};
  const ArcAnswers start = Ask(*scene.scene, arc, Policy(InsidePolicy::kReportStart));
  ASSERT_EQ(start.hits.size(), 1u);
  EXPECT_TRUE(start.hits[0].starts_inside);
  EXPECT_FALSE(start.hits[0].has_edge);
  EXPECT_EQ(start.hits[0].time, 0);
  EXPECT_EQ(start.hits[0].point, (Vec2{2, 2}));
  const ArcAnswers exit = Ask(*scene.scene, arc, Policy(InsidePolicy::kExit));
  ASSERT_EQ(exit.hits.size(), 1u);
  EXPECT_NEAR(exit.hits[0].time, 4 - std::sqrt(12.0), 1e-15);
  EXPECT_EQ(exit.hits[0].edge, (EdgeRef{0, 2}));
  EXPECT_EQ(exit.hits[0].normal, (Vec2{0, 1}));
  const ArcAnswers again = Ask(*scene.scene, arc, Policy(InsidePolicy::kIgnore));
  ASSERT_EQ(again.hits.size(), 1u);
  EXPECT_NEAR(again.hits[0].time, 4 + std::sqrt(12.0), 1e-14);
  EXPECT_EQ(again.hits[0].normal, (Vec2{0, 1}));
  EXPECT_FALSE(again.hits[0].starts_inside);
  const ArcAnswers stay =
      Ask(*scene.scene, {{2, 2}, {0, 0}, {0, 0}, 5}, Policy(InsidePolicy::kExit));
  ASSERT_EQ(stay.hits.size(), 1u);
  EXPECT_EQ(stay.hits[0].time, 5);
  EXPECT_FALSE(stay.hits[0].has_edge);
}

// x = 4 - 4 t + t^2/2 runs back and forth on y = 0: it is on [0, 1] twice, and between at x = -4.
TEST(ArcTest, TurningBackOnTheLineOfAnEdge) {
  const TestScene scene = MakeScene({Chain(1, {{0, 0}, {1, 0}})});
  const Arc arc{{4, 0}, {-4, 0}, {1, 0}, 100};
  const ArcAnswers first = Ask(*scene.scene, arc);
  ASSERT_EQ(first.hits.size(), 1u);
  EXPECT_NEAR(first.hits[0].time, 4 - std::sqrt(10.0), 1e-15);
  EXPECT_EQ(first.hits[0].normal, (Vec2{0, 0}));
  const Arc from_edge{{0.5, 0}, {-4, 0}, {1, 0}, 100};
  const ArcAnswers exit = Ask(*scene.scene, from_edge, Policy(InsidePolicy::kExit));
  ASSERT_EQ(exit.hits.size(), 1u);
  EXPECT_NEAR(exit.hits[0].time, 4 - std::sqrt(15.0), 1e-15);
  const ArcAnswers again = Ask(*scene.scene, from_edge, Policy(InsidePolicy::kIgnore));
  ASSERT_EQ(again.hits.size(), 1u);
  EXPECT_NEAR(again.hits[0].time, 4 + std::sqrt(15.0), 1e-14);
}

TEST(ArcTest, EqualTimesGoByPolygonId) {
  const TestScene scene = MakeScene({Square(9, 0, -4, 4), Square(4, 4, -4, 4)});
  ArcOptions options;
  options.mode = CastMode::kAll;
  const Arc arc{{4, 2}, {0, 0}, {0, -1}, 9};
  const ArcAnswers all = Ask(*scene.scene, arc, options);
  ASSERT_EQ(all.hits.size(), 2u);
  EXPECT_EQ(all.hits[0].polygon_id, 4u);
  EXPECT_EQ(all.hits[1].polygon_id, 9u);
  EXPECT_EQ(all.hits[0].time, 2);
  EXPECT_TRUE(all.truncated.empty());
  options.max_hits = 1;
  const ArcAnswers one = Ask(*scene.scene, arc, options);
  ASSERT_EQ(one.hits.size(), 1u);
  EXPECT_EQ(one.hits[0].polygon_id, 4u);
  EXPECT_EQ(one.truncated, std::vector<uint32_t>{0});
}

TEST(ArcTest, ABadItemIsNamedAndTheOthersAreAnswered) {
  const TestScene scene = MakeScene({Square(7, 0, -10, 10)});
  const double nan = std::nan("");
  const double huge = 0x1p54;
  const std::vector<double> x{1, nan, 1, 1, 1, 1, 1, 1, 1}, y{8, 8, huge, 8, 8, 8, 8, 8, 8},
      vx{1, 1, 1, nan, 1, 1, 1, 1, 1}, vy{0, 0, 0, 0, -huge, 0, 0, 0, 0},
      ax{0, 0, 0, 0, 0, nan, 0, 0, 0}, ay{-1, -1, -1, -1, -1, -1, nan, -1, -1},
      duration{9, 9, 9, 9, 9, 9, 9, -1, HUGE_VAL};
  ArcAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(CastArcs(*scene.scene, {x, y, vx, vy, ax, ay, duration}, {}, answers, meter));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 0, 0, 0, 0}));
  const std::vector<ItemError> errors{{1, ItemColumn::kX, ItemFault::kNotAccepted},
                                      {2, ItemColumn::kY, ItemFault::kNotAccepted},
                                      {3, ItemColumn::kVx, ItemFault::kNotAccepted},
                                      {4, ItemColumn::kVy, ItemFault::kNotAccepted},
                                      {5, ItemColumn::kAx, ItemFault::kNotAccepted},
                                      {6, ItemColumn::kAy, ItemFault::kNotAccepted},
                                      {7, ItemColumn::kDuration, ItemFault::kNegativeLength},
                                      {8, ItemColumn::kDuration, ItemFault::kNotAccepted}};
  EXPECT_EQ(answers.errors, errors);
}

TEST(ArcTest, TheMeterStopsTheWorkAndTheMaskSkipsPolygons) {
  const TestScene scene = MakeScene({Square(7, 0, -10, 10)});
  const std::vector<double> x(5000, 1), y(5000, 8), zero(5000, 0), down(5000, -1), nine(5000, 9);
  ArcAnswers answers;
  WorkMeter stopping([] { return true; });
  EXPECT_FALSE(CastArcs(*scene.scene, {x, y, zero, zero, zero, down, nine}, {}, answers, stopping));
  WorkMeter rows;
  rows.set_max_rows(3);
  EXPECT_FALSE(CastArcs(*scene.scene, {x, y, zero, zero, zero, down, nine}, {}, answers, rows));
  EXPECT_TRUE(rows.out_of_rows());
  ArcOptions options;
  options.mask = 2;
  EXPECT_EQ(Ask(*scene.scene, {{1, 8}, {1, 0}, {0, -1}, 10}, options).counts[0], 0u);
}

OracleInside ToOracle(InsidePolicy policy) {
  if (policy == InsidePolicy::kReportStart) return OracleInside::kReportStart;
  return policy == InsidePolicy::kIgnore ? OracleInside::kIgnore : OracleInside::kExit;
}

// How far off the coordinate is, in ulp of the exact one.
double UlpsOff(const Rational& want, double got, const Rational& slack) {
  const Rational off = abs(Exact(got) - want);
  if (off <= slack) return 0;
  return static_cast<double>(Rational((off - slack) / Exact(Ulp(NearestDouble(want)))));
}

// The promise is 1 ulp, and slightly above 1/2 what is done. The oracle's time errs by 2^-200 of
// itself.
void ExpectPoint(const Arc& arc, const RationalXy& want, const ArcHit& got) {
  const Rational t = Exact(got.time);
  const auto slack = [&t](double v, double a) -> Rational {
    return (abs(Exact(v)) * t + abs(Exact(a)) * t * t) * Exact(0x1p-198);
  };
  EXPECT_LE(UlpsOff(want.x, got.point.x, slack(arc.v.x, arc.a.x)), 0.501) << got.point.x;
  EXPECT_LE(UlpsOff(want.y, got.point.y, slack(arc.v.y, arc.a.y)), 0.501) << got.point.y;
  EXPECT_FALSE(std::signbit(got.point.x) && got.point.x == 0);
  EXPECT_FALSE(std::signbit(got.point.y) && got.point.y == 0);
}

void ExpectHit(const Arc& arc, const OracleArcHit& want, const ArcHit& got) {
  EXPECT_EQ(want.polygon, got.polygon_id);
  EXPECT_EQ(want.time, got.time);
  EXPECT_FALSE(std::signbit(got.time));
  EXPECT_EQ(want.starts_inside, got.starts_inside);
  ASSERT_EQ(want.edge.has_value(), got.has_edge);
  if (got.has_edge) {
    EXPECT_EQ(want.edge->ring, got.edge.ring);
    EXPECT_EQ(want.edge->edge, got.edge.edge);
  }
  EXPECT_TRUE(IsUnitVectorWithin({got.normal.x, got.normal.y}, want.normal, 1))
      << got.normal.x << " " << got.normal.y;
  ExpectPoint(arc, want.point, got);
}

void ExpectLikeOracle(const TestScene& scene, const Arc& arc, InsidePolicy policy, int max_hits) {
  SCOPED_TRACE(scene.ToCode() + arc.ToCode() +
               absl::StrFormat(", InsidePolicy(%d)", static_cast<int>(policy)));
  const std::vector<OracleArcHit> want = CastArc(
      scene.oracle, {{arc.p.x, arc.p.y}, {arc.v.x, arc.v.y}, {arc.a.x, arc.a.y}, arc.duration},
      ToOracle(policy));
  ArcOptions options = Policy(policy);
  options.mode = CastMode::kAny;
  EXPECT_EQ(Ask(*scene.scene, arc, options).counts[0], want.empty() ? 0u : 1u);
  for (const CastMode mode : {CastMode::kClosest, CastMode::kAll}) {
    options.mode = mode;
    options.max_hits = static_cast<uint32_t>(max_hits);
    const size_t most = mode == CastMode::kClosest ? 1 : max_hits;
    const ArcAnswers got = Ask(*scene.scene, arc, options);
    ASSERT_EQ(got.hits.size(), std::min(most, want.size()));
    EXPECT_EQ(got.truncated.size(), mode == CastMode::kAll && want.size() > most ? 1u : 0u);
    for (size_t i = 0; i < got.hits.size(); ++i) ExpectHit(arc, want[i], got.hits[i]);
  }
}

Arc RandomArc(Random& random, const Grid& grid) {
  const auto vector = [&](int percent_zero) {
    if (random.Below(100) < percent_zero) return Vec2{};
    Vec2 v = grid.Point(random);
    if (random.Below(2) == 0) v.x = -v.x;
    if (random.Below(2) == 0) v.y = -v.y;
    if (random.Below(4) == 0) v.x = 0;
    if (random.Below(4) == 0) v.y = 0;
    return v;
  };
  const double durations[] = {0, 1, 2, 3, 10, 0x1p53, random.Unit() * 4};
  return {grid.Point(random), vector(15), vector(20), durations[random.Below(7)]};
}

TEST(ArcTest, RandomArcsEqualTheOracle) {
  constexpr double kScales[] = {1, 0.1, 1e-9, 1e9, 0x1p-138, 0x1p50, 1.0 / 3};
  Random random(2301);
  const int scenes = Repeats(12, 1200);
  for (int i = 0; i < scenes && !HasFailure(); ++i) {
    for (int k = 0; k <= 7 && !HasFailure(); ++k) {
      Grid grid{3 + random.Below(6), k < 7 ? kScales[k] : 1, i % 3 == 0 ? 0 : 15};
      grid.mixed = k == 7;
      const TestScene scene = RandomScene(random, grid);
      for (int q = 0; q < 5 && !HasFailure(); ++q) {
        const auto policy = static_cast<InsidePolicy>(random.Below(3));
        ExpectLikeOracle(scene, RandomArc(random, grid), policy, 1 + random.Below(6));
      }
    }
  }
}

// At a third of the duration the point turns in x where it comes in over the edge: no double.
TEST(ArcTest, APointThatTurnsWhereItHits) {
  const TestScene scene = MakeScene({{1, {{{{-5, 0}, {5, 0}, {0, -5}}, false}}}});
  for (const InsidePolicy policy :
       {InsidePolicy::kReportStart, InsidePolicy::kIgnore, InsidePolicy::kExit}) {
    ExpectLikeOracle(scene, {{0, 2}, {-2, -7}, {6, 6}, 1}, policy, 1);
  }
}

// Polygons whose vertices lie on the arc, and whose edges run along the velocity there: touches,
// vertex hits and passages that end where the next one begins.
TEST(ArcTest, PolygonsMadeOfTheArcItselfEqualTheOracle) {
  Random random(2304);
  const int cases = Repeats(120, 12000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const auto integer = [&] { return static_cast<double>(random.Below(9) - 4); };
    const double scale = std::ldexp(1.0, random.Below(5) == 0 ? random.Below(90) - 60 : 0);
    const auto vector = [&](double factor) {
      return Vec2{factor * scale * integer(), factor * scale * integer()};
    };
    const Arc arc{vector(1), vector(1), vector(random.Below(3)), 1.0 + random.Below(6)};
    const auto on_arc = [&] {
      const double t = random.Below(13) / 2.0 - 0.5;
      Vec2 p{arc.p.x + t * (arc.v.x + arc.a.x * t / 2), arc.p.y + t * (arc.v.y + arc.a.y * t / 2)};
      const double along = random.Below(3) == 0 ? integer() / 2 : 0;
      p = {p.x + along * (arc.v.x + arc.a.x * t), p.y + along * (arc.v.y + arc.a.y * t)};
      if (random.Below(12) == 0) p.x = std::nextafter(p.x, scale * integer());
      if (random.Below(12) == 0) p.y = std::nextafter(p.y, scale * integer());
      return p;
    };
    std::vector<PolygonSpec> specs;
    const int count = 1 + random.Below(3);
    for (int k = 0; k < count; ++k) {
      PolygonSpec spec = RandomPolygon(random, {3, 1, 0}, static_cast<uint64_t>(k));
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = random.Below(4) == 0 ? vector(2) : on_arc();
      }
      specs.push_back(spec);
    }
    const TestScene scene = MakeScene(specs);
    for (const InsidePolicy policy :
         {InsidePolicy::kReportStart, InsidePolicy::kIgnore, InsidePolicy::kExit}) {
      ExpectLikeOracle(scene, arc, policy, 1 + random.Below(3));
    }
  }
}

// v t and a t^2/2 are 2^52 and 2^12 times the point.
TEST(ArcTest, ThePointIsExactWhereSpeedAndAccelerationCancel) {
  const TestScene scene = MakeScene({{1, {{{{-10, -1}, {10, -1}, {10, 0}, {-10, 0}}, false}}}});
  const double vx = 1.0 / 3;
  const Arc fast{{0.3, 0.5}, {vx, 0x1p20}, {-vx * 0x1p-30, -0x1p-10}, 0x1p32};
  const Arc slow{{0.3, 0.5}, {vx, 1}, {-1.0 / 3072, -1.0 / 1024}, 4096};
  for (const Arc& arc : {fast, slow}) {
    const ArcAnswers got = Ask(*scene.scene, arc);
    ASSERT_EQ(got.hits.size(), 1u);
    EXPECT_EQ(got.hits[0].edge, (EdgeRef{0, 2}));
    EXPECT_EQ(got.hits[0].point.y, 0);
    ExpectLikeOracle(scene, arc, InsidePolicy::kReportStart, 1);
  }
}

// Up from above y = 0 and back on it at a time known exactly, where v t + a t^2/2 nearly cancel
// along x: what is left is known exactly too.
TEST(ArcTest, PointsAtExactTimesOfCancellingArcsEqualRationals) {
  Random random(2305);
  const int cases = Repeats(5000, 500000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const double t = std::ldexp(1.0, random.Below(52));
    const double fall = std::ldexp(1.0, -random.Below(60));
    // y = (t - s) (s + fall) up * 2^-k at time s; all of it is exact while t and fall are near.
    const int lift = random.Below(20) - 10;
    const double up = std::ldexp(1.0 + random.Below(7), lift);
    if (t / fall >= 0x1p48 || t * fall * up < 0x1p-100) continue;
    const double vx = random.Unit() * std::ldexp(1.0, random.Below(52));
    Arc arc{{random.Unit() * 4 - 2, t * fall * up},
            {vx, (t - fall) * up},
            {-2 * vx / t, -2 * up},
            random.Below(2) == 0 ? t : 2 * t};
    for (int k = random.Below(3); k > 0; --k) arc.a.x = std::nextafter(arc.a.x, 0.0);
    if (std::abs(arc.v.y) > 0x1p53 || arc.p.y > 0x1p53) continue;
    const double width = 0x1p53;
    const TestScene scene = MakeScene({Chain(1, {{-width, 0}, {width, 0}})});
    SCOPED_TRACE(arc.ToCode());
    const ArcAnswers got = Ask(*scene.scene, arc);
    ASSERT_EQ(got.hits.size(), 1u);
    ASSERT_EQ(got.hits[0].time, t);
    EXPECT_EQ(got.hits[0].point.y, 0);
    const Rational time = Exact(t);
    const Rational x =
        Exact(arc.p.x) + Exact(arc.v.x) * time + Exact(arc.a.x) * time * time / Rational(2);
    EXPECT_LE(UlpsOff(x, got.hits[0].point.x, 0), 0.501) << got.hits[0].point.x;
  }
}

// Ways up to 2^80 times the point, at times that no double holds and on edges of any slope.
TEST(ArcTest, PointsOfCancellingArcsEqualTheOracle) {
  Random random(2306);
  const int cases = Repeats(400, 40000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const auto unit = [&] { return random.Unit() * 2 - 1; };
    const double t = (1 + random.Unit()) * std::ldexp(1.0, random.Below(50));
    const double speed = std::ldexp(1.0, random.Below(50) - 20);
    const Vec2 v{unit() * speed, unit() * speed};
    const Arc arc{{unit(), unit()},
                  v,
                  {-2 * v.x / t * (1 + unit() * 0x1p-52), -2 * v.y / t},
                  std::fmin(2 * t, 0x1p53)};
    const double size = random.Below(2) == 0 ? 2 : 0x1p-20;
    const auto corner = [&] { return Vec2{unit() * size, unit() * size}; };
    std::vector<PolygonSpec> specs{Chain(1, {corner(), corner(), corner()}),
                                   Chain(2, {{-size, -size}, {size, size}})};
    const TestScene scene = MakeScene(specs);
    ExpectLikeOracle(scene, arc, static_cast<InsidePolicy>(random.Below(3)), 3);
  }
}

// The velocity at time t runs along the edge through the integer point q there: v = e - a t and
// p = q - v t - a t^2/2 are exact.
TEST(ArcTest, PointsWhereFastArcsTouchAreExact) {
  Random random(2307);
  const int cases = Repeats(2000, 200000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const auto integer = [&] { return static_cast<double>(random.Below(9) - 4); };
    const double t = std::ldexp(1.0, random.Below(20));
    const double pull = std::ldexp(1.0, random.Below(44) - 20);
    const Vec2 e{integer(), 1.0 + random.Below(4)};
    const Vec2 a{integer() * pull, integer() * pull};
    if (a.x * e.y == a.y * e.x || pull * t > 0x1p40 || pull * t * t > 0x1p45) continue;
    const Vec2 q{integer(), integer()};
    const Vec2 v{e.x - a.x * t, e.y - a.y * t};
    const Arc arc{{q.x - e.x * t + a.x * t * t / 2, q.y - e.y * t + a.y * t * t / 2}, v, a, 2 * t};
    // Within the edge, or at its end.
    const double ahead = random.Below(2);
    const TestScene scene =
        MakeScene({Chain(1, {{q.x - e.x, q.y - e.y}, {q.x + ahead * e.x, q.y + ahead * e.y}})});
    SCOPED_TRACE(scene.ToCode() + arc.ToCode());
    const ArcAnswers got = Ask(*scene.scene, arc);
    ASSERT_EQ(got.hits.size(), 1u);
    EXPECT_EQ(got.hits[0].time, t);
    EXPECT_EQ(got.hits[0].point, q);
    EXPECT_EQ(got.hits[0].normal, (Vec2{0, 0}));
  }
}

// Start and end of the duration inside a polygon: the time is exact, the point a rational.
TEST(ArcTest, PointsOfStartAndEndEqualRationals) {
  const TestScene scene = MakeScene({Square(1, -0x1p52, -0x1p52, 0x1p53)});
  Random random(2308);
  const int cases = Repeats(1000, 100000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const auto unit = [&] { return random.Unit() * 2 - 1; };
    const double t = (1 + random.Unit()) * std::ldexp(1.0, random.Below(30));
    const double speed = std::ldexp(1.0, random.Below(20));
    const Vec2 v{unit() * speed, unit() * speed};
    const Arc arc{{unit(), unit()}, v, {-2 * v.x / t, -2 * v.y / t}, t};
    SCOPED_TRACE(arc.ToCode());
    const ArcAnswers start = Ask(*scene.scene, arc);
    ASSERT_EQ(start.hits.size(), 1u);
    EXPECT_EQ(start.hits[0].point, arc.p);
    const ArcAnswers end = Ask(*scene.scene, arc, Policy(InsidePolicy::kExit));
    ASSERT_EQ(end.hits.size(), 1u);
    ASSERT_EQ(end.hits[0].time, t);
    const auto way = [t](double p, double u, double a) -> Rational {
      return Exact(p) + Exact(t) * (Exact(u) + Exact(t) * Exact(a) / Rational(2));
    };
    ExpectPoint(arc, {way(arc.p.x, v.x, arc.a.x), way(arc.p.y, v.y, arc.a.y)}, end.hits[0]);
  }
}

// An arc without acceleration is a segment.
TEST(ArcTest, WithoutAccelerationItAgreesWithACast) {
  Random random(2302);
  const int scenes = Repeats(800, 100000);
  for (int i = 0; i < scenes && !HasFailure(); ++i) {
    const Grid grid{3 + random.Below(6), 1, 0};
    const TestScene scene = RandomScene(random, grid);
    const Vec2 p = grid.Point(random);
    const Vec2 b = grid.Point(random);
    if (p == b) continue;
    // Time 4 for the whole way: fractions are times / 4.
    const Arc arc{p, {(b.x - p.x) / 4, (b.y - p.y) / 4}, {}, 4};
    ArcOptions options;
    CastOptions cast;
    options.inside_policy = cast.inside_policy = static_cast<InsidePolicy>(random.Below(3));
    SCOPED_TRACE(scene.ToCode() + arc.ToCode());
    const ArcAnswers got = Ask(*scene.scene, arc, options);
    CastAnswers want;
    WorkMeter meter;
    ASSERT_TRUE(CastSegments(*scene.scene, {{&p.x, 1}, {&p.y, 1}, {&b.x, 1}, {&b.y, 1}}, cast, want,
                             meter));
    ASSERT_EQ(want.hits.size(), got.hits.size());
    if (got.hits.empty()) continue;
    EXPECT_EQ(want.hits[0].polygon_id, got.hits[0].polygon_id);
    EXPECT_NEAR(want.hits[0].fraction, got.hits[0].time / 4, 0x1p-52);
    EXPECT_EQ(want.hits[0].feature != Feature::kNone, got.hits[0].has_edge);
    if (got.hits[0].has_edge) {
      EXPECT_EQ(want.hits[0].edge, got.hits[0].edge);
    }
    EXPECT_EQ(want.hits[0].normal, got.hits[0].normal);
  }
}

// Scaling lengths by a power of two changes no time.
TEST(ArcTest, ScalingChangesLengthsOnly) {
  Random random(2303);
  const int scenes = Repeats(300, 50000);
  for (int i = 0; i < scenes && !HasFailure(); ++i) {
    const double factor = std::ldexp(1.0, random.Below(60) - 30);
    const Grid grid{4, 1, 10};
    const TestScene scene = RandomScene(random, grid);
    const Arc arc = RandomArc(random, grid);
    std::vector<PolygonSpec> specs = scene.specs;
    for (PolygonSpec& spec : specs) {
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = {p.x * factor, p.y * factor};
      }
    }
    const TestScene scaled = MakeScene(specs);
    const auto times = [factor](Vec2 p) { return Vec2{p.x * factor, p.y * factor}; };
    SCOPED_TRACE(scene.ToCode() + arc.ToCode());
    const ArcAnswers want = Ask(*scene.scene, arc);
    const ArcAnswers got =
        Ask(*scaled.scene, {times(arc.p), times(arc.v), times(arc.a), arc.duration});
    ASSERT_EQ(want.hits.size(), got.hits.size());
    if (got.hits.empty()) continue;
    EXPECT_EQ(want.hits[0].time, got.hits[0].time);
    EXPECT_EQ(want.hits[0].polygon_id, got.hits[0].polygon_id);
    EXPECT_EQ(times(want.hits[0].point), got.hits[0].point);
    EXPECT_EQ(want.hits[0].normal, got.hits[0].normal);
  }
}

}  // namespace
}  // namespace carom::testing::arc_test
