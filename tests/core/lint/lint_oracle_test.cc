// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/core/lint/lint_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::lint_oracle_test {
namespace {

std::vector<OraclePolygon> Described(const TestScene& scene) {
  std::vector<OraclePolygon> described;
  for (const PolygonSpec& spec : scene.specs) described.push_back(ToOracle(spec));
  return described;
}

// Lints random scenes on a small grid, in which vertices coincide, touch and miss by an ulp.
TEST(LintOracleTest, EqualsTheDefinitionsOnRandomMaps) {
  constexpr double kScales[] = {1, 1.0 / 3, 0x1p-40, 1e9};
  const int maps = Repeats(500, 20000);
  for (int i = 0; i < maps; ++i) {
    Random random(static_cast<uint64_t>(i) + 9000);
    const Grid grid{.size = 4 + random.Below(12),
                    .scale = kScales[random.Below(4)],
                    .percent_off = random.Below(2) * 10,
                    .mixed = i % 25 == 24};
    const TestScene scene = RandomScene(random, grid);
    LintOptions options;
    options.gap_radius = grid.scale * (0.5 + random.Below(3));
    options.near_distance = grid.scale * 0x1p-20;
    options.lattice_pitch = grid.scale;
    options.winding = static_cast<LintWinding>(random.Below(3));
    const OracleLintOptions expected{
        .gap_radius = options.gap_radius,
        .near_distance = options.near_distance,
        .winding = options.winding == LintWinding::kAny                ? 0
                   : options.winding == LintWinding::kCounterClockwise ? 1
                                                                       : -1,
        .lattice_pitch = options.lattice_pitch};
    if (grid.mixed) options.kinds &= ~KindBit(LintKind::kOffLattice);
    std::vector<std::string> lines = OracleLint(Described(scene), expected);
    if (grid.mixed) {
      std::erase_if(lines, [](const std::string& line) { return line.starts_with("off-"); });
    }
    ASSERT_EQ(LinesOf(LintOf(*scene.scene, options)), lines)
        << absl::StrCat("map ", i, scene.ToCode());
  }
}

}  // namespace
}  // namespace carom::testing::lint_oracle_test
