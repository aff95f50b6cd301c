// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the answer to a move written into the columns of `MoveAnswers`?
//
// Items are written in order, each by exactly one of `WriteClear`, `WriteOne`, `Write` and
// `WriteFailed`. If quiet radii are requested, `WriteQuietRadius` follows for each item that did
// not fail. A clear item takes one bit. Every other item has an entry in `counts` and, if the moves
// are sweeps, in `first_touches`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/tracker.h"
#include "index/scene_traversal.h"
#include "tracker/touched.h"
#include "tracker/tracker_sweeps.h"

namespace carom::internal {

// Writes the answers of a batch of moves. Not thread-safe. The constructor's arguments outlive it.
class MoveWriter {
 public:
  MoveWriter(const MoveColumns& moves, const MoveOptions& options, const TrackerSweeps& sweeps,
             MoveAnswers& out)
      : moves_(moves), options_(options), sweeps_(sweeps), out_(out) {}

  // Returns a checker that records the first fault of item i.
  ItemChecker Check(size_t i) { return ItemChecker(i, out_.errors); }

  // Writes that item i touches nothing, neither on its path nor at its end.
  void WriteClear(size_t i) { out_.clear[i / 64] |= uint64_t{1} << (i % 64); }
  // Writes that the next item touches one polygon, but none of its edges. Not for sweeps.
  void WriteOne(uint64_t polygon_id) {
    out_.counts.push_back(1);
    out_.polygon_ids.push_back(polygon_id);
    if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(0);
  }
  // Writes that item i touches `touched` at its end and, if it is a sweep, what it touches first on
  // its path, as the sweeps found.
  void Write(size_t i, const Touched& touched);
  // Writes the entries of an item after its error is recorded.
  void WriteFailed();
  // Writes how far item i may move from its position without leaving `ball`.
  void WriteQuietRadius(size_t i, const QuietBall& ball);

  // Returns the words of `MoveAnswers::clear`, for a loop that keeps the pointer in a register.
  uint64_t* clear_words() { return out_.clear.data(); }
  MoveTiers& tiers() { return out_.tiers; }

 private:
  const MoveColumns& moves_;
  const MoveOptions& options_;
  const TrackerSweeps& sweeps_;
  MoveAnswers& out_;
};

}  // namespace carom::internal
