// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/lint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "carom/status.h"
#include "tests/core/lint/lint_cases.h"

namespace carom::testing::lint_test {
namespace {

PolygonSpec Ring(uint64_t id, std::vector<Vec2> ring) {
  return {.id = id, .rings = {{std::move(ring)}}};
}
PolygonSpec Square(uint64_t id, double x, double y, double side) {
  return Ring(id, {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}});
}
PolygonSpec Chain(uint64_t id, std::vector<Vec2> chain) {
  return {.id = id, .rings = {{std::move(chain), true}}, .solidity = Solidity::kBoundary};
}

std::vector<LintFinding> Find(std::vector<PolygonSpec> specs, LintKind kind,
                              const LintOptions& options = {}) {
  return FindingsOf(*MakeScene(std::move(specs)).scene, kind, options);
}

TEST(LintTest, NothingIsFoundInACleanScene) {
  EXPECT_TRUE(
      LintOf(*Scene::Create({}).value(), {.gap_radius = 1, .from = {{0, 0}}}).findings.empty());
  const TestScene scene = MakeScene({Square(1, 0, 0, 4), Square(2, 4, 0, 4), Square(3, 10, 0, 1)});
  EXPECT_TRUE(LintOf(*scene.scene, {.gap_radius = 1}).findings.empty());
}

TEST(LintTest, EachKindHasANameAndAdvice) {
  for (size_t i = 0; i < kLintKinds; ++i) {
    EXPECT_FALSE(LintName(static_cast<LintKind>(i)).empty());
    EXPECT_TRUE(LintAdvice(static_cast<LintKind>(i)).ends_with("."));
  }
}

TEST(LintTest, CrossingsOfABowTieAndOfATouch) {
  const auto crossings = Find({Ring(7, {{0, 0}, {4, 4}, {4, 0}, {0, 4}})}, LintKind::kCrossing);
  ASSERT_EQ(crossings.size(), 1u);
  EXPECT_EQ(crossings[0].at, (EdgeRef{0, 0}));
  EXPECT_EQ(crossings[0].other, (EdgeRef{0, 2}));
  EXPECT_EQ(crossings[0].point, (Vec2{2, 2}));
  // A vertex on an edge counts, once for each of its edges; a common vertex does not.
  EXPECT_EQ(Find({Ring(7, {{0, 0}, {4, 0}, {4, 4}, {2, 0}, {0, 4}})}, LintKind::kCrossing).size(),
            2u);
  EXPECT_TRUE(Find({Ring(7, {{0, 0}, {2, 2}, {4, 0}, {4, 4}, {2, 2}, {0, 4}})}, LintKind::kCrossing)
                  .empty());
}

TEST(LintTest, SpikesOverlapsAndDuplicateVertices) {
  const std::vector<PolygonSpec> spike = {Ring(7, {{0, 0}, {8, 0}, {5, 0}, {4, 4}})};
  const auto found = Find(spike, LintKind::kSpike);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at.edge, 1u);
  EXPECT_EQ(found[0].other_point, (Vec2{5, 0}));
  EXPECT_EQ(found[0].measure, 3);
  EXPECT_TRUE(Find(spike, LintKind::kOverlap).empty());  // consecutive edges: a spike
  const auto overlap =
      Find({Ring(7, {{0, 0}, {8, 0}, {8, 4}, {6, 0}, {2, 0}, {0, 4}})}, LintKind::kOverlap);
  ASSERT_EQ(overlap.size(), 1u);
  EXPECT_EQ(overlap[0].measure, 4);
  const auto twice = Find({Ring(7, {{0, 0}, {4, 0}, {4, 0}, {4, 4}})}, LintKind::kDuplicateVertex);
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_EQ(twice[0].at.edge, 1u);
}

TEST(LintTest, WindingByDepth) {
  PolygonSpec holed = Square(7, 0, 0, 8);
  holed.rings.push_back({{{2, 2}, {6, 2}, {6, 6}, {2, 6}}});  // counter-clockwise: wrong for a hole
  const auto ccw = Find({holed}, LintKind::kWinding, {.winding = LintWinding::kCounterClockwise});
  ASSERT_EQ(ccw.size(), 1u);
  EXPECT_EQ(ccw[0].at.ring, 1u);
  EXPECT_EQ(ccw[0].measure, 16);
  const auto cw = Find({holed}, LintKind::kWinding, {.winding = LintWinding::kClockwise});
  ASSERT_EQ(cw.size(), 1u);
  EXPECT_EQ(cw[0].at.ring, 0u);
  EXPECT_EQ(Find({Ring(7, {{0, 0}, {4, 4}, {4, 0}, {0, 4}})}, LintKind::kZeroArea).size(), 1u);
}

TEST(LintTest, InsideAndDuplicates) {
  EXPECT_EQ(Find({Square(1, 0, 0, 8), Square(2, 1, 1, 2)}, LintKind::kInside).size(), 1u);
  EXPECT_TRUE(Find({Square(1, 0, 0, 8), Square(2, 0, 1, 2)}, LintKind::kInside).empty());
  const auto twins = Find({Square(9, 0, 0, 8), Ring(4, {{8, 8}, {8, 0}, {0, 0}, {0, 8}})},
                          LintKind::kDuplicatePolygon);
  ASSERT_EQ(twins.size(), 1u);
  EXPECT_EQ(twins[0].polygon_id, 9u);
  EXPECT_EQ(twins[0].other_polygon_id, 4u);
}

// A gap of exactly the diameter is passable; touching walls have no gap; the thickness of a solid
// is none.
TEST(LintTest, GapsAreBelowTheDiameter) {
  const std::vector<PolygonSpec> walls = {Chain(1, {{0, 0}, {4, 0}}), Chain(2, {{5, 0}, {9, 0}})};
  EXPECT_TRUE(Find(walls, LintKind::kGap, {.gap_radius = 0.5}).empty());
  const auto gaps = Find(walls, LintKind::kGap, {.gap_radius = std::nextafter(0.5, 1)});
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].point, (Vec2{4, 0}));
  EXPECT_EQ(gaps[0].other_point, (Vec2{5, 0}));
  EXPECT_EQ(gaps[0].measure, 1);
  EXPECT_TRUE(Find({Square(1, 0, 0, 1)}, LintKind::kGap, {.gap_radius = 9}).empty());
  const double next = std::nextafter(4, 5);
  const auto leak = Find({Chain(1, {{0, 0}, {4, 0}}), Chain(2, {{next, -3}, {next, 3}})},
                         LintKind::kGap, {.gap_radius = 0.5});
  ASSERT_EQ(leak.size(), 1u);
  EXPECT_EQ(leak[0].measure, next - 4);
}

TEST(LintTest, NearJunctionsOfSomeUlp) {
  const double next = std::nextafter(4, 5);
  const auto found = Find({Chain(1, {{0, 0}, {4, 0}}), Chain(2, {{next, -3}, {next, 3}})},
                          LintKind::kNearJunction);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].other_point, (Vec2{next, 0}));
  EXPECT_TRUE(
      Find({Chain(1, {{0, 0}, {4, 0}}), Chain(2, {{4, -3}, {4, 3}})}, LintKind::kNearJunction)
          .empty());
}

TEST(LintTest, LatticeOfMostVertices) {
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 9; ++i) specs.push_back(Square(i, 16.0 * static_cast<double>(i), 0, 8));
  specs.push_back(Square(9, 3.5, 100, 8));
  const auto found = Find(specs, LintKind::kOffLattice);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].polygon_id, 9u);
  EXPECT_EQ(found[0].measure, 4);
}

// The multiples of a decimal pitch as a program reads them, or computes them, are on its lattice.
TEST(LintTest, DecimalMultiplesAreOnTheLatticeOfADecimalPitch) {
  const auto off = [](double pitch, std::vector<Vec2> points) {
    return Find({Chain(1, std::move(points))}, LintKind::kOffLattice, {.lattice_pitch = pitch});
  };
  EXPECT_TRUE(off(0.1, {{0.3, 0.1 + 0.2}, {0.7, 1.1}, {12345.6, -0.6}}).empty());
  EXPECT_TRUE(off(0.3, {{0.9, 3 * 0.3}, {1.2, 30000.3}, {-2.1, 0}}).empty());
  EXPECT_TRUE(off(0.7, {{2.1, 3 * 0.7}, {4.9, 700.7}, {-6.3, 0}}).empty());
  EXPECT_TRUE(off(1.0 / 3, {{1, 2.0 / 3}, {100.0 / 3, 7}, {-5.0 / 3, 1e6}}).empty());
  const auto found = off(0.1, {{0.3, 0}, {0.35, 0}, {1, std::nextafter(0.2, 1)}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at.edge, 1u);
  EXPECT_EQ(off(0.1, {{0, 0.3 + 1e-14}}).size(), 1u);
  // A pitch of few bits is exact: one ulp is off the lattice.
  EXPECT_EQ(off(0.25, {{std::nextafter(3, 4), 0}}).size(), 1u);
  EXPECT_EQ(off(1, {{0, std::nextafter(3, 0)}}).size(), 1u);
}

TEST(LintTest, TheReportKeepsTheFirstFindingsAndCountsAll) {
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 50; ++i) {
    const double x = 10.0 * static_cast<double>(i);
    specs.push_back(Ring(i, {{x, 0}, {x, 0}, {x + 1, 0}, {x, 1}}));
  }
  const TestScene scene = MakeScene(std::move(specs));
  WorkMeter meter;
  const auto report = Lint(*scene.scene, {.max_findings = 7}, meter);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->truncated);
  ASSERT_EQ(report->findings.size(), 7u);
  for (uint64_t i = 0; i < 7; ++i) EXPECT_EQ(report->findings[i].polygon_id, i);
  EXPECT_EQ(report->counts[static_cast<size_t>(LintKind::kDuplicateVertex)], 50u);
}

TEST(LintTest, RefusesOptionsOutOfRangeAndStops) {
  const Scene::Ptr scene = MakeScene({Square(1, 0, 0, 4)}).scene;
  const auto field = [&](const LintOptions& options) {
    WorkMeter meter;
    const absl::Status status = Lint(*scene, options, meter).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return Violations(status).empty() ? "" : Violations(status)[0].field;
  };
  EXPECT_EQ(field({.kinds = 1U << kLintKinds}), "kinds");
  EXPECT_EQ(field({.gap_radius = -1}), "gap_radius");
  EXPECT_EQ(field({.gap_radius = std::nan("")}), "gap_radius");
  EXPECT_EQ(field({.mover_radius = 0x1p51}), "mover_radius");
  EXPECT_EQ(field({.from = {{0, HUGE_VAL}}}), "from[0]");
  EXPECT_EQ(field({.lattice_pitch = 0x1p-61}), "lattice_pitch");
  EXPECT_EQ(field({.near_distance = 0x1p54}), "near_distance");
  WorkMeter meter([] { return true; });
  EXPECT_EQ(Lint(*scene, {}, meter).status().code(), absl::StatusCode::kResourceExhausted);
}

// Law: the findings of a scene that is moved by a power of two and scaled by one are those of the
// scene, moved and scaled.
TEST(LintTest, FindingsMoveWithTheScene) {
  for (int i = 0; i < 50; ++i) {
    Random random(static_cast<uint64_t>(i) + 100);
    std::vector<PolygonSpec> specs = RandomScene(random, {.size = 8, .percent_off = 0}).specs;
    const LintOptions options{.gap_radius = 1.5, .lattice_pitch = 1, .near_distance = 0.5};
    LintOptions scaled = options;
    scaled.gap_radius *= 4;
    scaled.lattice_pitch *= 4;
    scaled.near_distance *= 4;
    const LintReport before = LintOf(*MakeScene(specs).scene, options);
    for (PolygonSpec& spec : specs) {
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = {4 * p.x + 64, 4 * p.y - 128};
      }
    }
    const LintReport after = LintOf(*MakeScene(specs).scene, scaled);
    ASSERT_EQ(before.counts, after.counts) << i;
  }
}

// Laws: repairs leave no finding of the kinds that they repair, and a second proposal is empty.
TEST(LintEditsTest, RepairsWhatTheyName) {
  const double next = std::nextafter(4, 5);
  const Scene::Ptr scene =
      MakeScene({Ring(1, {{20, 0}, {24, 0}, {24, 0}, {24, 4}}),
                 Ring(2, {{40, 0}, {48, 0}, {45, 0}, {44, 4}}), Square(3, 60, 0, 4),
                 Square(4, 60, 0, 4), Chain(5, {{0, 0}, {4, 0}}), Chain(6, {{next, -3}, {next, 3}}),
                 Ring(7, {{80, 0}, {80, 4}, {84, 0}})})
          .scene;
  const LintOptions options{.kinds = 0xfff & ~KindBit(LintKind::kOffLattice),
                            .winding = LintWinding::kCounterClockwise};
  const LintReport report = LintOf(*scene, options);
  const std::vector<SceneEdit> edits = LintEdits(*scene, report, 1e-9);
  ASSERT_EQ(edits.size(), 6u);
  EXPECT_EQ(std::get<RemovePolygon>(edits[2]).id, 4u);
  const Scene::Ptr repaired = scene->Commit(edits, 2).value();
  EXPECT_EQ(LintOf(*repaired, options).findings.size(), 0u);
  EXPECT_TRUE(LintEdits(*repaired, LintOf(*repaired, options), 1e-9).empty());
  EXPECT_EQ(LintEdits(*scene, report, 0).size(), 4u);  // nothing moves
}

}  // namespace
}  // namespace carom::testing::lint_test
