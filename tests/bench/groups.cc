// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace carom::bench {
namespace {

const Timing* Find(const std::vector<Timing>& timings, const std::string& name) {
  const auto at = std::find_if(timings.begin(), timings.end(),
                               [&](const Timing& timing) { return timing.name == name; });
  return at == timings.end() ? nullptr : &*at;
}

}  // namespace

void AddRatio(Bench& bench, const std::string& name, const std::vector<Timing>& timings,
              const std::string& ours, const std::string& theirs, double goal) {
  const Timing* a = Find(timings, ours);
  const Timing* b = Find(timings, theirs);
  Row row{name, a->ns, theirs, 0, RatioAtLeast(goal)};
  if (b == nullptr) {
    row.note = "peer not built";
    row.valid = false;
  } else {
    row.theirs = b->ns;
    row.valid = HitsAgree(a->hits, b->hits);
    row.note = absl::StrCat("hits ", HitDifference(a->hits, b->hits));
    if (!row.valid) absl::StrAppend(&row.note, ": answers differ");
  }
  bench.report.Add(std::move(row));
}

}  // namespace carom::bench
