// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of carom/lint.h share: findings as lines of text, as the oracle has them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "carom/lint.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_lint.h"

namespace carom::testing {

inline std::string LineOf(const LintFinding& f) {
  const Vec2 q = f.kind == LintKind::kOffLattice ? f.point : f.other_point;
  return LintLine({std::string(LintName(f.kind)),
                   {f.polygon_id, f.at.ring, f.at.edge},
                   {f.other_polygon_id, f.other.ring, f.other.edge},
                   {f.point.x, f.point.y},
                   {q.x, q.y},
                   f.measure});
}

inline std::vector<std::string> LinesOf(const LintReport& report) {
  std::vector<std::string> lines;
  for (const LintFinding& finding : report.findings) {
    if (finding.kind != LintKind::kPocket) lines.push_back(LineOf(finding));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline LintReport LintOf(const Scene& scene, LintOptions options) {
  WorkMeter meter;
  options.max_findings = 100000;
  const absl::StatusOr<LintReport> report = Lint(scene, options, meter);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : LintReport();
}

inline uint32_t KindBit(LintKind kind) { return 1U << static_cast<unsigned>(kind); }

// The findings of one kind.
inline std::vector<LintFinding> FindingsOf(const Scene& scene, LintKind kind,
                                           LintOptions options = {}) {
  options.kinds = KindBit(kind);
  return LintOf(scene, options).findings;
}

}  // namespace carom::testing
