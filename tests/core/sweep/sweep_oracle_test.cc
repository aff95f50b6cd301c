// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sweeps against rationals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/sweep.h"
#include "tests/core/random_scene.h"
#include "tests/core/sweep/sweep_cases.h"
#include "tests/support/oracle_sweep.h"
#include "tests/support/repeats.h"

namespace carom::testing::sweep_oracle_test {
namespace {

// --- polygons -----------------------------------------------------------------------------------

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

// --- capsules -----------------------------------------------------------------------------------

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

TEST(SweepOracleTest, RoundShapesAgreeWithRationals) {
  const int cases = Repeats(300, 40000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x40420000 + static_cast<uint64_t>(i));
    const Grid grid = RandomGrid(random);
    const TestScene scene = RandomScene(random, grid);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    SCOPED_TRACE(absl::StrFormat("case %d%s%s", i, scene.ToCode(), ToCode(c)));
    const SweepAnswers all = Sweep(*scene.scene, CapsuleOf(c.mover), {c.d.x, c.d.y}, All());
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
    ExpectModesAgree(scene, CapsuleOf(c.mover), {c.d.x, c.d.y}, InsidePolicy::kReportStart, all);
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
  int decided = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0x9a55a9e0000 + static_cast<uint64_t>(i));
    const Grid grid{5, i % 4 == 1 ? 0x1p-138 : 1, i % 3 == 0 ? 10 : 0};
    const TestScene scene = RandomScene(random, grid);
    const RoundCase c = RandomRoundCase(random, grid, scene);
    const Vec2 d{c.d.x, c.d.y};
    SCOPED_TRACE(absl::StrFormat("case %d%s%s", i, scene.ToCode(), ToCode(c)));
    const SweepAnswers ignore =
        Sweep(*scene.scene, CapsuleOf(c.mover), d, All(InsidePolicy::kIgnore));
    const SweepAnswers exit = Sweep(*scene.scene, CapsuleOf(c.mover), d, All(InsidePolicy::kExit));
    for (const OracleShape& fixed : scene.oracle.shapes()) {
      if (!IsInContact(fixed, c.mover, c.d, 0)) continue;
      const auto passages = RoundPassages(fixed, c.mover, c.d);
      if (!passages) continue;
      ++decided;
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
  EXPECT_GT(decided, cases / 2);
}

}  // namespace
}  // namespace carom::testing::sweep_oracle_test
