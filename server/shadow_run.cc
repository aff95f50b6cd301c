// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/shadow_run.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <span>

namespace carom::server {
namespace {

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

int64_t ShadowRun::Compare(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                           uint64_t number, WorkMeter& meter, ShadowStats& stats) {
  const size_t parts = (moves.size() + kMaxMoves - 1) / kMaxMoves;
  // Handles end at 2^32.
  if (parts == 0 || moves.first_tracker + moves.size() > size_t{1} << 32) return 0;
  const size_t first = number % parts * kMaxMoves;
  const MoveColumns part = PartOf(moves, first, std::min(kMaxMoves, moves.size() - first));
  MoveOptions warm = options;
  warm.quiet_radii = false;
  MoveOptions cold = warm;
  cold.coherence = Coherence::kOff;
  if (MoveTrackers(scene, part, warm, warm_, meter) &&
      MoveTrackers(scene, part, cold, cold_, meter)) {
    stats.moves += part.size();
    if (!SameVerdicts(warm_, cold_)) {
      ++stats.differences;
      static std::atomic_flag told;
      if (!told.test_and_set()) {
        std::fputs(
            "caromd: moves of trackers differ with and without their memory; please report this\n",
            stderr);
      }
    }
  }
  return warm_.memory_growth;
}

}  // namespace carom::server
