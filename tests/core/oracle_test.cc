// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every query against the rational oracle, on random scenes in which vertices, edges and queries
// coincide all the time. Scales reach from 1e-9 to 1e9 and to both ends of the accepted range, also
// mixed in one scene.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle.h"

namespace carom::testing::oracle_test {
namespace {

constexpr double kScales[] = {1, 1e-9, 0.1, 1e9, 0x1p-138, 0x1p50, 1.0 / 3};
constexpr int kScenesPerScale = 120;
constexpr int kQueriesPerScene = 12;

// Calls check(random, grid, scene) for the scenes of the suite.
template <class Check>
void ForRandomScenes(uint64_t seed, Check check) {
  Random random(seed);
  const auto ask = [&](const Grid& grid) {
    const TestScene scene = RandomScene(random, grid);
    for (int q = 0; q < kQueriesPerScene && !::testing::Test::HasFailure(); ++q) {
      check(random, grid, scene);
    }
  };
  for (int i = 0; i < kScenesPerScale && !::testing::Test::HasFailure(); ++i) {
    for (const double scale : kScales) ask({3 + random.Below(6), scale, i % 3 == 0 ? 0 : 15});
    ask({.mixed = true});
  }
}

carom::Segment RandomSegment(Random& random, const Grid& grid) {
  const Vec2 a = grid.Point(random);
  if (random.Below(12) == 0) return {a, a};
  return {a, grid.Point(random)};
}

CastAnswers CastOne(const Scene& scene, const carom::Segment& s, const CastOptions& options) {
  CastAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastSegments(scene, {{&s.a.x, 1}, {&s.a.y, 1}, {&s.b.x, 1}, {&s.b.y, 1}}, options,
                           answers, meter));
  return answers;
}

OracleInside ToOracle(InsidePolicy policy) {
  switch (policy) {
    case InsidePolicy::kReportStart:
      return OracleInside::kReportStart;
    case InsidePolicy::kIgnore:
      return OracleInside::kIgnore;
    case InsidePolicy::kExit:
    case InsidePolicy::kBlocking:  // not of casts
    case InsidePolicy::kBlockingLeave:
      break;
  }
  return OracleInside::kExit;
}

Feature FromOracle(OracleFeature feature) {
  switch (feature) {
    case OracleFeature::kNone:
      return Feature::kNone;
    case OracleFeature::kEdge:
      return Feature::kEdge;
    case OracleFeature::kVertex:
      return Feature::kVertex;
    case OracleFeature::kCollinear:
      break;
  }
  return Feature::kCollinear;
}

void ExpectEdge(const std::optional<OracleEdge>& want, bool has, EdgeRef got) {
  ASSERT_EQ(want.has_value(), has);
  if (!has) return;
  EXPECT_EQ(want->ring, got.ring);
  EXPECT_EQ(want->edge, got.edge);
}

// |got - exact| <= 2 ulp of the largest coordinate.
void ExpectPoint(const carom::Segment& s, const Rational& t, Vec2 got) {
  const RationalXy a = Exact(Flushed(Xy{s.a.x, s.a.y}));
  const RationalXy b = Exact(Flushed(Xy{s.b.x, s.b.y}));
  const RationalXy exact = a + t * (b - a);
  const double largest = std::fmax(std::fmax(std::abs(s.a.x), std::abs(s.a.y)),
                                   std::fmax(std::abs(s.b.x), std::abs(s.b.y)));
  const Rational bound = Exact(2 * Ulp(largest));
  EXPECT_LE(abs(Exact(got.x) - exact.x), bound);
  EXPECT_LE(abs(Exact(got.y) - exact.y), bound);
}

void ExpectHit(const carom::Segment& s, const OracleHit& want, const CastHit& got) {
  EXPECT_EQ(want.polygon, got.polygon_id);
  EXPECT_EQ(NearestDouble(want.at.fraction), got.fraction);
  EXPECT_EQ(NearestDouble(want.passage.exit.fraction), got.exit_fraction);
  EXPECT_EQ(want.passage.starts_inside, got.starts_inside);
  EXPECT_EQ(want.passage.ends_inside, got.ends_inside);
  EXPECT_EQ(FromOracle(want.at.feature), got.feature);
  ExpectEdge(want.at.edge, got.feature != Feature::kNone, got.edge);
  ExpectEdge(want.passage.exit.edge, got.has_exit_edge, got.exit_edge);
  EXPECT_TRUE(IsUnitVectorWithin({got.normal.x, got.normal.y}, want.at.normal, 1));
  EXPECT_TRUE(
      IsUnitVectorWithin({got.exit_normal.x, got.exit_normal.y}, want.passage.exit.normal, 1));
  ExpectPoint(s, want.at.fraction, got.point);
}

// One random cast, in every mode.
void ExpectCasts(Random& random, const Grid& grid, const TestScene& scene) {
  const carom::Segment s = RandomSegment(random, grid);
  CastOptions options;
  options.inside_policy = static_cast<InsidePolicy>(random.Below(3));
  const OracleInside inside = ToOracle(options.inside_policy);
  const OracleLine line = carom::testing::Segment({s.a.x, s.a.y}, {s.b.x, s.b.y});
  SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{{%a, %a}, {%a, %a}}, InsidePolicy(%d)", s.a.x,
                                                s.a.y, s.b.x, s.b.y,
                                                static_cast<int>(options.inside_policy)));
  for (const CastMode mode : {CastMode::kAny, CastMode::kClosest, CastMode::kAll}) {
    options.mode = mode;
    options.max_hits = mode == CastMode::kAll ? 1 + random.Below(6) : 64;
    const CastAnswers got = CastOne(*scene.scene, s, options);
    if (mode == CastMode::kAny) {
      EXPECT_EQ(scene.oracle.Hits(line, inside), got.counts[0] == 1);
      EXPECT_TRUE(got.hits.empty());
      continue;
    }
    OracleCastOptions asked;
    asked.mode = mode == CastMode::kAll ? OracleMode::kAll : OracleMode::kClosest;
    asked.inside = inside;
    if (mode == CastMode::kAll) asked.max_hits = options.max_hits;
    const OracleCastAnswer want = scene.oracle.Cast(line, asked);
    ASSERT_EQ(want.hits.size(), got.hits.size());
    EXPECT_EQ(want.truncated, got.truncated.size() == 1);
    for (size_t i = 0; i < want.hits.size(); ++i) ExpectHit(s, want.hits[i], got.hits[i]);
  }
}

TEST(OracleTest, CastsEqualTheOracleInEveryModeAndPolicy) { ForRandomScenes(1, ExpectCasts); }

// Hundreds of edges on a few grid points: nearly every touch is a tie.
TEST(OracleTest, CastsThroughManyEdgesEqualTheOracle) {
  Random random(5);
  for (int i = 0; i < 12 && !::testing::Test::HasFailure(); ++i) {
    const Grid grid{4 + random.Below(5), 1, i % 2 == 0 ? 0 : 15};
    PolygonSpec spec = RandomPolygon(random, grid, 1);
    for (RingSpec& ring : spec.rings) {
      for (int k = 0; k < 900; ++k) ring.vertices.push_back(grid.Point(random));
    }
    const TestScene scene = MakeScene({spec});
    for (int q = 0; q < 4; ++q) ExpectCasts(random, grid, scene);
  }
}

TEST(OracleTest, LocationsEqualTheOracle) {
  ForRandomScenes(2, [](Random& random, const Grid& grid, const TestScene& scene) {
    const Vec2 p = grid.Point(random);
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{%a, %a}", p.x, p.y));
    LocateAnswers got;
    WorkMeter meter;
    ASSERT_TRUE(LocatePoints(*scene.scene, {{&p.x, 1}, {&p.y, 1}}, kEveryCategory, got, meter));
    std::vector<uint64_t> in;
    std::vector<uint64_t> on;
    for (size_t i = 0; i < got.polygon_ids.size(); ++i) {
      (got.locations[i] == Location::kInside ? in : on).push_back(got.polygon_ids[i]);
    }
    const OraclePointAnswer want = scene.oracle.Point({p.x, p.y});
    EXPECT_EQ(want.in, in);
    EXPECT_EQ(want.on, on);
  });
}

void ExpectOverlap(const OracleOverlapAnswer& want, const OverlapAnswers& got, bool circle) {
  EXPECT_EQ(want.ids, got.polygon_ids);
  if (circle) {
    std::vector<uint64_t> touch;
    for (size_t i = 0; i < got.polygon_ids.size(); ++i) {
      if (got.touching[i] != 0) touch.push_back(got.polygon_ids[i]);
    }
    EXPECT_EQ(want.touch, touch);
  }
  std::vector<OracleEdge> edges;
  size_t next = 0;
  for (size_t i = 0; i < got.polygon_ids.size(); ++i) {
    for (uint32_t k = 0; k < got.edge_counts[i]; ++k, ++next) {
      edges.push_back({got.polygon_ids[i], got.edges[next].ring, got.edges[next].edge});
    }
  }
  EXPECT_EQ(want.edges, edges);
}

TEST(OracleTest, CircleOverlapsEqualTheOracle) {
  ForRandomScenes(3, [](Random& random, const Grid& grid, const TestScene& scene) {
    const Vec2 c = grid.Point(random);
    double radius = std::abs(grid.Coordinate(random));
    if (random.Below(3) == 0) radius *= random.Unit();
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{{%a, %a}, %a}", c.x, c.y, radius));
    OverlapAnswers got;
    WorkMeter meter;
    ASSERT_TRUE(OverlapCircles(*scene.scene, {{&c.x, 1}, {&c.y, 1}, {&radius, 1}},
                               {OverlapDetail::kEdges}, got, meter));
    ExpectOverlap(scene.oracle.Circle({c.x, c.y}, radius), got, /*circle=*/true);
  });
}

TEST(OracleTest, PolygonOverlapsEqualTheOracle) {
  ForRandomScenes(4, [](Random& random, const Grid& grid, const TestScene& scene) {
    const PolygonSpec mover = RandomPolygon(random, grid, 99);
    SCOPED_TRACE(scene.ToCode() + ToCode(mover));
    const Polygon shape = Polygon::Create(mover).value();
    const double zero = 0;
    OverlapAnswers got;
    WorkMeter meter;
    PolygonColumns columns;
    columns.shapes = {&shape, 1};
    columns.x = {&zero, 1};
    columns.y = {&zero, 1};
    ASSERT_TRUE(OverlapPolygons(*scene.scene, columns, {OverlapDetail::kEdges}, got, meter));
    ExpectOverlap(scene.oracle.Overlap(carom::testing::ToOracle(mover)), got, /*circle=*/false);
    OverlapAnswers ids;
    ASSERT_TRUE(OverlapPolygons(*scene.scene, columns, {OverlapDetail::kIds}, ids, meter));
    EXPECT_EQ(got.polygon_ids, ids.polygon_ids);
  });
}

}  // namespace
}  // namespace carom::testing::oracle_test
