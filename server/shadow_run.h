// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are moves answered as they would be without memory?
//
// That they are is proven and tested (docs/coherence.md). A `ShadowRun` looks all the same, in
// production: now and then it has a few moves of a batch answered both ways and compares the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/scene.h"
#include "carom/tracker.h"
#include "carom/work_meter.h"

namespace carom::server {

struct ShadowStats {
  uint64_t moves = 0;        // that were compared
  uint64_t differences = 0;  // batches that differed
};

// Not thread-safe; its memory is reused.
class ShadowRun {
 public:
  static constexpr size_t kMaxMoves = 256;
  static constexpr uint64_t kMaxRows = 16384;  // that its memory is good for, of both ways

  // Moves `kMaxMoves` of `moves`, another part for each `number`, with the trackers' memory and
  // without, and adds to `stats`. Returns by how many bytes the memories grew. Compares nothing if
  // `meter` stops the work. A difference is told on stderr, the first of the process alone.
  int64_t Compare(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                  uint64_t number, WorkMeter& meter, ShadowStats& stats);

 private:
  MoveAnswers warm_, cold_;
};

}  // namespace carom::server
