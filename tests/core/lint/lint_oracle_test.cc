// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/lint/lint_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::lint_oracle_test {
namespace {

std::vector<OraclePolygon> Described(const TestScene& scene) {
  std::vector<OraclePolygon> described;
  for (const PolygonSpec& spec : scene.specs) described.push_back(ToOracle(spec));
  return described;
}

// Returns the lines of `a` that `b` lacks; both are sorted.
std::vector<std::string> Without(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  std::vector<std::string> result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

// Returns up to three polygons, since the oracle compares triples of edges.
TestScene SmallScene(Random& random, const Grid& grid) {
  std::vector<PolygonSpec> specs;
  const int count = 1 + random.Below(3);
  for (int i = 0; i < count; ++i) {
    specs.push_back(RandomPolygon(random, grid, static_cast<uint64_t>(i * 3)));
  }
  return MakeScene(std::move(specs));
}

// Lints random scenes on a small grid, in which vertices coincide, touch and miss by an ulp.
TEST(LintOracleTest, EqualsTheDefinitionsOnRandomMaps) {
  constexpr double kScales[] = {1, 1.0 / 3, 0x1p-40, 1e9};
  size_t findings = 0;
  const int maps = Repeats(500, 20000);
  for (int i = 0; i < maps; ++i) {
    Random random(static_cast<uint64_t>(i) + 9000);
    const Grid grid{.size = 4 + random.Below(12),
                    .scale = kScales[random.Below(4)],
                    .percent_off = random.Below(2) * 10,
                    .mixed = i % 25 == 24};
    const TestScene scene = SmallScene(random, grid);
    LintOptions options;
    options.gap_radius = grid.scale * (0.5 + random.Below(3));
    options.near_distance = grid.scale * 0x1p-20;
    options.lattice_pitch = grid.scale;
    options.winding = static_cast<LintWinding>(random.Below(3));
    const OracleLintOptions expected{.gap_radius = options.gap_radius,
                                     .near_distance = options.near_distance,
                                     .winding = options.winding == LintWinding::kAny ? 0
                                                : options.winding == LintWinding::kCounterClockwise
                                                    ? 1
                                                    : -1,
                                     .lattice_pitch = options.lattice_pitch};
    const std::vector<std::string> lines = LinesOf(LintOf(*scene.scene, options));
    const std::vector<std::string> by_definition = OracleLint(Described(scene), expected);
    ASSERT_EQ(Without(lines, by_definition), std::vector<std::string>()) << i << scene.ToCode();
    ASSERT_EQ(Without(by_definition, lines), std::vector<std::string>()) << i << scene.ToCode();
    findings += lines.size();
  }
  EXPECT_GT(findings, static_cast<size_t>(8 * maps));
}

// Coordinates some ulps about the multiples of pitches, rounded ones and exact ones.
TEST(LintOracleTest, LatticesOfPitchesThatAreRounded) {
  constexpr double kPitches[] = {0.1, 0.3, 0.7, 1.0 / 3, 0.01, 0.25, 1, 3, 1e-9, 12.5};
  size_t off = 0;
  for (int i = 0; i < Repeats(500, 20000); ++i) {
    Random random(static_cast<uint64_t>(i) + 40000);
    const double pitch = kPitches[random.Below(10)];
    std::vector<Vec2> points;
    const auto coordinate = [&] {
      double x = std::ldexp(random.Below(1 << 20), -random.Below(20));
      x = std::floor(x) * (random.Below(2) == 0 ? pitch : std::nextafter(pitch, 4.0));
      for (int step = random.Below(4); step > 0; --step) x = std::nextafter(x, HUGE_VAL);
      return random.Below(2) == 0 ? x : -x;
    };
    for (int k = 0; k < 8; ++k) points.push_back({coordinate(), coordinate()});
    const TestScene scene =
        MakeScene({{.id = 1, .rings = {{points, true}}, .solidity = Solidity::kBoundary}});
    const LintOptions options{.kinds = KindBit(LintKind::kOffLattice), .lattice_pitch = pitch};
    std::vector<std::string> expected =
        OracleLint(Described(scene), {.lattice_pitch = options.lattice_pitch});
    std::erase_if(expected, [](const std::string& line) { return !line.starts_with("off-"); });
    ASSERT_EQ(LinesOf(LintOf(*scene.scene, options)), expected) << i << scene.ToCode();
    off += expected.size();
  }
  EXPECT_GT(off, 300u);
}

}  // namespace
}  // namespace carom::testing::lint_oracle_test
