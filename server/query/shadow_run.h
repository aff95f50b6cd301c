// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are moves of trackers, areas and observers answered as they would be without memory?
//
// The memory of a tracker is its cache of nearby polygons, that of an eye its cache of the edges
// that can be visible from near by. Proofs and tests show that memory does not change answers
// (docs/coherence.md). A `ShadowRun` also checks this fact in production: it answers a sample of
// the questions with memory and without, and compares the bytes of the answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/group.h"
#include "carom/scene.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"

namespace carom::server {

// Statistics of shadow runs, which answer questions with and without memory. A tracker is a moving
// shape; a move asks what the tracker touches at a pose.
struct ShadowStats {
  uint64_t moves = 0;        // number of compared moves
  uint64_t eyes = 0;         // number of compared areas and observers
  uint64_t differences = 0;  // number of batches, of moves or of eyes, whose answers differed
  uint64_t units = 0;        // work units that the comparisons took

  ShadowStats& operator+=(const ShadowStats& other);
};

// The result of one shadow run: the comparison of the answers to some moves.
struct ShadowResult {
  ShadowStats stats;
  int64_t memory_growth = 0;  // bytes by which the memories (caches) of the trackers grew
};

// Compares the answers to moves of trackers (queries of what a moving shape touches at a pose), and
// those to areas and observers, with and without memory. Reuses its buffers. Not thread-safe.
class ShadowRun {
 public:
  static constexpr size_t kMaxMoves = 256;
  static constexpr size_t kMaxEyes = 8;  // areas, and as many observers
  // The most rows (such as polygons that a tracker touches) of all answers of one comparison; it
  // bounds the memory of the answers.
  static constexpr uint64_t kMaxRows = 16384;
  // The most work units of one comparison, some 50 ms. Without this limit a comparison could take
  // longer than all that a frame is asked.
  static constexpr uint64_t kMaxUnits = 1 << 24;

  // Answers up to `kMaxMoves` of `moves` once with the trackers' memory and once without, and
  // compares the answers. The range of moves depends on `number`: consecutive values select
  // consecutive ranges of `moves`, and the first range follows the last. Compares nothing if
  // `meter` stops the work. Prints the first difference in the process to stderr.
  ShadowResult Compare(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                       uint64_t number, WorkMeter& meter);

  // Compares answers to up to `kMaxEyes` areas of `group`, and to as many of its observers, as
  // `Compare` does. Leaves out those that have no memories. The memories may grow by the budgets of
  // `group`.
  ShadowStats CompareEyes(const Scene& scene, const Group& group, uint64_t number,
                          WorkMeter& meter);

 private:
  // answers with memory (`warm_`) and without it (`cold_`)
  MoveAnswers warm_, cold_;
  GroupAnswers warm_eyes_, cold_eyes_;
};

}  // namespace carom::server
