// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the answer to a move written into the columns of `MoveAnswers`?
//
// Items are written in order, each by exactly one of `WriteClear`, `WriteOne`, `Write` and
// `Refuse`, and where quiet radii are asked for, each but a refused one by `WriteQuietRadius` too.
// A clear item is one bit; every other one has an entry in `counts`, and of sweeps in
// `first_touches`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/tracker.h"
#include "index/scene_traversal.h"
#include "tracker/touched.h"
#include "tracker/tracker_sweeps.h"

namespace carom::internal {

// Not thread-safe. What it refers to outlives it.
class MoveWriter {
 public:
  MoveWriter(const MoveColumns& moves, const MoveOptions& options, const TrackerSweeps& sweeps,
             MoveAnswers& out)
      : moves_(moves), options_(options), sweeps_(sweeps), out_(out) {}

  // Records the first fault of item i.
  ItemChecker Check(size_t i) { return ItemChecker(i, out_.errors); }

  // Item i touches nothing, on its path nor at its end.
  void WriteClear(size_t i) { out_.clear[i / 64] |= uint64_t{1} << (i % 64); }
  // The item touches one polygon, none of whose edges meets it. Not for sweeps.
  void WriteOne(uint64_t polygon_id) {
    out_.counts.push_back(1);
    out_.polygon_ids.push_back(polygon_id);
    if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(0);
  }
  // Item i touches `touched` at its end and, as a sweep, on its path what the sweeps found.
  void Write(size_t i, const Touched& touched);
  // The item is not answered: an error was recorded.
  void Refuse();
  // How far item i may move from where it is without leaving `ball`.
  void WriteQuietRadius(size_t i, const QuietBall& ball);

  // The words of `MoveAnswers::clear`, for a loop that keeps them in a register.
  uint64_t* clear_words() { return out_.clear.data(); }
  MoveTiers& tiers() { return out_.tiers; }

 private:
  const MoveColumns& moves_;
  const MoveOptions& options_;
  const TrackerSweeps& sweeps_;
  MoveAnswers& out_;
};

}  // namespace carom::internal
