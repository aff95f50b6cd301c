// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/shadow_run.h"
#include "server/base/log.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <span>

namespace carom::server {
namespace {

// Returns the moves [first, first + count) of `moves`, with the handles of their trackers.
MoveColumns PartOf(const MoveColumns& moves, size_t first, size_t count) {
  MoveColumns part = moves;
  if (moves.tracker.empty()) {
    part.first_tracker += static_cast<uint32_t>(first);
  } else {
    part.tracker = moves.tracker.subspan(first, count);
  }
  for (std::span<const double>* column :
       {&part.x, &part.y, &part.c, &part.s, &part.angle, &part.from_x, &part.from_y, &part.from_c,
        &part.from_s, &part.from_angle}) {
    if (!column->empty()) *column = column->subspan(first, count);
  }
  return part;
}

// Returns up to `kMaxEyes` of `eyes`, of which `number` selects the first one; none if they have no
// memories.
AreaColumns PartOf(const AreaColumns& eyes, uint64_t number) {
  if (eyes.trackers.empty() || eyes.size() == 0) return {};
  const size_t parts = (eyes.size() + ShadowRun::kMaxEyes - 1) / ShadowRun::kMaxEyes;
  const size_t first = number % parts * ShadowRun::kMaxEyes;
  const size_t count = std::min(ShadowRun::kMaxEyes, eyes.size() - first);
  AreaColumns part = eyes;
  if (eyes.eye.empty())
    part.trackers = part.trackers.subspan(std::min(first, part.trackers.size()));
  const auto cut = [&](auto&... columns) {
    ((columns = columns.empty() ? columns : columns.subspan(first, count)), ...);
  };
  cut(part.x, part.y, part.range, part.from, part.to, part.eye);
  cut(part.scope.mask, part.scope.ignore_owner, part.scope.as_of);
  return part;
}

bool SameAnswers(const AreaAnswers& a, const AreaAnswers& b) {
  return a.counts == b.counts && a.pieces == b.pieces && a.areas == b.areas &&
         a.starts_inside == b.starts_inside && a.truncated == b.truncated && a.errors == b.errors;
}

bool SameAnswers(const SeeAnswers& a, const SeeAnswers& b) {
  return a.counts == b.counts && a.seen == b.seen && a.starts_inside == b.starts_inside &&
         a.errors == b.errors;
}

// Logs the first difference in the process.
void Report(const char* detail) {
  static std::atomic_flag reported;
  if (reported.test_and_set()) return;
  LogLine(LogLevel::kError, "shadow_difference").With("detail", detail);
}

}  // namespace

ShadowStats& ShadowStats::operator+=(const ShadowStats& other) {
  moves += other.moves;
  eyes += other.eyes;
  differences += other.differences;
  units += other.units;
  return *this;
}

ShadowResult ShadowRun::Compare(const Scene& scene, const MoveColumns& moves,
                                const MoveOptions& options, uint64_t number, WorkMeter& meter) {
  const size_t parts = (moves.size() + kMaxMoves - 1) / kMaxMoves;
  // Moves whose tracker handles exceed 2^32 - 1 are answered with errors, so a batch with such
  // moves is not compared.
  if (parts == 0 || moves.first_tracker + moves.size() > size_t{1} << 32) return {};
  const size_t first = number % parts * kMaxMoves;
  const MoveColumns part = PartOf(moves, first, std::min(kMaxMoves, moves.size() - first));
  // The answers to `part` need not have equal quiet radii (how far a tracker may move without a new
  // search), which depend on the trackers' memory, so both evaluations omit them.
  MoveOptions warm = options;
  warm.quiet_radii = false;
  MoveOptions cold = warm;
  cold.coherence = Coherence::kOff;
  ShadowResult result;
  if (MoveTrackers(scene, part, warm, warm_, meter) &&
      MoveTrackers(scene, part, cold, cold_, meter)) {
    result.stats.moves = part.size();
    if (!SameVerdicts(warm_, cold_)) {
      result.stats.differences = 1;
      Report("moves of trackers differ with and without their memory; please report this");
    }
  }
  result.memory_growth = warm_.memory_growth;
  return result;
}

ShadowStats ShadowRun::CompareEyes(const Scene& scene, const Group& group, uint64_t number,
                                   WorkMeter& meter) {
  Group warm;
  warm.bodies = group.bodies;
  warm.body_history = group.body_history;
  warm.body_rotation = group.body_rotation;
  warm.area_options = group.area_options;
  warm.areas = PartOf(group.areas, number);
  warm.see_options = group.see_options;
  warm.sees = PartOf(group.sees, number);
  Group cold = warm;
  cold.areas.trackers = cold.sees.trackers = {};
  if (!EvaluateGroup(scene, warm, warm_eyes_, meter).ok() ||
      !EvaluateGroup(scene, cold, cold_eyes_, meter).ok()) {
    return {};
  }
  ShadowStats stats{.eyes = warm.areas.size() + warm.sees.size()};
  if (!SameAnswers(warm_eyes_.areas, cold_eyes_.areas) ||
      !SameAnswers(warm_eyes_.sees, cold_eyes_.sees)) {
    stats.differences = 1;
    Report("areas or observers differ with and without the memories of eyes; please report this");
  }
  return stats;
}

}  // namespace carom::server
