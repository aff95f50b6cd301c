// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace carom::bench {
namespace {

// The fastest whose name begins so; null if there is none.
const Timing* Fastest(const std::vector<Timing>& timings, const std::string& name) {
  const Timing* fastest = nullptr;
  for (const Timing& timing : timings) {
    if (timing.name.rfind(name, 0) != 0) continue;
    if (fastest == nullptr || timing.ns < fastest->ns) fastest = &timing;
  }
  return fastest;
}

}  // namespace

void AddRatio(Bench& bench, const std::string& name, const std::vector<Timing>& timings,
              const Rivals& rivals, double goal) {
  const auto& [ours, theirs] = rivals;
  const auto a = std::find_if(timings.begin(), timings.end(),
                              [&](const Timing& timing) { return timing.name == rivals.ours; });
  const Timing* b = Fastest(timings, theirs);
  Row row{name, a->ns, theirs, 0, RatioAtLeast(goal)};
  row.instructions = a->instructions;
  if (b == nullptr) {
    row.peer = absl::StrCat(theirs, ": peer not built");
    row.valid = false;
  } else {
    row.peer = b->name;
    row.theirs = b->ns;
    row.valid = HitsAgree(a->hits, b->hits);
    row.note = absl::StrCat("hits ", HitDifference(a->hits, b->hits));
    if (!row.valid) absl::StrAppend(&row.note, ": answers differ");
  }
  bench.report.Add(std::move(row));
}

}  // namespace carom::bench
