// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Soft walls: hand-made cases of docs/conventions.md, laws, and random casts against the rational
// oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/sincos.h"
#include "carom/visibility.h"
#include "tests/core/one_item.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle.h"
#include "tests/support/repeats.h"

namespace carom::testing::soft_test {
namespace {

using carom::Segment;

constexpr uint64_t kHard = 1;
constexpr uint64_t kSoft = 2;

CastOptions Soft(uint32_t count, InsidePolicy policy = InsidePolicy::kReportStart) {
  CastOptions options;
  options.inside_policy = policy;
  options.soft_mask = kSoft;
  options.soft_count = count;
  options.soft_length = true;
  return options;
}

// The box [x, x + 1] x [0, 2].
PolygonSpec Wall(uint64_t id, double x, uint64_t category) {
  PolygonSpec spec{id, {{{{x, 0}, {x + 1, 0}, {x + 1, 2}, {x, 2}}}}};
  spec.category = category;
  return spec;
}

Scene::Ptr SceneOf(std::vector<PolygonSpec> specs) { return MakeScene(std::move(specs)).scene; }

// Expects that the segment from (x, 1) to (10, 1) has the hit, if any, the number and the length.
struct Want {
  std::optional<uint64_t> id;
  double fraction = 0;
  uint32_t passed = 0;
  double length = 0;
};
void Expect(const Scene& scene, const Segment& line, const CastOptions& options, const Want& want) {
  const CastAnswers got = CastOne(scene, line, options);
  ASSERT_EQ(got.counts[0], want.id ? 1u : 0u);
  ASSERT_EQ(got.passed.size(), 1u);
  ASSERT_EQ(got.soft_lengths.size(), 1u);
  EXPECT_EQ(got.passed[0], want.passed);
  EXPECT_EQ(got.soft_lengths[0], want.length);
  if (!want.id) return;
  EXPECT_EQ(got.hits[0].polygon_id, *want.id);
  EXPECT_EQ(got.hits[0].fraction, want.fraction);
}

TEST(SoftTest, TheWallAfterTheLastSoftOneStops) {
  const Scene::Ptr scene =
      SceneOf({Wall(1, 1, kSoft), Wall(2, 3, kSoft), Wall(3, 5, kHard), Wall(4, 7, kSoft)});
  const Segment line{{0, 1}, {8, 1}};
  Expect(*scene, line, Soft(0), {1, 0.125, 0, 0});
  Expect(*scene, line, Soft(1), {2, 0.375, 1, 1});
  Expect(*scene, line, Soft(2), {3, 0.625, 2, 2});
  Expect(*scene, line, Soft(16), {3, 0.625, 2, 2});
  CastOptions bare = Soft(2);
  bare.mask = kSoft;  // without the hard wall
  Expect(*scene, line, bare, {4, 0.875, 2, 2});
  bare.soft_count = 3;
  Expect(*scene, line, bare, {std::nullopt, 0, 3, 3});
}

TEST(SoftTest, AMissCountsAndMeasuresTheWholeLine) {
  const Scene::Ptr scene = SceneOf({Wall(1, 1, kSoft), Wall(2, 3, kSoft)});
  Expect(*scene, {{0, 1}, {3.5, 1}}, Soft(2), {std::nullopt, 0, 2, 1.5});
  Expect(*scene, {{0, 1}, {0.5, 1}}, Soft(2), {std::nullopt, 0, 0, 0});
  const CastAnswers ray = CastOne(*scene, carom::Ray{{0, 1}, {0.5, 0}}, Soft(2));
  EXPECT_EQ(ray.counts[0], 0u);
  EXPECT_EQ(ray.passed[0], 2u);
  EXPECT_EQ(ray.soft_lengths[0], 2);
}

TEST(SoftTest, TheStartFollowsTheInsidePolicy) {
  const Scene::Ptr scene = SceneOf({Wall(1, 0, kSoft), Wall(2, 2, kSoft), Wall(3, 4, kHard)});
  const Segment line{{0.5, 1}, {8.5, 1}};
  Expect(*scene, line, Soft(0), {1, 0, 0, 0});
  Expect(*scene, line, Soft(1), {2, 0.1875, 1, 0.5});
  // Under IGNORE the passage is free, but its length counts.
  Expect(*scene, line, Soft(0, InsidePolicy::kIgnore), {2, 0.1875, 0, 0.5});
  Expect(*scene, line, Soft(1, InsidePolicy::kIgnore), {3, 0.4375, 1, 1.5});
  // Under EXIT the passage is one event, at its end.
  Expect(*scene, line, Soft(0, InsidePolicy::kExit), {1, 0.0625, 0, 0.5});
  Expect(*scene, line, Soft(1, InsidePolicy::kExit), {2, 0.1875, 1, 0.5});
  Expect(*scene, line, Soft(2, InsidePolicy::kExit), {3, 0.4375, 2, 1.5});
}

TEST(SoftTest, EachPassageOfAPolygonCounts) {
  // A comb with three teeth.
  PolygonSpec comb{7,
                   {{{{0, 0},
                      {7, 0},
                      {7, 2},
                      {6, 2},
                      {6, 1},
                      {4, 1},
                      {4, 2},
                      {3, 2},
                      {3, 1},
                      {1, 1},
                      {1, 2},
                      {0, 2}}}}};
  comb.category = kSoft;
  const Scene::Ptr scene = SceneOf({comb});
  const Segment line{{-1, 1.5}, {9, 1.5}};
  Expect(*scene, line, Soft(1), {7, 0.4, 1, 1});
  Expect(*scene, line, Soft(2), {7, 0.7, 2, 2});
  Expect(*scene, line, Soft(3), {std::nullopt, 0, 3, 3});
}

TEST(SoftBoundaryTest, ToTouchIsToPassOnce) {
  const Scene::Ptr scene = SceneOf({Wall(1, 1, kSoft), Wall(2, 5, kHard)});
  // Along the upper edge, and through a corner.
  Expect(*scene, {{0, 2}, {8, 2}}, Soft(1), {2, 0.625, 1, 1});
  Expect(*scene, {{0, 3}, {2, 1}}, Soft(0), {1, 0.5, 0, 0});
  Expect(*scene, {{0, 1}, {2, 3}}, Soft(1), {std::nullopt, 0, 1, 0});
}

// What begins at one fraction is ordered by id: the line stops there in either order.
TEST(SoftBoundaryTest, SoftAndHardAtOneFractionAreOrderedById) {
  const Segment line{{0, 1}, {8, 1}};
  const Scene::Ptr first = SceneOf({Wall(1, 2, kSoft), Wall(2, 2, kHard)});
  Expect(*first, line, Soft(1), {2, 0.25, 1, 0});
  Expect(*first, line, Soft(0), {1, 0.25, 0, 0});
  const Scene::Ptr last = SceneOf({Wall(1, 2, kHard), Wall(2, 2, kSoft)});
  Expect(*last, line, Soft(1), {1, 0.25, 0, 0});
}

TEST(SoftBoundaryTest, WhatIsInTwoSoftWallsCountsOnceInTheLength) {
  PolygonSpec wide{3, {{{{0, 0}, {4, 0}, {4, 2}, {0, 2}}}}};
  wide.category = kSoft;
  const Scene::Ptr scene = SceneOf({Wall(1, 1, kSoft), Wall(2, 3.5, kSoft), wide});
  Expect(*scene, {{-1, 1}, {7, 1}}, Soft(3), {std::nullopt, 0, 3, 4.5});
}

TEST(SoftDegenerateTest, ALineOfLengthZeroHasItsEventsAtItsStart) {
  const Scene::Ptr scene = SceneOf({Wall(1, 0, kSoft), Wall(2, 0, kSoft)});
  const Segment point{{0.5, 1}, {0.5, 1}};
  Expect(*scene, point, Soft(1), {2, 0, 1, 0});
  Expect(*scene, point, Soft(2), {std::nullopt, 0, 2, 0});
  Expect(*scene, point, Soft(0, InsidePolicy::kIgnore), {std::nullopt, 0, 0, 0});
}

TEST(SoftDegenerateTest, ItemsInErrorAndAbsentColumns) {
  const Scene::Ptr scene = SceneOf({Wall(1, 1, kSoft)});
  const CastAnswers bad = CastOne(*scene, Segment{{NAN, 0}, {1, 1}}, Soft(1));
  EXPECT_EQ(bad.errors.size(), 1u);
  EXPECT_EQ(bad.passed, (std::vector<uint32_t>{0}));
  EXPECT_EQ(bad.soft_lengths, (std::vector<double>{0}));
  CastOptions any = Soft(1);
  any.mode = CastMode::kAny;
  any.soft_length = false;
  EXPECT_TRUE(CastOne(*scene, Segment{{0, 1}, {8, 1}}, any).passed.empty());
  CastOptions none;
  none.soft_count = 3;
  const CastAnswers plain = CastOne(*scene, Segment{{0, 1}, {8, 1}}, none);
  EXPECT_EQ(plain.counts[0], 1u);
  EXPECT_TRUE(plain.passed.empty());
  EXPECT_TRUE(plain.soft_lengths.empty());
}

// --- Random scenes

struct SoftCase {
  TestScene scene;
  CastOptions options;
  std::string ToCode() const {
    std::string code = scene.ToCode();
    for (const PolygonSpec& spec : scene.specs) absl::StrAppend(&code, spec.category, " ");
    return absl::StrCat(code, "policy ", static_cast<int>(options.inside_policy), ", count ",
                        options.soft_count, ", mask ", options.mask, ", target ",
                        static_cast<int>(options.target));
  }
};

SoftCase RandomCase(Random& random, const Grid& grid) {
  std::vector<PolygonSpec> specs = RandomScene(random, grid).specs;
  const int most = static_cast<int>(specs.size());
  for (int more = random.Below(6); more > 0; --more) {
    specs.push_back(RandomPolygon(random, grid, 1000 + static_cast<uint64_t>(most + more)));
  }
  for (PolygonSpec& spec : specs) spec.category = random.Below(4) == 0 ? kHard : kSoft;
  if (random.Below(4) == 0) specs.back().category = kHard | kSoft;
  SoftCase made{MakeScene(std::move(specs)), {}};
  made.options = Soft(static_cast<uint32_t>(random.Below(random.Below(4) == 0 ? 17 : 4)),
                      static_cast<InsidePolicy>(random.Below(3)));
  if (random.Below(5) == 0) made.options.mask = kSoft;
  return made;
}

// `length` is within 1 ulp and 2^-90 of the distance to the hit or last exit of sum * |direction|.
void ExpectLength(double length, const OracleLine& line, const OracleSoftAnswer& want) {
  EXPECT_FALSE(std::signbit(length));
  const Rational d2 = Dot(line.direction, line.direction);
  const Rational exact2 = want.soft_sum * want.soft_sum * d2;
  const double extent =
      std::hypot(NearestDouble(line.direction.x), NearestDouble(line.direction.y));
  const Rational reach = want.hit ? want.hit->at.fraction : want.soft_end;
  const Rational slack = Exact(Ulp(length)) + reach * Exact(extent) * Exact(0x1p-90);
  const Rational high = Exact(length) + slack;
  const Rational low = Exact(length) - slack;
  EXPECT_LE(exact2, high * high) << length;
  if (low > 0) {
    EXPECT_GE(exact2, low * low) << length;
  }
}

void ExpectSoft(const OracleLine& line, const Oracle& oracle, const CastOptions& options,
                const CastAnswers& got) {
  OracleCastOptions asked;
  asked.inside = static_cast<OracleInside>(options.inside_policy);
  asked.mask = options.mask;
  const OracleSoftAnswer want = oracle.SoftCast(line, asked, options.soft_mask, options.soft_count);
  ASSERT_EQ(got.counts[0], want.hit ? 1u : 0u);
  EXPECT_EQ(got.passed[0], want.passed);
  ExpectLength(got.soft_lengths[0], line, want);
  if (!want.hit) return;
  const CastHit& hit = got.hits[0];
  EXPECT_EQ(hit.polygon_id, want.hit->polygon);
  EXPECT_EQ(hit.fraction, NearestDouble(want.hit->at.fraction));
  EXPECT_EQ(hit.exit_fraction, NearestDouble(want.hit->passage.exit.fraction));
  EXPECT_EQ(hit.starts_inside, want.hit->passage.starts_inside);
  EXPECT_EQ(hit.ends_inside, want.hit->passage.ends_inside);
  ASSERT_EQ(hit.feature != Feature::kNone, want.hit->at.edge.has_value());
  if (want.hit->at.edge) {
    EXPECT_EQ(hit.edge, (EdgeRef{want.hit->at.edge->ring, want.hit->at.edge->edge}));
  }
}

template <class Check>
void ForCases(uint64_t seed, int cases, Check check) {
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(seed + static_cast<uint64_t>(i));
    Grid grid{3 + random.Below(6), std::ldexp(1, 20 * random.Below(3) - 20), i % 3 == 0 ? 0 : 15};
    grid.mixed = i % 16 == 15;
    const SoftCase made = RandomCase(random, grid);
    SCOPED_TRACE(absl::StrCat("case ", i, made.ToCode()));
    for (int q = 0; q < 6 && !::testing::Test::HasFailure(); ++q) check(random, grid, made);
  }
}

Segment RandomSegment(Random& random, const Grid& grid) {
  const Vec2 a = grid.Point(random);
  return {a, random.Below(12) == 0 ? a : grid.Point(random)};
}

TEST(SoftOracleTest, SegmentsEqualTheOracle) {
  ForCases(431, Repeats(250, 20000), [](Random& random, const Grid& grid, const SoftCase& made) {
    const Segment s = RandomSegment(random, grid);
    SCOPED_TRACE(absl::StrFormat("{{%a, %a}, {%a, %a}}", s.a.x, s.a.y, s.b.x, s.b.y));
    const OracleLine line = carom::testing::Segment({s.a.x, s.a.y}, {s.b.x, s.b.y});
    ExpectSoft(line, made.scene.oracle, made.options, CastOne(*made.scene.scene, s, made.options));
  });
}

TEST(SoftOracleTest, RaysEqualTheOracle) {
  ForCases(432, Repeats(250, 20000), [](Random& random, const Grid& grid, const SoftCase& made) {
    const Segment s = RandomSegment(random, grid);
    carom::Ray ray{Normalized(s.a), Normalized(Vec2{s.b.x - s.a.x, s.b.y - s.a.y})};
    if (ray.direction == Vec2{}) ray.direction = {1, 0};
    if (!IsAccepted(ray.direction)) return;
    if (random.Below(2) == 0) ray.t_min = 0.25 * random.Below(5);
    if (random.Below(2) == 0) ray.t_max = ray.t_min + 0.25 * (1 + random.Below(8));
    SCOPED_TRACE(absl::StrFormat("{{%a, %a}, {%a, %a}, %a, %a}", ray.origin.x, ray.origin.y,
                                 ray.direction.x, ray.direction.y, ray.t_min, ray.t_max));
    const OracleLine line = carom::testing::Ray(
        {ray.origin.x, ray.origin.y}, {ray.direction.x, ray.direction.y}, ray.t_min, ray.t_max);
    ExpectSoft(line, made.scene.oracle, made.options,
               CastOne(*made.scene.scene, ray, made.options));
  });
}

// --- Laws, with bodies

struct SoftWorld {
  Bodies bodies;
  std::vector<uint64_t> category;  // of the bodies
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;
};

SoftWorld RandomBodies(Random& random, const Grid& grid) {
  std::vector<Shape> shapes;
  std::vector<double> zeros;
  std::vector<uint64_t> category;
  std::vector<uint32_t> owner;
  for (int left = random.Below(6); left > 0; --left) {
    if (random.Below(2) == 0) {
      shapes.emplace_back(Polygon::Create(RandomPolygon(random, grid, 0)).value());
    } else {
      const Vec2 a = Normalized(grid.Point(random));
      shapes.push_back(
          Shape::Create(Capsule{{a, random.Below(2) == 0 ? a : Normalized(grid.Point(random))},
                                grid.scale * (1 + random.Below(4)) / 3})
              .value());
    }
    zeros.push_back(0);
    category.push_back(random.Below(3) == 0 ? kHard : kSoft);
    owner.push_back(static_cast<uint32_t>(random.Below(3)));
  }
  SoftWorld world{Bodies::Create({{shapes, {}, zeros, zeros}, category, owner}).value(), category};
  if (random.Below(3) == 0) world.mask = kSoft;
  world.ignore_owner = static_cast<uint32_t>(random.Below(3));
  return world;
}

void ExpectSame(const CastHit& a, const CastHit& b) {
  EXPECT_EQ(a.polygon_id, b.polygon_id);
  EXPECT_EQ(a.is_body, b.is_body);
  EXPECT_EQ(a.feature, b.feature);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.exit_edge, b.exit_edge);
  EXPECT_EQ(a.starts_inside, b.starts_inside);
  EXPECT_EQ(a.ends_inside, b.ends_inside);
  EXPECT_EQ(a.has_exit_edge, b.has_exit_edge);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.exit_fraction, b.exit_fraction);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.normal, b.normal);
  EXPECT_EQ(a.exit_normal, b.exit_normal);
}

// The categories of everything, by which a row of ALL_PASSAGES is soft.
bool IsSoft(const SoftCase& made, const SoftWorld& world, const CastHit& hit) {
  if (hit.is_body) {
    return (world.category[hit.polygon_id] & kSoft) != 0;
  }
  const auto found = std::ranges::find(made.scene.specs, hit.polygon_id, &PolygonSpec::id);
  return (found->category & kSoft) != 0;
}

// One question of the laws, in a world with bodies.
class Asker {
 public:
  Asker(Random& random, const SoftCase& made, SoftWorld& world)
      : asked_(*made.scene.scene, &world.bodies),
        scope_{random.Below(4) == 0 ? Against::kBodies : Against::kBoth,
               {&world.mask, 1},
               {&world.ignore_owner, 1}} {}

  CastAnswers Cast(const Segment& line, const CastOptions& options) {
    CastAnswers out;
    EXPECT_TRUE(CastSegments(asked_, Columns(line), options, out, meter_));
    return out;
  }
  bool Sees(const Segment& line, const SightOptions& options) {
    SightAnswers out;
    EXPECT_TRUE(TestLinesOfSight(asked_, Columns(line), options, out, meter_));
    return out.visible[0] == 1;
  }

 private:
  SegmentColumns Columns(const Segment& s) const {
    return {{&s.a.x, 1}, {&s.a.y, 1}, {&s.b.x, 1}, {&s.b.y, 1}, scope_};
  }

  World asked_;
  Scope scope_;
  WorkMeter meter_;
};

// A greater count passes as many walls or more, and stops as late or later. Each length may err by
// 1 ulp and 2^-90 of the segment.
void ExpectLater(const Segment& s, const CastAnswers& got, const CastAnswers& later) {
  EXPECT_GE(later.passed[0], got.passed[0]);
  const double slack =
      0x1p-52 * got.soft_lengths[0] + 0x1p-90 * std::hypot(s.b.x - s.a.x, s.b.y - s.a.y);
  EXPECT_GE(later.soft_lengths[0], got.soft_lengths[0] - 2 * slack);
  if (later.counts[0] == 0) return;
  ASSERT_EQ(got.counts[0], 1u);
  EXPECT_GE(later.hits[0].fraction, got.hits[0].fraction);
}

// The events are the rows of ALL_PASSAGES: the hit is the first hard one, or the soft one after
// soft_count others, byte for byte, with polygons and bodies of all kinds, and with boxes.
void ExpectLaws(Random& random, const Grid& grid, const SoftCase& made) {
  SoftWorld world = RandomBodies(random, grid);
  Asker asker(random, made, world);
  CastOptions options = made.options;
  if (random.Below(5) == 0) options.target = CastTarget::kBounds;
  const Segment s = RandomSegment(random, grid);
  SCOPED_TRACE(absl::StrFormat("{{%a, %a}, {%a, %a}}", s.a.x, s.a.y, s.b.x, s.b.y));
  CastOptions passages = options;
  passages.soft_mask = passages.soft_count = 0;
  passages.soft_length = false;
  passages.mode = CastMode::kAllPassages;
  passages.max_hits = kMaxMaxHits;
  const CastAnswers events = asker.Cast(s, passages);
  size_t stop = 0;
  while (stop < events.hits.size() && stop < options.soft_count &&
         IsSoft(made, world, events.hits[stop])) {
    ++stop;
  }
  const CastAnswers got = asker.Cast(s, options);
  EXPECT_EQ(got.passed[0], stop);
  ASSERT_EQ(got.counts[0], stop < events.hits.size() ? 1u : 0u);
  if (got.counts[0] == 1) ExpectSame(got.hits[0], events.hits[stop]);

  CastOptions any = options;
  any.mode = CastMode::kAny;
  any.soft_length = false;
  EXPECT_EQ(asker.Cast(s, any).counts, got.counts);

  CastOptions more = options;
  ++more.soft_count;
  ExpectLater(s, got, asker.Cast(s, more));

  const SightOptions sight{kEveryCategory, kSoft, options.soft_count};
  const bool is_visible = asker.Sees(s, sight);
  EXPECT_EQ(asker.Sees({s.b, s.a}, sight), is_visible);
  any.inside_policy = InsidePolicy::kReportStart;
  any.target = CastTarget::kPolygons;
  EXPECT_EQ(asker.Cast(s, any).counts[0] == 0, is_visible);
}

TEST(SoftLawTest, TheHitIsARowOfAllPassages) { ForCases(433, Repeats(300, 20000), ExpectLaws); }

// Without soft categories, or without a count, the answer is the plain one.
TEST(SoftLawTest, NothingToPassIsThePlainCast) {
  ForCases(434, Repeats(150, 10000), [](Random& random, const Grid& grid, const SoftCase& made) {
    const Segment s = RandomSegment(random, grid);
    CastOptions plain = made.options;
    plain.soft_mask = plain.soft_count = 0;
    plain.soft_length = false;
    const CastAnswers want = CastOne(*made.scene.scene, s, plain);
    for (const bool has_mask : {false, true}) {
      CastOptions options = made.options;
      if (has_mask) options.soft_count = 0;
      if (!has_mask) options.soft_mask = 0;
      const CastAnswers got = CastOne(*made.scene.scene, s, options);
      ASSERT_EQ(got.counts, want.counts);
      if (want.counts[0] == 1) ExpectSame(got.hits[0], want.hits[0]);
      EXPECT_EQ(got.passed, std::vector<uint32_t>{0});
      if (!has_mask) {
        EXPECT_EQ(got.soft_lengths, std::vector<double>{0});
      }
    }
  });
}

// The beams of a fan are casts.
TEST(SoftLawTest, BeamsEqualCasts) {
  ForCases(435, Repeats(60, 4000), [](Random& random, const Grid& grid, const SoftCase& made) {
    if (grid.mixed) return;
    const Vec2 from = Normalized(grid.Point(random));
    const double angle = random.Below(7), step = 0.25, range = grid.scale * random.Below(9);
    const uint32_t beams = 9;
    FanColumns fans{{&from.x, 1}, {&from.y, 1}, {&angle, 1}, {&step, 1}, {&range, 1}, {&beams, 1}};
    FanAnswers out;
    WorkMeter meter;
    const FanOptions options{made.options.inside_policy, made.options.mask, kSoft,
                             made.options.soft_count};
    ASSERT_TRUE(ScanFans(*made.scene.scene, fans, options, out, meter));
    ASSERT_EQ(out.counts[0], beams);
    for (uint32_t k = 0; k < beams; ++k) {
      const CosSin turn = SinCos(angle + k * step);
      const Vec2 to = Normalized(Vec2{from.x + range * turn.c, from.y + range * turn.s});
      const CastAnswers want = CastOne(*made.scene.scene, Segment{from, to}, made.options);
      ASSERT_EQ(out.hits[k], want.counts[0]) << "beam " << k;
      if (want.counts[0] == 0) continue;
      EXPECT_EQ(out.polygon_ids[k], want.hits[0].polygon_id);
      EXPECT_EQ(out.distances[k], want.hits[0].fraction * range);
    }
  });
}

}  // namespace
}  // namespace carom::testing::soft_test
