// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What holds of every sweep, and what it shares with overlaps and casts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/overlap.h"
#include "carom/sweep.h"
#include "tests/core/random_scene.h"
#include "tests/core/sweep/sweep_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::sweep_law_test {
namespace {

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
    expect_same(CapsuleOf(c.mover), CapsuleOf(c.mover));
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
}  // namespace carom::testing::sweep_law_test
