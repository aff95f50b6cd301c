// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/area.h"

#include <algorithm>
#include <cstddef>

#include "area/area_finder.h"
#include "base/thread_scratch.h"
#include "numeric/exact_count.h"

namespace carom {
namespace {

using internal::AreaFinder;

// Writes the area that `finder` has found as the answer for item i, with at most `max_rows` pieces.
// Returns false once the meter stops the work.
bool Write(AreaFinder& finder, size_t i, uint32_t max_rows, AreaAnswers& out, WorkMeter& meter) {
  out.starts_inside[i] = finder.starts_inside() ? 1 : 0;
  if (!finder.has_area()) return true;
  if (!finder.FindRows(meter)) return false;
  const internal::AreaRows& rows = finder.rows();
  const size_t count = std::min<size_t>(rows.size(), max_rows);
  if (!meter.SpendRows(count)) return false;
  rows.Write(finder.eye(), count, out.pieces);
  out.counts[i] = static_cast<uint32_t>(count);
  out.areas[i] = rows.area();
  if (count < rows.size()) out.truncated.push_back(static_cast<uint32_t>(i));
  return true;
}

}  // namespace

void AreaAnswers::Clear() {
  counts.clear();
  pieces.clear();
  areas.clear();
  starts_inside.clear();
  truncated.clear();
  errors.clear();
  tiers = {};
}

bool FindAreas(const World& world, const AreaColumns& areas, const AreaOptions& options,
               AreaAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(areas.size(), 0);
  out.areas.assign(areas.size(), 0);
  out.starts_inside.assign(areas.size(), 0);
  const internal::ExactCountScope exact_count(meter);
  internal::ThreadScratch<AreaFinder> finder;
  internal::EyeMemories memories(areas);
  for (size_t i = 0; i < areas.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    internal::EyeQuestion asked;
    if (!ReadEye(areas, i, check, asked.item)) continue;
    asked.walls = internal::QueryFilter::Of(areas.scope, i, options.mask);
    asked.policy = options.inside_policy;
    asked.memory = memories.Begin(i);
    const uint64_t before = meter.used();
    if (!finder->Prepare(world, asked, meter) || !finder->Find(world, asked, meter) ||
        !Write(*finder, i, options.max_rows, out, meter)) {
      return false;
    }
    memories.End(asked.memory, finder->tier(), meter.used() - before, out.tiers);
  }
  if (finder->IsWorthCaching()) finder.Return();
  return true;
}

}  // namespace carom
