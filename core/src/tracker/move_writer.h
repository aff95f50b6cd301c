// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the answer to a move written into the columns of `MoveAnswers`?
//
// Items (moves) are written in order, each by exactly one of `WriteClear`, `WriteOne`, `Write` and
// `WriteFailed`. If the caller requests quiet radii, `WriteQuietRadius` follows for each item that
// did not fail. An item that touches nothing (a clear item) takes one bit of `MoveAnswers::clear`.
// Every other item has an entry in `counts` and, if the moves are sweeps, in `first_touches`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/tracker.h"
#include "index/scene_traversal.h"
#include "tracker/touched.h"
#include "tracker/tracker_sweeps.h"

namespace carom::internal {

// Writes the answers of a batch of moves. A move gives a tracker (a moving shape) another pose; a
// sweep is a move that also asks what the shape touches first on the path to this pose. Not
// thread-safe. The constructor's arguments must outlive the writer.
class MoveWriter {
 public:
  MoveWriter(const MoveColumns& moves, const MoveOptions& options, const TrackerSweeps& sweeps,
             MoveAnswers& out)
      : moves_(moves), options_(options), sweeps_(sweeps), out_(out) {}

  // Returns a checker that validates item i and adds its first fault to the errors of the answers.
  ItemChecker Check(size_t i) { return ItemChecker(i, out_.errors); }

  // Writes that item i touches nothing, neither on its path nor at its end.
  void WriteClear(size_t i) { out_.clear[i / 64] |= uint64_t{1} << (i % 64); }
  // Writes that the next item touches one polygon, and lists no edges: only ids are requested, or
  // the item meets no edge of the polygon. Must not be called for sweeps.
  void WriteOne(uint64_t polygon_id) {
    out_.counts.push_back(1);
    out_.polygon_ids.push_back(polygon_id);
    if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(0);
  }
  // Writes that item i touches the polygons and edges in `touched` at the end of its path. If the
  // item is a sweep, also writes what it touches first on the path, which it reads from `sweeps_`.
  void Write(size_t i, const Touched& touched);
  // Writes the entries of an item that has an error, after the error was recorded: a count of 0
  // and, where these columns exist, an empty first touch and a quiet radius of 0.
  void WriteFailed();
  // Writes the quiet radius of item i: how far its shape may move from its position without leaving
  // `ball`, the ball in which the tracker's answer does not change.
  void WriteQuietRadius(size_t i, const QuietBall& ball);

  // Returns the 64-bit words of `MoveAnswers::clear` (one bit for each item), for a loop that sets
  // the bits itself and keeps the pointer in a register.
  uint64_t* clear_words() { return out_.clear.data(); }
  MoveTiers& tiers() { return out_.tiers; }

 private:
  const MoveColumns& moves_;
  const MoveOptions& options_;
  const TrackerSweeps& sweeps_;
  MoveAnswers& out_;
};

}  // namespace carom::internal
