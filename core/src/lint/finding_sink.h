// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Counts all findings of a lint, and keeps the first ones in the order of the report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/lint.h"
#include "lint/lint_map.h"

namespace carom::internal {

// Returns the finding with its names; its points and measure are to be set.
inline LintFinding NamedFinding(const Scene& scene, LintKind kind, const EdgeName& at,
                                const EdgeName& other) {
  LintFinding finding;
  finding.kind = kind;
  finding.polygon_id = scene.polygon(at.polygon).id();
  finding.at = at.ref;
  finding.other_polygon_id = scene.polygon(other.polygon).id();
  finding.other = other.ref;
  return finding;
}

// Takes findings in any order. Holds at most about twice as many findings as it keeps. Not
// thread-safe.
class FindingSink {
 public:
  FindingSink(uint32_t kinds, size_t max_findings) : kinds_(kinds), max_findings_(max_findings) {}

  // Whether findings of the kind are asked for.
  bool Wants(LintKind kind) const { return (kinds_ >> static_cast<unsigned>(kind) & 1) != 0; }

  // Counts the finding, and keeps it if it is among the first: then calls measure(finding), which
  // sets its points and its measure.
  template <class Measure>
  void Add(LintFinding finding, const Measure& measure) {
    ++counts_[static_cast<size_t>(finding.kind)];
    if (max_findings_ == 0 || (is_full_ && !Before(finding, last_))) return;
    measure(finding);
    kept_.push_back(std::move(finding));
    if (kept_.size() >= 2 * max_findings_) Shrink();
  }

  // Moves the findings and counts to `report`, in order.
  void MoveTo(LintReport& report);

  // The order of a report. Findings that are equal in it are equal in all members.
  static bool Before(const LintFinding& a, const LintFinding& b);

 private:
  // Drops all but the first `max_findings_`.
  void Shrink();

  uint32_t kinds_;
  size_t max_findings_;
  std::array<uint64_t, kLintKinds> counts_ = {};
  std::vector<LintFinding> kept_;
  bool is_full_ = false;  // `last_` is valid: no finding after it is kept
  LintFinding last_;
};

}  // namespace carom::internal
