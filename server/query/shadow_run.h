// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are moves answered as they would be without memory?
//
// That they are is proven and tested (docs/coherence.md). A `ShadowRun` checks it in production all
// the same: it answers a sample of the moves with memory and without, and compares the bytes.
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

  ShadowStats& operator+=(const ShadowStats& other);
};

struct ShadowResult {
  ShadowStats stats;
  int64_t memory_growth = 0;  // bytes by which the trackers' memories grew
};

// Not thread-safe; its memory is reused.
class ShadowRun {
 public:
  static constexpr size_t kMaxMoves = 256;
  static constexpr uint64_t kMaxRows = 16384;  // of both answers together; bounds their memory

  // Moves `kMaxMoves` of `moves`, another part for each `number`, with the trackers' memory and
  // without, and compares the answers. Compares nothing if `meter` stops the work. The first
  // difference that a process finds is printed to stderr.
  ShadowResult Compare(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                       uint64_t number, WorkMeter& meter);

 private:
  MoveAnswers warm_, cold_;
};

}  // namespace carom::server
