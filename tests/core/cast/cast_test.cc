// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Hand-made cases in the order of docs/conventions.md, then the laws. oracle_test.cc compares
// random casts with exact answers.

#include "carom/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/random_scene.h"

namespace carom::testing::cast_test {
namespace {

using carom::Segment;

RingSpec Rectangle(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

Scene::Ptr SceneOf(std::vector<PolygonSpec> specs) { return MakeScene(std::move(specs)).scene; }

CastAnswers Cast(const Scene& scene, const std::vector<Segment>& segments,
                 const CastOptions& options, WorkMeter& meter) {
  std::vector<double> ax, ay, bx, by;
  for (const Segment& s : segments) {
    ax.push_back(s.a.x);
    ay.push_back(s.a.y);
    bx.push_back(s.b.x);
    by.push_back(s.b.y);
  }
  CastAnswers answers;
  EXPECT_TRUE(CastSegments(scene, {ax, ay, bx, by}, options, answers, meter));
  return answers;
}

CastAnswers Cast(const Scene& scene, const std::vector<Segment>& segments,
                 const CastOptions& options = {}) {
  WorkMeter meter;
  return Cast(scene, segments, options, meter);
}

// The hit of one CLOSEST cast, which is expected.
CastHit Hit(const Scene& scene, Segment segment, InsidePolicy policy = InsidePolicy::kReportStart) {
  CastOptions options;
  options.inside_policy = policy;
  const CastAnswers answers = Cast(scene, {segment}, options);
  EXPECT_EQ(answers.hits.size(), 1u);
  return answers.hits.empty() ? CastHit{} : answers.hits[0];
}

TEST(CastTest, EntersAndLeavesASquare) {
  const Scene::Ptr scene = SceneOf({{7, {Rectangle(2, 0, 4, 2)}}});
  const CastHit hit = Hit(*scene, {{0, 1}, {8, 1}});
  EXPECT_EQ(hit.polygon_id, 7u);
  EXPECT_EQ(hit.fraction, 0.25);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
  EXPECT_EQ(hit.feature, Feature::kEdge);
  EXPECT_EQ(hit.point, (Vec2{2, 1}));
  EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
  EXPECT_EQ(hit.exit_fraction, 0.5);
  EXPECT_EQ(hit.exit_edge, (EdgeRef{0, 1}));
  EXPECT_EQ(hit.exit_normal, (Vec2{1, 0}));
  EXPECT_FALSE(hit.starts_inside);
  EXPECT_FALSE(hit.ends_inside);
}

TEST(CastTest, NormalDoesNotDependOnTheWinding) {
  RingSpec clockwise = Rectangle(2, 0, 4, 2);
  std::reverse(clockwise.vertices.begin(), clockwise.vertices.end());
  const Scene::Ptr scene = SceneOf({{7, {clockwise}}});
  EXPECT_EQ(Hit(*scene, {{0, 1}, {8, 1}}).normal, (Vec2{-1, 0}));
}

TEST(CastTest, TouchingAVertexIsAHitAndAPassageOfOnePoint) {
  const Scene::Ptr scene = SceneOf({{1, {{{{0, 0}, {2, 2}, {-2, 2}}}}}});
  const CastHit hit = Hit(*scene, {{-1, 0}, {3, 0}});
  EXPECT_EQ(hit.fraction, 0.25);
  EXPECT_EQ(hit.exit_fraction, 0.25);
  EXPECT_EQ(hit.feature, Feature::kVertex);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 0}));
  EXPECT_EQ(hit.point, (Vec2{0, 0}));
}

TEST(CastTest, RunningAlongAnEdgeReportsTheCrossedOne) {
  const Scene::Ptr scene = SceneOf({{1, {Rectangle(2, 0, 4, 2)}}});
  const CastHit hit = Hit(*scene, {{0, 0}, {8, 0}});
  EXPECT_EQ(hit.fraction, 0.25);
  EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));  // edge 0 is parallel
  EXPECT_EQ(hit.feature, Feature::kVertex);
  EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
  EXPECT_EQ(hit.exit_fraction, 0.5);
  EXPECT_EQ(hit.exit_edge, (EdgeRef{0, 1}));
}

TEST(CastTest, EndOnOfAnOpenChainIsCollinear) {
  PolygonSpec spec{1, {{{{2, 0}, {4, 0}}, true}}};
  spec.solidity = Solidity::kBoundary;
  const CastHit hit = Hit(*SceneOf({spec}), {{0, 0}, {8, 0}});
  EXPECT_EQ(hit.feature, Feature::kCollinear);
  EXPECT_EQ(hit.normal, (Vec2{0, 0}));
  EXPECT_EQ(hit.fraction, 0.25);
  EXPECT_EQ(hit.exit_fraction, 0.5);
}

TEST(CastTest, StartInsideFollowsThePolicy) {
  const Scene::Ptr scene =
      SceneOf({{1, {{{{0, 0}, {8, 0}, {8, 4}, {6, 4}, {6, 1}, {2, 1}, {2, 4}, {0, 4}}}}}});
  const Segment across{{1, 2}, {9, 2}};  // inside until x = 2, again in [6, 8]
  const CastHit start = Hit(*scene, across);
  EXPECT_EQ(start.fraction, 0);
  EXPECT_TRUE(start.starts_inside);
  EXPECT_EQ(start.feature, Feature::kNone);
  EXPECT_EQ(start.normal, (Vec2{0, 0}));
  EXPECT_EQ(start.exit_fraction, 0.125);
  const CastHit ignore = Hit(*scene, across, InsidePolicy::kIgnore);
  EXPECT_EQ(ignore.fraction, 0.625);
  EXPECT_FALSE(ignore.starts_inside);
  EXPECT_EQ(ignore.normal, (Vec2{-1, 0}));
  const CastHit exit = Hit(*scene, across, InsidePolicy::kExit);
  EXPECT_EQ(exit.fraction, 0.125);
  EXPECT_EQ(exit.normal, (Vec2{1, 0}));
  EXPECT_EQ(exit.edge, (EdgeRef{0, 5}));
  EXPECT_TRUE(exit.starts_inside);
}

TEST(CastTest, ExitOfASegmentThatStaysInsideIsAtItsEnd) {
  const Scene::Ptr scene = SceneOf({{1, {Rectangle(0, 0, 8, 8)}}});
  const CastHit hit = Hit(*scene, {{1, 1}, {2, 1}}, InsidePolicy::kExit);
  EXPECT_EQ(hit.fraction, 1);
  EXPECT_TRUE(hit.ends_inside);
  EXPECT_FALSE(hit.has_exit_edge);
  EXPECT_EQ(hit.normal, (Vec2{0, 0}));
  const CastHit to_edge = Hit(*scene, {{1, 1}, {8, 1}}, InsidePolicy::kExit);
  EXPECT_TRUE(to_edge.has_exit_edge);
  EXPECT_EQ(to_edge.exit_edge, (EdgeRef{0, 1}));
  EXPECT_EQ(to_edge.normal, (Vec2{0, 0}));
}

TEST(CastTest, SegmentOfLengthZeroIsAPoint) {
  const Scene::Ptr scene = SceneOf({{1, {Rectangle(0, 0, 8, 8)}}});
  const CastHit inside = Hit(*scene, {{1, 1}, {1, 1}});
  EXPECT_EQ(inside.feature, Feature::kNone);
  EXPECT_EQ(inside.fraction, 0);
  EXPECT_EQ(inside.exit_fraction, 0);
  EXPECT_TRUE(inside.starts_inside);
  EXPECT_TRUE(inside.ends_inside);
  const CastHit corner = Hit(*scene, {{8, 8}, {8, 8}});
  EXPECT_EQ(corner.feature, Feature::kCollinear);
  EXPECT_EQ(corner.edge, (EdgeRef{0, 1}));
  EXPECT_EQ(Cast(*scene, {{{9, 9}, {9, 9}}}).counts[0], 0u);
}

TEST(CastTest, InnerEdgesDoNotEndAPassage) {
  // Two overlapping rings under NON_ZERO: one filled region with edges inside it.
  PolygonSpec spec{1, {Rectangle(1, 0, 4, 2), Rectangle(3, 0, 6, 2)}};
  spec.fill_rule = FillRule::kNonZero;
  const CastHit joined = Hit(*SceneOf({spec}), {{0, 1}, {8, 1}});
  EXPECT_EQ(joined.exit_fraction, 0.75);
  // Under EVEN_ODD the overlap is a hole with closed edges: the first passage ends at its edge.
  spec.fill_rule = FillRule::kEvenOdd;
  EXPECT_EQ(Hit(*SceneOf({spec}), {{0, 1}, {8, 1}}).exit_fraction, 0.375);
}

TEST(CastTest, TiesGoToTheLeastPolygonIdAndAllIsInTotalOrder) {
  const Scene::Ptr scene = SceneOf(
      {{9, {Rectangle(2, 0, 4, 2)}}, {3, {Rectangle(2, 1, 5, 3)}}, {1, {Rectangle(6, 0, 7, 2)}}});
  CastOptions options;
  EXPECT_EQ(Hit(*scene, {{0, 1}, {8, 1}}).polygon_id, 3u);
  options.mode = CastMode::kAll;
  const CastAnswers all = Cast(*scene, {{{0, 1}, {8, 1}}}, options);
  ASSERT_EQ(all.counts[0], 3u);
  EXPECT_EQ(all.hits[0].polygon_id, 3u);
  EXPECT_EQ(all.hits[1].polygon_id, 9u);
  EXPECT_EQ(all.hits[2].polygon_id, 1u);
  EXPECT_TRUE(all.truncated.empty());
  options.max_hits = 2;
  const CastAnswers first = Cast(*scene, {{{0, 1}, {8, 1}}}, options);
  EXPECT_EQ(first.counts[0], 2u);
  EXPECT_EQ(first.truncated, (std::vector<uint32_t>{0}));
  EXPECT_EQ(first.hits[1].polygon_id, 9u);
  options.max_hits = 3;
  EXPECT_TRUE(Cast(*scene, {{{0, 1}, {8, 1}}}, options).truncated.empty());
}

// A comb with teeth [0, 1], [2, 3], [4, 5] and [6, 7] above a bar below y = 0.
PolygonSpec Comb(uint64_t id) {
  RingSpec ring{{{7, -1}, {0, -1}}};
  for (double x = 0; x < 8; x += 2) {
    ring.vertices.insert(ring.vertices.end(), {{x, 4}, {x + 1, 4}, {x + 1, 0}, {x + 2, 0}});
  }
  ring.vertices.pop_back();
  return {id, {ring}};
}

std::vector<double> Fractions(const CastAnswers& answers) {
  std::vector<double> fractions;
  for (const CastHit& hit : answers.hits) fractions.push_back(hit.fraction);
  return fractions;
}

TEST(CastTest, AllPassagesReportsEveryToothUnderEachPolicy) {
  const Scene::Ptr scene = SceneOf({Comb(5), {3, {Rectangle(2, 1, 2.5, 3)}}});
  CastOptions options;
  options.mode = CastMode::kAllPassages;
  const CastAnswers outside = Cast(*scene, {{{-1, 2}, {15, 2}}}, options);
  EXPECT_EQ(Fractions(outside), (std::vector<double>{0.0625, 0.1875, 0.1875, 0.3125, 0.4375}));
  EXPECT_EQ(outside.hits[1].polygon_id, 3u);  // the tie goes to the lower id
  EXPECT_EQ(outside.hits[2].polygon_id, 5u);
  EXPECT_EQ(outside.hits[4].exit_fraction, 0.5);
  const Segment inside{{0.5, 2}, {8.5, 2}};
  EXPECT_EQ(Fractions(Cast(*scene, {inside}, options)),
            (std::vector<double>{0, 0.1875, 0.1875, 0.4375, 0.6875}));
  options.inside_policy = InsidePolicy::kIgnore;
  EXPECT_EQ(Fractions(Cast(*scene, {inside}, options)),
            (std::vector<double>{0.1875, 0.1875, 0.4375, 0.6875}));
  options.inside_policy = InsidePolicy::kExit;
  EXPECT_EQ(Fractions(Cast(*scene, {inside}, options)),
            (std::vector<double>{0.0625, 0.1875, 0.1875, 0.4375, 0.6875}));
  options.max_hits = 2;
  const CastAnswers first = Cast(*scene, {inside, {{9, 9}, {9, 10}}, inside}, options);
  EXPECT_EQ(first.counts, (std::vector<uint32_t>{2, 0, 2}));
  EXPECT_EQ(first.truncated, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(first.hits[1].polygon_id, 3u);
}

TEST(CastTest, ReflectionsTurnAboutTheNormal) {
  // A diamond: its sides reflect a level bullet upwards or downwards.
  const Scene::Ptr scene = SceneOf({{1, {{{{4, 0}, {6, 2}, {4, 4}, {2, 2}}}}}});
  CastOptions options;
  options.reflect = true;
  const auto reflections = [&](Segment segment) {
    return Cast(*scene, {segment}, options).reflections;
  };
  EXPECT_EQ(reflections({{0, 3}, {8, 3}}), (std::vector<Vec2>{{0, 8}}));
  EXPECT_EQ(reflections({{0, 1}, {8, 1}}), (std::vector<Vec2>{{0, -8}}));
  EXPECT_EQ(reflections({{4, 8}, {4, 3}}), (std::vector<Vec2>{{5, 0}}));  // the least edge is 1
  EXPECT_EQ(reflections({{4, 2}, {8, 3}}), (std::vector<Vec2>{{0, 0}}));  // starts inside
  EXPECT_EQ(reflections({{2, 4}, {3, 5}}), (std::vector<Vec2>{}));
  options.inside_policy = InsidePolicy::kExit;
  EXPECT_EQ(reflections({{4, 3}, {8, 3}}), (std::vector<Vec2>{{0, -4}}));
  options.mode = CastMode::kAny;
  EXPECT_TRUE(reflections({{0, 3}, {8, 3}}).empty());
}

TEST(CastTest, BoundsAreSolidBoxes) {
  PolygonSpec chain{1, {{{{2, 0}, {4, 2}}, true}}};
  chain.solidity = Solidity::kBoundary;
  const Scene::Ptr scene = SceneOf({chain, {2, {{{{6, 1}, {8, 1}}}}}});
  CastOptions options;
  options.target = CastTarget::kBounds;
  options.mode = CastMode::kAll;
  const CastAnswers answers = Cast(*scene, {{{0, 1}, {8, 1}}, {{3, 4}, {3, 1}}}, options);
  ASSERT_EQ(answers.counts, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(answers.hits[0].edge, (EdgeRef{0, 3}));
  EXPECT_EQ(answers.hits[0].exit_edge, (EdgeRef{0, 1}));
  EXPECT_EQ(answers.hits[0].exit_fraction, 0.5);
  EXPECT_EQ(answers.hits[1].polygon_id, 2u);
  EXPECT_EQ(answers.hits[1].edge, (EdgeRef{0, 0}));  // its box is as flat as it
  EXPECT_EQ(answers.hits[1].feature, Feature::kCollinear);
  EXPECT_EQ(answers.hits[2].edge, (EdgeRef{0, 2}));
  EXPECT_TRUE(answers.hits[2].ends_inside);
}

TEST(CastTest, MaskPicksCategories) {
  PolygonSpec near{1, {Rectangle(2, 0, 4, 2)}};
  near.category = 2;
  const Scene::Ptr scene = SceneOf({near, {2, {Rectangle(5, 0, 6, 2)}}});
  CastOptions options;
  options.mask = 1;
  EXPECT_EQ(Cast(*scene, {{{0, 1}, {8, 1}}}, options).hits[0].polygon_id, 2u);
  options.mask = 4;
  EXPECT_EQ(Cast(*scene, {{{0, 1}, {8, 1}}}, options).counts[0], 0u);
  options.mask = 0;
  EXPECT_EQ(Cast(*scene, {{{0, 1}, {8, 1}}}, options).counts[0], 0u);
}

TEST(CastTest, ABadItemIsAnsweredAloneAndTheOthersAsIfItWereNotThere) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Scene::Ptr scene = SceneOf({{1, {Rectangle(2, 0, 4, 2)}}});
  const double above = std::nextafter(kMaxCoordinate, HUGE_VAL);
  const Segment good{{0, 1}, {8, 1}};
  const CastAnswers answers = Cast(
      *scene, {good, {{kNan, 0}, {1, 1}}, {{0, 0}, {HUGE_VAL, kNan}}, {{0, above}, {0, 0}}, good});
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kAx, ItemFault::kNotAccepted},
                                    {2, ItemColumn::kBx, ItemFault::kNotAccepted},
                                    {3, ItemColumn::kAy, ItemFault::kNotAccepted}}));
  EXPECT_EQ(answers.hits[0].fraction, answers.hits[1].fraction);
}

TEST(CastTest, AMeterStopsTheWork) {
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 3000; ++i) specs.push_back({i, {Rectangle(0, 0, 1, 1)}});
  const Scene::Ptr scene = SceneOf(specs);
  const std::vector<double> zero(100, 0.5);
  CastAnswers answers;
  int asked = 0;
  WorkMeter meter([&asked] { return ++asked > 2; });
  EXPECT_FALSE(CastSegments(*scene, {zero, zero, zero, zero}, {}, answers, meter));
  EXPECT_LT(meter.used(), 10 * WorkMeter::kInterval);
  CastOptions all;
  all.mode = CastMode::kAll;
  all.max_hits = 3000;
  WorkMeter rows;
  rows.set_max_rows(5000);
  EXPECT_FALSE(CastSegments(*scene, {zero, zero, zero, zero}, all, answers, rows));
  EXPECT_TRUE(rows.out_of_rows());
}

// Laws, on random scenes. Each case is one scene and one segment.
template <class Law>
void ForRandomCasts(uint64_t seed, Law law) {
  Random random(seed);
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i) {
    const Grid grid{4 + random.Below(4), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    const TestScene scene = RandomScene(random, grid);
    const Segment segment{grid.Point(random), grid.Point(random)};
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{{%a, %a}, {%a, %a}}", segment.a.x, segment.a.y,
                                                  segment.b.x, segment.b.y));
    law(random, scene, segment);
  }
}

std::vector<uint64_t> IdsHit(const Scene& scene, Segment segment) {
  CastOptions options;
  options.mode = CastMode::kAll;
  std::vector<uint64_t> ids;
  for (const CastHit& hit : Cast(scene, {segment}, options).hits) ids.push_back(hit.polygon_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(CastLawTest, ReversedSegmentHitsTheSame) {
  ForRandomCasts(31, [](Random&, const TestScene& scene, Segment s) {
    EXPECT_EQ(IdsHit(*scene.scene, s), IdsHit(*scene.scene, {s.b, s.a}));
  });
}

TEST(CastLawTest, RingStartWindingAndDuplicatesChangeNoVerdict) {
  ForRandomCasts(32, [](Random& random, const TestScene& scene, Segment s) {
    std::vector<PolygonSpec> changed = scene.specs;
    for (PolygonSpec& spec : changed) {
      // A reversed polygon: all rings, so that windings change sign together.
      for (RingSpec& ring : spec.rings) {
        if (ring.open) continue;
        std::vector<Vec2>& v = ring.vertices;
        if (v.size() > 1 && v.front() == v.back()) v.pop_back();
        std::rotate(v.begin(), v.begin() + random.Below(static_cast<int>(v.size())), v.end());
        std::reverse(v.begin(), v.end());
        const int k = random.Below(static_cast<int>(v.size()));
        const Vec2 twice = v[static_cast<size_t>(k)];
        v.insert(v.begin() + k, twice);
        v.push_back(v.front());
      }
    }
    EXPECT_EQ(IdsHit(*scene.scene, s), IdsHit(*SceneOf(changed), s));
  });
}

TEST(CastLawTest, ScalingByAPowerOfTwoScalesPointsAndNothingElse) {
  ForRandomCasts(33, [](Random& random, const TestScene& scene, Segment s) {
    if (scene.specs[0].rings[0].vertices[0] == Vec2{}) return;
    const double scale = std::ldexp(1, random.Below(60) - 30);
    std::vector<PolygonSpec> scaled = scene.specs;
    const auto times = [scale](Vec2 p) {
      return Vec2{Normalized(p).x * scale, Normalized(p).y * scale};
    };
    for (PolygonSpec& spec : scaled) {
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = times(p);
      }
    }
    const CastAnswers before = Cast(*scene.scene, {s});
    const CastAnswers after = Cast(*SceneOf(scaled), {{times(s.a), times(s.b)}});
    ASSERT_EQ(before.hits.size(), after.hits.size());
    for (size_t i = 0; i < before.hits.size(); ++i) {
      EXPECT_EQ(before.hits[i].polygon_id, after.hits[i].polygon_id);
      EXPECT_EQ(before.hits[i].fraction, after.hits[i].fraction);
      EXPECT_EQ(before.hits[i].normal, after.hits[i].normal);
      EXPECT_EQ(times(before.hits[i].point), after.hits[i].point);
    }
  });
}

// Calls law(random, scene, segment) for scenes on the integers, where midpoints and sums are exact.
template <class Law>
void ForIntegerCasts(uint64_t seed, Law law) {
  Random random(seed);
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i) {
    const Grid grid{4 + random.Below(4), 2, 0};
    const TestScene scene = RandomScene(random, grid);
    const Segment segment{grid.Point(random), grid.Point(random)};
    SCOPED_TRACE(scene.ToCode() + absl::StrFormat("{{%a, %a}, {%a, %a}}", segment.a.x, segment.a.y,
                                                  segment.b.x, segment.b.y));
    law(random, scene, segment);
  }
}

Vec2 Middle(Vec2 a, Vec2 b) { return {(a.x + b.x) / 2, (a.y + b.y) / 2}; }

TEST(CastLawTest, SplittingAtAPointOnTheSegmentLosesNoHit) {
  ForIntegerCasts(35, [](Random&, const TestScene& scene, Segment s) {
    const Vec2 m = Middle(s.a, s.b);
    std::vector<uint64_t> halves = IdsHit(*scene.scene, {s.a, m});
    for (const uint64_t id : IdsHit(*scene.scene, {m, s.b})) halves.push_back(id);
    std::sort(halves.begin(), halves.end());
    halves.erase(std::unique(halves.begin(), halves.end()), halves.end());
    EXPECT_EQ(IdsHit(*scene.scene, s), halves);
  });
}

TEST(CastLawTest, VerticesPutOnEdgesAndPolygonOrderChangeNoVerdict) {
  ForIntegerCasts(36, [](Random&, const TestScene& scene, Segment s) {
    std::vector<PolygonSpec> changed(scene.specs.rbegin(), scene.specs.rend());
    for (PolygonSpec& spec : changed) {
      for (RingSpec& ring : spec.rings) {
        std::vector<Vec2> denser;
        for (size_t i = 0; i < ring.vertices.size(); ++i) {
          denser.push_back(ring.vertices[i]);
          const bool last = i + 1 == ring.vertices.size();
          if (!last) denser.push_back(Middle(ring.vertices[i], ring.vertices[i + 1]));
        }
        ring.vertices = denser;
      }
    }
    const CastAnswers before = Cast(*scene.scene, {s});
    const CastAnswers after = Cast(*SceneOf(changed), {s});
    ASSERT_EQ(before.counts, after.counts);
    if (before.hits.empty()) return;
    EXPECT_EQ(before.hits[0].polygon_id, after.hits[0].polygon_id);
    EXPECT_EQ(before.hits[0].fraction, after.hits[0].fraction);
    EXPECT_EQ(before.hits[0].exit_fraction, after.hits[0].exit_fraction);
  });
}

TEST(CastLawTest, MovingEverythingByAnExactVectorChangesOnlyThePosition) {
  ForIntegerCasts(37, [](Random& random, const TestScene& scene, Segment s) {
    const Vec2 by{random.Below(2001) - 1000.0, random.Below(2001) - 1000.0};
    const auto moved = [by](Vec2 p) { return Vec2{p.x + by.x, p.y + by.y}; };
    std::vector<PolygonSpec> changed = scene.specs;
    for (PolygonSpec& spec : changed) {
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = moved(p);
      }
    }
    const CastAnswers before = Cast(*scene.scene, {s});
    const CastAnswers after = Cast(*SceneOf(changed), {{moved(s.a), moved(s.b)}});
    ASSERT_EQ(before.hits.size(), after.hits.size());
    for (size_t i = 0; i < before.hits.size(); ++i) {
      EXPECT_EQ(before.hits[i].polygon_id, after.hits[i].polygon_id);
      EXPECT_EQ(before.hits[i].edge, after.hits[i].edge);
      EXPECT_EQ(before.hits[i].fraction, after.hits[i].fraction);
      EXPECT_EQ(before.hits[i].normal, after.hits[i].normal);
    }
  });
}

uint64_t WorkOf(const Scene& scene, const std::vector<Segment>& segments, CastMode mode) {
  CastOptions options;
  options.mode = mode;
  WorkMeter meter;
  Cast(scene, segments, options, meter);
  return meter.used();
}

// Floats distinguish what is near the origin of the scene better than what is far from it.
TEST(CastCostTest, FarFromTheOriginAndBesideAnOutlier) {
  const auto work = [](double at, bool has_outlier) {
    Random random(91);
    std::vector<PolygonSpec> specs;
    for (uint64_t id = 0; id < 10000; ++id) {
      const Vec2 p{at + 300 * random.Unit(), at + 300 * random.Unit()};
      specs.push_back({id, {Rectangle(p.x, p.y, p.x + 1, p.y + 1)}});
    }
    if (has_outlier) specs.push_back({99999, {Rectangle(1e8, 1e8, 1e8 + 1, 1e8 + 1)}});
    std::vector<Segment> segments;
    for (int i = 0; i < 200; ++i) {
      const Vec2 a{at + 300 * random.Unit(), at + 300 * random.Unit()};
      segments.push_back({a, {a.x + 10 * random.Unit(), a.y + 10 * random.Unit()}});
    }
    return WorkOf(*SceneOf(std::move(specs)), segments, CastMode::kClosest);
  };
  const uint64_t usual = work(0, false);
  EXPECT_LT(work(5e6, false), 4 * usual);
  EXPECT_LT(work(0, true), 16 * usual);
}

// A polygon as long as the line is visited once, however many intervals pass it by.
TEST(CastCostTest, ALongPolygonIsLookedAtOnce) {
  std::vector<PolygonSpec> specs;
  for (uint64_t id = 0; id < 3000; ++id) {
    const Vec2 p{id % 60 * 0.02, static_cast<double>(id / 60) * 0.02 - 3};
    specs.push_back({id, {Rectangle(p.x, p.y, p.x + 0.01, p.y + 0.01)}});
  }
  RingSpec chain{{}, true};
  for (int i = 0; i <= 20000; ++i)
    chain.vertices.push_back({i * 0.05, i * 0.05 + 1e-6 * (i % 2 + 1)});
  specs.push_back({9999, {chain}, {}, Solidity::kBoundary});
  const Scene::Ptr scene = SceneOf(std::move(specs));
  const std::vector<Segment> miss{{{0, 0}, {1000, 1000}}};
  EXPECT_LT(WorkOf(*scene, miss, CastMode::kClosest), 2 * WorkOf(*scene, miss, CastMode::kAll));
}

TEST(CastLawTest, BatchesAnswerAsSingleCastsDo) {
  ForRandomCasts(34, [](Random&, const TestScene& scene, Segment s) {
    const std::vector<Segment> batch{s, {s.b, s.a}, {s.a, s.a}, s};
    const CastAnswers together = Cast(*scene.scene, batch);
    size_t row = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      const CastAnswers alone = Cast(*scene.scene, {batch[i]});
      ASSERT_EQ(alone.counts[0], together.counts[i]);
      for (const CastHit& hit : alone.hits) {
        EXPECT_EQ(hit.fraction, together.hits[row].fraction);
        EXPECT_EQ(hit.point, together.hits[row].point);
        EXPECT_EQ(hit.edge, together.hits[row].edge);
        ++row;
      }
    }
  });
}

}  // namespace
}  // namespace carom::testing::cast_test
