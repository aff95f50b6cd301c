// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do small convex shapes on straight paths hit first, if filters in doubles can
// decide?
//
// This is the fast path of `SweepShapes` (docs/adr/0023-sweeps-in-lanes.md) under the modes CLOSEST
// and ANY. It accepts capsules and strictly convex polygons of up to eight vertices, among solid,
// strictly convex polygons of up to eight vertices. Its answers equal those of the exact search. If
// the filters cannot decide an item (a sweep of the batch), the item falls back to the exact
// search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_scratch.h"
#include "carom/batch.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/box_traversal.h"
#include "sweep/fast_sweep_rows.h"
#include "sweep/fast_touch.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {

// The verdict of the fast path on one item (a sweep of a batch); `FastSweeps::Answer` explains the
// values.
enum class FastSweepVerdict : uint8_t { kNone, kTouch, kOverlap, kUndecided };

// Answers the items of a batch of sweeps by filters in doubles, a window (`kWindow` successive
// items) at a time. An item is one sweep: a shape that moves on a straight path. A pair is an item
// and a polygon that the item may touch. The time of a touch is a fraction of the path. Items that
// the filters cannot decide are left to the exact search. Not thread-safe.
class FastSweeps {
 public:
  FastSweeps(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
             WorkMeter& meter);
  ~FastSweeps();
  FastSweeps(const FastSweeps&) = delete;
  FastSweeps& operator=(const FastSweeps&) = delete;

  // Returns the verdict on item i; calls must be in ascending order of i. kNone: the shape hits
  // nothing. kTouch: it touches a polygon on its path. kOverlap: it overlaps a polygon at the
  // start. kUndecided: the caller must run the exact search for the item. The verdict is kUndecided
  // for items with an invalid value in a column, and for all items after the meter has stopped.
  FastSweepVerdict Answer(size_t i);
  // Returns the polygon that item i touches or overlaps; the verdict on item i must be kTouch or
  // kOverlap.
  const IndexedPolygon& fixed(size_t i) const { return *scratch_->items[i % kWindow].best; }
  // Sets the answer row (fraction, point and normal of the touch) of item i, whose verdict must be
  // kTouch. Returns false if the rounding of a result is not certain.
  bool Measure(size_t i, SweepHit& hit) const { return scratch_->rows.Row(i % kWindow, hit); }

 private:
  // the number of items processed together, so that the memory accesses of the items overlap in
  // time
  static constexpr size_t kWindow = FastSweepRows::kMost;
  static_assert(kWindow <= BoxPairs::kMostQueries);
  static constexpr size_t kMaxPairs = 256;
  static constexpr size_t kCachedShapes = 16;

  struct Item {
    std::array<Vec2, 2> axis;  // the placed axis of a capsule
    SweptMover mover;
    SweptBox path;
    FastSweepVerdict verdict;
    // other polygons cannot change the verdict on the item
    bool is_done;
    // lower bound of the time of any touch that the filters could not decide
    double undecided_from;
    // the polygon that `touch` touches, or null without a touch
    const IndexedPolygon* best;
    // the earliest touch found so far, on polygon `best`
    FastTouch touch;
    // among the pairs that `DecidePairs` decides together, the pair of this item with the least
    // `enter_low`, or null
    const FastPair* first;
  };
  // The shape at index `number` of the batch's `shapes`, converted to the form of the fast path.
  struct CachedShape {
    size_t number;
    FastShape fast;
  };
  struct Scratch {
    std::array<Item, kWindow> items;
    std::array<BoxQuery, kWindow> queries;
    std::array<CachedShape, kCachedShapes> shapes;
    std::array<FastPair, kMaxPairs> pairs;
    BoxPairs found;
    // answer rows of the items with the verdict kTouch, unused under the mode ANY
    FastSweepRows rows;
    std::vector<ItemError> errors;
  };

  const FastShape& FastShapeOf(size_t number);
  bool Place(size_t i, Item& item);
  void AnswerWindow(size_t begin);
  void Start(size_t count);
  void FinishWindow(size_t count);
  void DecidePairs(std::span<const BoxPairs::Pair> found);
  std::span<FastPair> SelectPairs(std::span<const BoxPairs::Pair> found);
  void DecidePair(const FastPair& pair);
  void KeepFirst(const IndexedPolygon& fixed, const FastTouch& touch, Item& item) const;
  void DecideItem(Item& item) const;

  const Scene& scene_;
  const SweepColumns& columns_;
  const SweepOptions& options_;
  WorkMeter& meter_;
  const bool applies_;
  const FastPlacing::Vertices place_ = PlaceFast().all;
  const TouchFunctions touches_ = FindTouch();
  ThreadScratch<Scratch> scratch_;
};

}  // namespace carom::internal
