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

}  // namespace

ShadowStats& ShadowStats::operator+=(const ShadowStats& other) {
  moves += other.moves;
  differences += other.differences;
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
      static std::atomic_flag reported;
      if (!reported.test_and_set()) {
        LogLine(LogLevel::kError, "shadow_difference")
            .With("detail",
                  "moves of trackers differ with and without their memory; please report this");
      }
    }
  }
  result.memory_growth = warm_.memory_growth;
  return result;
}

}  // namespace carom::server
