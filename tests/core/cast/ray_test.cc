// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Rays: hand-made cases, laws, and random rays and segments, in every mode, policy and target,
// against the rational oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle.h"
#include "tests/support/repeats.h"

namespace carom::testing::ray_test {
namespace {

using carom::Ray;
using carom::Segment;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CastAnswers Cast(const Scene& scene, const std::vector<Ray>& rays,
                 const CastOptions& options = {}) {
  std::vector<double> x, y, dx, dy, t_min, t_max;
  for (const Ray& ray : rays) {
    x.push_back(ray.origin.x);
    y.push_back(ray.origin.y);
    dx.push_back(ray.direction.x);
    dy.push_back(ray.direction.y);
    t_min.push_back(ray.t_min);
    t_max.push_back(ray.t_max);
  }
  CastAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastRays(scene, {x, y, dx, dy, t_min, t_max}, options, answers, meter));
  return answers;
}

CastAnswers Cast(const Scene& scene, const Segment& s, const CastOptions& options) {
  CastAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastSegments(scene, {{&s.a.x, 1}, {&s.a.y, 1}, {&s.b.x, 1}, {&s.b.y, 1}}, options,
                           answers, meter));
  return answers;
}

// The solid square [2, 4] x [0, 2], id 7.
Scene::Ptr Square() { return MakeScene({{7, {{{{2, 0}, {4, 0}, {4, 2}, {2, 2}}}}}}).scene; }

CastHit Hit(const Scene& scene, const Ray& ray, InsidePolicy policy = InsidePolicy::kReportStart) {
  CastOptions options;
  options.inside_policy = policy;
  const CastAnswers answers = Cast(scene, {ray}, options);
  EXPECT_EQ(answers.hits.size(), 1u);
  return answers.hits.empty() ? CastHit{} : answers.hits[0];
}

TEST(RayTest, FractionsAreInUnitsOfTheDirectionAndMayExceedOne) {
  const CastHit hit = Hit(*Square(), {{0, 1}, {0.25, 0}});
  EXPECT_EQ(hit.fraction, 8);
  EXPECT_EQ(hit.exit_fraction, 16);
  EXPECT_EQ(hit.point, (Vec2{2, 1}));
  EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
  EXPECT_EQ(hit.exit_edge, (EdgeRef{0, 1}));
  EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
  EXPECT_EQ(hit.exit_normal, (Vec2{1, 0}));
  EXPECT_FALSE(hit.ends_inside);
}

TEST(RayTest, EmptyRangeColumnsMeanAllOfTheRay) {
  const double x = 0, y = 1, dx = 1, dy = 0;
  CastAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(
      CastRays(*Square(), {{&x, 1}, {&y, 1}, {&dx, 1}, {&dy, 1}, {}, {}}, {}, answers, meter));
  ASSERT_EQ(answers.counts[0], 1u);
  EXPECT_EQ(answers.hits[0].fraction, 2);
}

TEST(RayTest, AStartInsideIsJudgedAtTMin) {
  const Ray ray{{0, 1}, {1, 0}, 3};
  const CastHit start = Hit(*Square(), ray);
  EXPECT_EQ(start.fraction, 3);
  EXPECT_TRUE(start.starts_inside);
  EXPECT_EQ(start.feature, Feature::kNone);
  EXPECT_EQ(start.point, (Vec2{3, 1}));
  EXPECT_EQ(start.exit_fraction, 4);
  EXPECT_EQ(Hit(*Square(), ray, InsidePolicy::kExit).fraction, 4);
  CastOptions ignore;
  ignore.inside_policy = InsidePolicy::kIgnore;
  EXPECT_EQ(Cast(*Square(), {ray}, ignore).counts[0], 0u);
}

TEST(RayTest, APassageThatReachesTMaxEndsInside) {
  const CastHit hit = Hit(*Square(), {{0, 1}, {1, 0}, 2.5, 3.5}, InsidePolicy::kExit);
  EXPECT_EQ(hit.fraction, 3.5);
  EXPECT_TRUE(hit.starts_inside);
  EXPECT_TRUE(hit.ends_inside);
  EXPECT_FALSE(hit.has_exit_edge);
  EXPECT_EQ(hit.point, (Vec2{3.5, 1}));
  EXPECT_EQ(hit.normal, (Vec2{0, 0}));
}

// Touching is a hit, one ulp less is none, at both ends of the range.
TEST(RayBoundaryTest, TheRangeIsClosed) {
  const auto count = [](double t_min, double t_max) {
    return Cast(*Square(), {{{0, 1}, {1, 0}, t_min, t_max}}).counts[0];
  };
  EXPECT_EQ(count(0, 2), 1u);
  EXPECT_EQ(count(0, std::nextafter(2, 0)), 0u);
  EXPECT_EQ(count(4, HUGE_VAL), 1u);
  EXPECT_EQ(count(std::nextafter(4, 5), HUGE_VAL), 0u);
  const CastHit at_edge = Hit(*Square(), {{0, 1}, {1, 0}, 4});
  EXPECT_EQ(at_edge.edge, (EdgeRef{0, 1}));
  EXPECT_EQ(at_edge.feature, Feature::kEdge);
  EXPECT_TRUE(at_edge.starts_inside);
  EXPECT_EQ(at_edge.exit_fraction, 4);
}

// With direction 3 the square begins at t = 2/3, between two doubles.
TEST(RayBoundaryTest, EndsBesideAFractionThatIsNoDouble) {
  const double below = 0x1.5555555555555p-1;  // < 2/3
  const double above = std::nextafter(below, 1);
  EXPECT_EQ(Cast(*Square(), {{{0, 1}, {3, 0}, 0, below}}).counts[0], 0u);
  EXPECT_EQ(Cast(*Square(), {{{0, 1}, {3, 0}, 0, above}}).counts[0], 1u);
  EXPECT_FALSE(Hit(*Square(), {{0, 1}, {3, 0}, below, 9}).starts_inside);
  EXPECT_TRUE(Hit(*Square(), {{0, 1}, {3, 0}, above, 9}).starts_inside);
}

TEST(RayDegenerateTest, ExtremeRangesAndDirections) {
  const Scene::Ptr scene = Square();
  const auto count = [&](const Ray& ray) { return Cast(*scene, {ray}).counts[0]; };
  EXPECT_EQ(count({{0, 1}, {1, 0}, 0x1p-1074, HUGE_VAL}), 1u);
  EXPECT_EQ(count({{0, 1}, {1, 0}, 0, 0x1p-1074}), 0u);
  EXPECT_EQ(count({{2, 1}, {1, 0}, 0, 0x1p-1074}), 1u);
  EXPECT_EQ(count({{4, 1}, {1, 0}, 0x1p-1074, HUGE_VAL}), 0u);
  EXPECT_EQ(count({{3, 1}, {1, 0}, 1e308, HUGE_VAL}), 0u);
  EXPECT_EQ(count({{3, 1}, {0, -0x1p-140}, 1e308, HUGE_VAL}), 0u);
  EXPECT_EQ(count({{3, 0x1p53}, {0, -0x1p-140}}), 1u);
  EXPECT_EQ(Hit(*scene, {{0, 1}, {0x1p-140, 0}}).fraction, 0x1p141);
  EXPECT_EQ(Hit(*scene, {{0, 1}, {0x1p53, 0}}).fraction, 0x1p-52);
  EXPECT_EQ(Hit(*scene, {{3, 1}, {1, 0}, -0.0}).fraction, 0);
  EXPECT_FALSE(std::signbit(Hit(*scene, {{3, 1}, {1, 0}, -0.0}).fraction));
}

TEST(RayTest, FaultsAreNamedByColumn) {
  const Ray good{{0, 1}, {1, 0}};
  const CastAnswers answers = Cast(*Square(), {good,
                                               {{kNan, 1}, {1, 0}},
                                               {{0, 1}, {1, HUGE_VAL}},
                                               {{0, 1}, {0, 0x1p-150}},
                                               {{0, 1}, {1, 0}, -1},
                                               {{0, 1}, {1, 0}, kNan},
                                               {{0, 1}, {1, 0}, HUGE_VAL},
                                               {{0, 1}, {1, 0}, 1, 1},
                                               {{0, 1}, {1, 0}, 0, kNan},
                                               {{0, 1}, {1, 0}, 0, 0},
                                               good});
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kX, ItemFault::kNotAccepted},
                                    {2, ItemColumn::kDy, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kDx, ItemFault::kZeroDirection},
                                    {4, ItemColumn::kTMin, ItemFault::kNotARange},
                                    {5, ItemColumn::kTMin, ItemFault::kNotARange},
                                    {6, ItemColumn::kTMin, ItemFault::kNotARange},
                                    {7, ItemColumn::kTMax, ItemFault::kNotARange},
                                    {8, ItemColumn::kTMax, ItemFault::kNotARange},
                                    {9, ItemColumn::kTMax, ItemFault::kNotARange}}));
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(RayTest, AMeterStopsTheWork) {
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 3000; ++i) specs.push_back({i, {{{{0, 0}, {1, 0}, {1, 1}}}}});
  const Scene::Ptr scene = MakeScene(specs).scene;
  const std::vector<double> half(100, 0.5);
  CastAnswers answers;
  int asked = 0;
  WorkMeter meter([&asked] { return ++asked > 2; });
  EXPECT_FALSE(CastRays(*scene, {half, half, half, half, {}, {}}, {}, answers, meter));
  EXPECT_LT(meter.used(), 10 * WorkMeter::kInterval);
}

// Random lines.

CastOptions RandomOptions(Random& random) {
  CastOptions options;
  options.mode = static_cast<CastMode>(random.Below(4));
  options.inside_policy = static_cast<InsidePolicy>(random.Below(3));
  options.target = random.Below(4) == 0 ? CastTarget::kBounds : CastTarget::kPolygons;
  options.reflect = random.Below(2) == 0;
  options.max_hits = random.Below(2) == 0 ? 64 : 1 + static_cast<uint32_t>(random.Below(6));
  return options;
}

double RandomTMin(Random& random) {
  constexpr double kCommon[] = {0, 0, 0, 1, 0.5, 2, 1.0 / 3, 0x1p-1074, 0x1p-60, 1e100, 0x1p-600};
  const double t = random.Below(4) == 0 ? 3 * random.Unit() : kCommon[random.Below(11)];
  return random.Below(8) == 0 ? std::nextafter(t, HUGE_VAL) : t;
}

// A ray between two points of the grid, or along a vector of it; its ends are often on vertices.
Ray RandomRay(Random& random, const Grid& grid) {
  const Vec2 a = grid.Point(random);
  Ray ray{a, grid.Point(random)};
  if (random.Below(2) == 0) {
    ray.direction = {ray.direction.x - a.x, ray.direction.y - a.y};
    if (!IsAccepted(ray.direction)) ray.direction = a;
  }
  if (random.Below(6) == 0) ray.direction.x = 0;
  if (Normalized(ray.direction) == Vec2{}) ray.direction = {1, 0};
  ray.t_min = RandomTMin(random);
  switch (random.Below(4)) {
    case 0:
      ray.t_max = std::nextafter(ray.t_min, HUGE_VAL);
      break;
    case 1:
      ray.t_max = ray.t_min + (1 + random.Below(4)) * 0.5;
      break;
    case 2:
      ray.t_max = random.Below(8) == 0 ? 1e280 : 1 + 4 * random.Unit();
      break;
    default:
      break;
  }
  if (!(ray.t_min < ray.t_max)) ray.t_max = HUGE_VAL;
  return ray;
}

std::string ToCode(const Ray& ray, const CastOptions& options) {
  return absl::StrFormat("Ray{{%a, %a}, {%a, %a}, %a, %a} mode %d policy %d target %d max %d",
                         ray.origin.x, ray.origin.y, ray.direction.x, ray.direction.y, ray.t_min,
                         ray.t_max, static_cast<int>(options.mode),
                         static_cast<int>(options.inside_policy), static_cast<int>(options.target),
                         options.max_hits);
}

// Calls law(random, grid, scene) for scenes of all scales.
template <class Law>
void ForRandomScenes(uint64_t seed, int scenes, Law law) {
  constexpr double kScales[] = {1, 1e-9, 0.1, 1e9, 0x1p-138, 0x1p50, 1.0 / 3};
  Random random(seed);
  for (int i = 0; i < scenes && !::testing::Test::HasFailure(); ++i) {
    Grid grid{3 + random.Below(6), kScales[i % 7], i % 3 == 0 ? 0 : 15};
    grid.mixed = i % 8 == 7;
    const TestScene scene = RandomScene(random, grid);
    for (int q = 0; q < 12 && !::testing::Test::HasFailure(); ++q) law(random, grid, scene);
  }
}

PolygonSpec BoxSpec(const PolygonSpec& spec) {
  const Box box = Polygon::Create(spec).value().bounds();
  PolygonSpec result;
  result.id = spec.id;
  result.category = spec.category;
  result.rings = {{{box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}, box.min}}};
  return result;
}

TestScene BoxScene(const TestScene& scene) {
  std::vector<PolygonSpec> boxes;
  for (const PolygonSpec& spec : scene.specs) boxes.push_back(BoxSpec(spec));
  return MakeScene(boxes);
}

double Largest(Xy p) { return std::fmax(std::abs(p.x), std::abs(p.y)); }

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

// Within 3 ulp of the largest magnitude of the origin and the exact point.
void ExpectPoint(const OracleLine& line, const Rational& t, Vec2 got) {
  const RationalXy exact = line.origin + t * line.direction;
  const double largest =
      std::fmax(Largest({NearestDouble(line.origin.x), NearestDouble(line.origin.y)}),
                Largest({NearestDouble(exact.x), NearestDouble(exact.y)}));
  const Rational bound = Exact(3 * Ulp(largest));
  EXPECT_LE(abs(Exact(got.x) - exact.x), bound);
  EXPECT_LE(abs(Exact(got.y) - exact.y), bound);
}

void ExpectHit(const OracleLine& line, const OracleHit& want, const CastHit& got) {
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
  ExpectPoint(line, want.at.fraction, got.point);
}

// Within 1 ulp of the direction's length; zero for a zero normal; never -0.
void ExpectReflection(const OracleLine& line, const RationalXy& normal, Vec2 got) {
  EXPECT_FALSE(got.x == 0 && std::signbit(got.x));
  EXPECT_FALSE(got.y == 0 && std::signbit(got.y));
  if (IsZero(normal)) {
    EXPECT_EQ(got, Vec2{});
    return;
  }
  const RationalXy& d = line.direction;
  const Rational factor = 2 * Dot(d, normal) / Dot(normal, normal);
  const RationalXy exact = d - factor * normal;
  const double length = std::hypot(NearestDouble(d.x), NearestDouble(d.y));
  EXPECT_LE(abs(Exact(got.x) - exact.x), Exact(Ulp(length)));
  EXPECT_LE(abs(Exact(got.y) - exact.y), Exact(Ulp(length)));
}

void ExpectAnswers(const OracleLine& line, const Oracle& oracle, const CastOptions& options,
                   const CastAnswers& got) {
  OracleCastOptions asked;
  asked.inside = static_cast<OracleInside>(options.inside_policy);
  if (options.mode == CastMode::kAny) {
    EXPECT_EQ(oracle.Hits(line, asked.inside), got.counts[0] == 1);
    EXPECT_TRUE(got.hits.empty());
    EXPECT_TRUE(got.reflections.empty());
    return;
  }
  asked.mode = static_cast<OracleMode>(static_cast<int>(options.mode) - 1);
  if (options.mode != CastMode::kClosest) asked.max_hits = options.max_hits;
  const OracleCastAnswer want = oracle.Cast(line, asked);
  ASSERT_EQ(want.hits.size(), got.hits.size());
  ASSERT_EQ(options.reflect ? want.hits.size() : 0, got.reflections.size());
  EXPECT_EQ(want.truncated, got.truncated.size() == 1);
  for (size_t i = 0; i < want.hits.size(); ++i) {
    ExpectHit(line, want.hits[i], got.hits[i]);
    if (options.reflect) ExpectReflection(line, want.hits[i].at.normal, got.reflections[i]);
  }
}

TEST(RayOracleTest, RaysEqualTheOracle) {
  int starts_on_edges = 0;  // at t_min > 0
  ForRandomScenes(
      71, Repeats(900, 100000), [&](Random& random, const Grid& grid, const TestScene& scene) {
        const Ray ray = RandomRay(random, grid);
        const CastOptions options = RandomOptions(random);
        SCOPED_TRACE(scene.ToCode() + ToCode(ray, options));
        const OracleLine line = carom::testing::Ray(
            {ray.origin.x, ray.origin.y}, {ray.direction.x, ray.direction.y}, ray.t_min, ray.t_max);
        const CastAnswers got = Cast(*scene.scene, {ray}, options);
        if (options.target == CastTarget::kPolygons) {
          ExpectAnswers(line, scene.oracle, options, got);
        } else {
          ExpectAnswers(line, BoxScene(scene).oracle, options, got);
        }
        for (const CastHit& hit : got.hits) {
          starts_on_edges += ray.t_min > 0 && hit.starts_inside && hit.feature != Feature::kNone;
        }
      });
  EXPECT_GT(starts_on_edges, 100);
}

TEST(RayOracleTest, SegmentsInEveryModeAndTargetEqualTheOracle) {
  ForRandomScenes(72, Repeats(400, 40000),
                  [](Random& random, const Grid& grid, const TestScene& scene) {
                    const Vec2 a = grid.Point(random);
                    const Segment s{a, random.Below(12) == 0 ? a : grid.Point(random)};
                    const CastOptions options = RandomOptions(random);
                    SCOPED_TRACE(scene.ToCode() + ToCode(Ray{s.a, s.b, 0, 1}, options));
                    const OracleLine line = carom::testing::Segment({s.a.x, s.a.y}, {s.b.x, s.b.y});
                    const CastAnswers got = Cast(*scene.scene, s, options);
                    if (options.target == CastTarget::kPolygons) {
                      ExpectAnswers(line, scene.oracle, options, got);
                    } else {
                      ExpectAnswers(line, BoxScene(scene).oracle, options, got);
                    }
                  });
}

// Laws.

void ExpectSame(const CastHit& a, const CastHit& b) {
  EXPECT_EQ(a.polygon_id, b.polygon_id);
  EXPECT_EQ(a.feature, b.feature);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.exit_edge, b.exit_edge);
  EXPECT_EQ(a.starts_inside, b.starts_inside);
  EXPECT_EQ(a.ends_inside, b.ends_inside);
  EXPECT_EQ(a.has_exit_edge, b.has_exit_edge);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.normal, b.normal);
  EXPECT_EQ(a.exit_normal, b.exit_normal);
}

void ExpectSame(const CastAnswers& a, const CastAnswers& b, double factor = 1) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.truncated, b.truncated);
  ASSERT_EQ(a.hits.size(), b.hits.size());
  ASSERT_EQ(a.reflections.size(), b.reflections.size());
  for (size_t i = 0; i < a.hits.size(); ++i) {
    ExpectSame(a.hits[i], b.hits[i]);
    EXPECT_EQ(a.hits[i].fraction, b.hits[i].fraction * factor);
    EXPECT_EQ(a.hits[i].exit_fraction, b.hits[i].exit_fraction * factor);
  }
  for (size_t i = 0; i < a.reflections.size(); ++i) {
    EXPECT_EQ(a.reflections[i].x * factor, b.reflections[i].x);
    EXPECT_EQ(a.reflections[i].y * factor, b.reflections[i].y);
  }
}

// What `hit` has up to some measures, and the rest as a default hit has it.
CastHit Less(CastHit hit, CastDetail detail) {
  const CastHit none;
  if (detail < CastDetail::kNormal) {
    hit.point = none.point;
    hit.normal = none.normal;
  }
  if (detail < CastDetail::kEdge) {
    hit.edge = none.edge;
    hit.feature = none.feature;
  }
  if (detail < CastDetail::kExit) {
    hit.exit_fraction = none.exit_fraction;
    hit.exit_normal = none.exit_normal;
    hit.exit_edge = none.exit_edge;
    hit.has_exit_edge = none.has_exit_edge;
  }
  return hit;
}

TEST(RayLawTest, FewerMeasuresAreAPartOfAll) {
  size_t compared = 0;
  ForRandomScenes(78, Repeats(150, 10000),
                  [&](Random& random, const Grid& grid, const TestScene& scene) {
                    const Ray ray = RandomRay(random, grid);
                    CastOptions options = RandomOptions(random);
                    options.reflect = false;
                    CastAnswers all = Cast(*scene.scene, {ray}, options);
                    SCOPED_TRACE(scene.ToCode() + ToCode(ray, options));
                    for (const CastDetail detail :
                         {CastDetail::kEdge, CastDetail::kNormal, CastDetail::kFraction}) {
                      options.detail = detail;
                      for (CastHit& hit : all.hits) hit = Less(hit, detail);
                      ExpectSame(Cast(*scene.scene, {ray}, options), all);
                      compared += all.hits.size();
                    }
                  });
  EXPECT_GT(compared, 1000u);
}

TEST(RayLawTest, ARayOverZeroToOneIsTheSegmentBitForBit) {
  int compared = 0;
  ForRandomScenes(73, Repeats(2000, 20000),
                  [&](Random& random, const Grid& grid, const TestScene& scene) {
                    const Segment s{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
                    const Vec2 d{s.b.x - s.a.x, s.b.y - s.a.y};
                    // Only where b - a is a pair of doubles.
                    if (Exact(s.b.x) - Exact(s.a.x) != Exact(d.x) ||
                        Exact(s.b.y) - Exact(s.a.y) != Exact(d.y) || d == Vec2{} ||
                        !(Normalized(d) == d) || !IsAccepted(d)) {
                      return;
                    }
                    ++compared;
                    const CastOptions options = RandomOptions(random);
                    const Ray ray{s.a, d, 0, 1};
                    SCOPED_TRACE(scene.ToCode() + ToCode(ray, options));
                    ExpectSame(Cast(*scene.scene, s, options), Cast(*scene.scene, {ray}, options));
                  });
  EXPECT_GT(compared, 5000);
}

TEST(RayLawTest, ScalingTheDirectionByAPowerOfTwoScalesFractions) {
  ForRandomScenes(
      74, Repeats(1000, 20000), [](Random& random, const Grid& grid, const TestScene& scene) {
        Ray ray = RandomRay(random, grid);
        ray.direction = Normalized(ray.direction);
        const double factor = std::ldexp(1, random.Below(80) - 40);
        const Ray scaled{ray.origin,
                         {ray.direction.x * factor, ray.direction.y * factor},
                         ray.t_min / factor,
                         ray.t_max / factor};
        // Neither flushed nor refused, and the range as it was.
        if (!(Normalized(scaled.direction) == scaled.direction) || !IsAccepted(scaled.direction) ||
            scaled.t_min * factor != ray.t_min || scaled.t_max * factor != ray.t_max) {
          return;
        }
        const CastOptions options = RandomOptions(random);
        SCOPED_TRACE(scene.ToCode() + ToCode(ray, options) + absl::StrFormat(" * %a", factor));
        ExpectSame(Cast(*scene.scene, {ray}, options), Cast(*scene.scene, {scaled}, options),
                   factor);
      });
}

TEST(RayLawTest, SplittingTheRangeAnywhereLosesNoHit) {
  CastOptions any;
  any.mode = CastMode::kAny;
  ForRandomScenes(
      75, Repeats(1500, 20000), [&](Random& random, const Grid& grid, const TestScene& scene) {
        const Ray ray = RandomRay(random, grid);
        const double t = std::nextafter(RandomTMin(random), HUGE_VAL);
        if (!(ray.t_min < t && t < ray.t_max)) return;
        SCOPED_TRACE(scene.ToCode() + ToCode(ray, any) + absl::StrFormat(" at %a", t));
        const Ray near{ray.origin, ray.direction, ray.t_min, t};
        const Ray far{ray.origin, ray.direction, t, ray.t_max};
        const std::vector<uint32_t> counts = Cast(*scene.scene, {ray, near, far}, any).counts;
        EXPECT_EQ(counts[0], counts[1] | counts[2]);
      });
}

TEST(RayLawTest, MovingTheOriginAlongAnIntegerRayMovesTheRange) {
  Random random(76);
  for (int i = 0; i < Repeats(5000, 100000) && !HasFailure(); ++i) {
    const Grid grid{4 + random.Below(4), 2, 0};
    const TestScene scene = RandomScene(random, grid);
    const Vec2 origin = grid.Point(random);
    const Vec2 d{random.Below(9) - 4.0, random.Below(9) - 4.0};
    if (d == Vec2{}) continue;
    const double by = 1 + random.Below(4);
    const Ray moved{{origin.x - by * d.x, origin.y - by * d.y}, d, by};
    CastOptions options = RandomOptions(random);
    SCOPED_TRACE(scene.ToCode() + ToCode(moved, options));
    const CastAnswers want = Cast(*scene.scene, {{origin, d}}, options);
    const CastAnswers got = Cast(*scene.scene, {moved}, options);
    ASSERT_EQ(want.hits.size(), got.hits.size());
    EXPECT_EQ(want.counts, got.counts);
    for (size_t k = 0; k < want.hits.size(); ++k) {
      CastHit hit = got.hits[k];
      EXPECT_NEAR(hit.point.x, want.hits[k].point.x, 0x1p-46);
      EXPECT_NEAR(hit.point.y, want.hits[k].point.y, 0x1p-46);
      EXPECT_NEAR(hit.fraction - by, want.hits[k].fraction, 0x1p-46);
      hit.point = want.hits[k].point;
      ExpectSame(want.hits[k], hit);
    }
  }
}

TEST(RayLawTest, CastingAgainstBoundsIsCastingAgainstTheBoxesAsPolygons) {
  ForRandomScenes(77, Repeats(400, 10000),
                  [](Random& random, const Grid& grid, const TestScene& scene) {
                    const Ray ray = RandomRay(random, grid);
                    CastOptions options = RandomOptions(random);
                    SCOPED_TRACE(scene.ToCode() + ToCode(ray, options));
                    const TestScene boxes = BoxScene(scene);
                    options.target = CastTarget::kPolygons;
                    const CastAnswers want = Cast(*boxes.scene, {ray}, options);
                    options.target = CastTarget::kBounds;
                    ExpectSame(want, Cast(*scene.scene, {ray}, options));
                  });
}

}  // namespace
}  // namespace carom::testing::ray_test
