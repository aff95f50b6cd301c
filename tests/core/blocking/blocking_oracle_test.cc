// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sweeps under the blocking policies against rationals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/sweep.h"
#include "tests/core/random_scene.h"
#include "tests/core/sweep/sweep_cases.h"
#include "tests/support/oracle_blocking.h"
#include "tests/support/oracle_sweep.h"
#include "tests/support/repeats.h"

namespace carom::testing::blocking_oracle_test {
namespace {

constexpr InsidePolicy kBlockingPolicies[] = {InsidePolicy::kBlocking,
                                              InsidePolicy::kBlockingLeave};

struct Expected {
  Rational fraction;
  const OracleShape* fixed;
  bool starts_inside = false;
};

std::vector<Expected> ExpectedHits(const TestScene& scene, const OracleShape& mover, Vec2 d,
                                   InsidePolicy policy) {
  std::vector<Expected> hits;
  for (const OracleShape& fixed : scene.oracle.shapes()) {
    const OracleBlocked blocked = BlockedBy(fixed, mover, {d.x, d.y});
    const bool leaves = blocked.starts_inside && policy == InsidePolicy::kBlockingLeave;
    const std::optional<Rational> t = leaves ? blocked.begin_after_leaving : blocked.begin;
    if (t) hits.push_back({*t, &fixed, blocked.starts_inside && !leaves});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Expected& a, const Expected& b) { return a.fraction < b.fraction; });
  return hits;
}

// Nothing but what the start overlaps may be overlapped there.
void ExpectSafe(const TestScene& scene, const PolygonSpec& spec, Vec2 d, Vec2 safe) {
  const auto placed = PlacedPolygon(Polygon::Create(spec).value(), {safe});
  ASSERT_TRUE(placed.ok());
  const OracleShape there(ToOracle(placed->spec()));
  const OracleShape mover(ToOracle(spec));
  for (const OracleShape& fixed : scene.oracle.shapes()) {
    if (OverlapsInMoreThanTouch(fixed, mover, {d.x, d.y}, 0)) continue;
    EXPECT_FALSE(OverlapsInMoreThanTouch(fixed, there, {}, 0)) << "polygon " << fixed.id();
  }
}

void ExpectAnswers(const TestScene& scene, const PolygonSpec& spec, Vec2 d) {
  const OracleShape mover(ToOracle(spec));
  const Shape shape = ShapeOf(spec);
  for (const InsidePolicy policy : kBlockingPolicies) {
    SCOPED_TRACE(absl::StrFormat("policy %d", static_cast<int>(policy)));
    const std::vector<Expected> expected = ExpectedHits(scene, mover, d, policy);
    const SweepAnswers all = Sweep(*scene.scene, shape, d, All(policy));
    ASSERT_TRUE(all.errors.empty());
    ASSERT_EQ(all.hits.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const SweepHit& hit = all.hits[i];
      EXPECT_EQ(hit.polygon_id, expected[i].fixed->id());
      EXPECT_EQ(hit.fraction, NearestDouble(expected[i].fraction));
      EXPECT_EQ(hit.starts_inside, expected[i].starts_inside);
      if (hit.starts_inside) {
        EXPECT_EQ(hit.normal, Vec2{});
        continue;
      }
      // The exact normal is against the motion, and the rounded one nearly so.
      EXPECT_LT(hit.normal.x * d.x + hit.normal.y * d.y, 0x1p-50 * std::hypot(d.x, d.y));
      EXPECT_NEAR(std::hypot(hit.normal.x, hit.normal.y), 1, 1e-15);
    }
    const SweepAnswers closest = Sweep(*scene.scene, shape, d, {CastMode::kClosest, policy});
    ASSERT_EQ(closest.hits.size(), std::min<size_t>(1, all.hits.size()));
    if (!closest.hits.empty()) ExpectSameHit(closest.hits[0], all.hits[0]);
    EXPECT_EQ(closest.safe, all.safe);
    const SweepAnswers any = Sweep(*scene.scene, shape, d, {CastMode::kAny, policy});
    EXPECT_EQ(any.counts, closest.counts);
    EXPECT_EQ(any.safe, all.safe);
    ASSERT_EQ(all.safe.size(), 1u);
    ExpectSafe(scene, spec, d, all.safe[0]);
  }
}

// A ring that takes turns about a centre is simple; other grids' rings may be.
PolygonSpec RandomRing(Random& random, const Grid& grid) {
  PolygonSpec spec;
  spec.rings.resize(1);
  const int vertices = 3 + random.Below(4);
  for (int i = 0; i < vertices; ++i) spec.rings[0].vertices.push_back(grid.Point(random));
  return spec;
}

TEST(BlockingOracleTest, RingsAgreeWithRationals) {
  const int cases = Repeats(3000, 200000);
  int asked = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(0xb10c000 + static_cast<uint64_t>(i));
    Grid grid = RandomGrid(random);
    grid.mixed = false;
    const TestScene scene = RandomScene(random, grid);
    PolygonSpec spec = RandomRing(random, grid);
    const Vec2 by{grid.scale * (random.Below(2 * grid.size) - grid.size),
                  grid.scale * (random.Below(2 * grid.size) - grid.size)};
    for (Vec2& p : spec.rings[0].vertices) p = Normalized({p.x + by.x, p.y + by.y});
    const Vec2 d = RandomDisplacement(random, grid);
    if (!Sweep(*scene.scene, ShapeOf(spec), d, All(InsidePolicy::kBlocking)).errors.empty()) {
      continue;
    }
    ++asked;
    SCOPED_TRACE(
        absl::StrFormat("case %d%smover %sd {%a, %a}", i, scene.ToCode(), ToCode(spec), d.x, d.y));
    ExpectAnswers(scene, spec, d);
  }
  EXPECT_GT(asked, cases / 4);
}

}  // namespace
}  // namespace carom::testing::blocking_oracle_test
