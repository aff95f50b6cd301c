// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/finding_sink.h"

#include <algorithm>
#include <tuple>

namespace carom::internal {

bool FindingSink::Before(const LintFinding& a, const LintFinding& b) {
  const auto key = [](const LintFinding& f) {
    return std::tie(f.polygon_id, f.at, f.kind, f.other_polygon_id, f.other, f.point.x, f.point.y);
  };
  return key(a) < key(b);
}

void FindingSink::Shrink() {
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(max_findings_);
  std::nth_element(kept_.begin(), end - 1, kept_.end(), Before);
  kept_.erase(end, kept_.end());
  is_full_ = true;
  last_ = kept_.back();
}

void FindingSink::MoveTo(LintReport& report) {
  if (kept_.size() > max_findings_) Shrink();
  std::sort(kept_.begin(), kept_.end(), Before);
  report.findings = std::move(kept_);
  report.counts = counts_;
  uint64_t total = 0;
  for (const uint64_t count : counts_) total += count;
  report.truncated = total > report.findings.size();
}

}  // namespace carom::internal
