// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do small convex shapes on straight paths hit, where filters can decide?
//
// This is the fast path of `SweepShapes` (docs/adr/0023-sweeps-in-lanes.md) under CLOSEST and ANY,
// for capsules and strictly convex polygons of up to eight vertices, among solid polygons of the
// latter kind. Its answers equal the answers of the exact search. An item that the filters cannot
// decide is undecided and falls back to the exact search.
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

enum class FastSweepVerdict : uint8_t { kNone, kTouch, kOverlap, kUndecided };

// Answers the items of a batch, a window of `kWindow` items at a time. Not thread-safe.
class FastSweeps {
 public:
  FastSweeps(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
             WorkMeter& meter);
  ~FastSweeps();
  FastSweeps(const FastSweeps&) = delete;
  FastSweeps& operator=(const FastSweeps&) = delete;

  // Returns the verdict on item i; items come in ascending order. kNone: the shape hits nothing.
  // kTouch: it touches a polygon on its path. kOverlap: it overlaps a polygon at the start.
  // kUndecided: the item falls back to the exact search, as do all items with invalid columns, and
  // all once the meter stops.
  FastSweepVerdict Answer(size_t i);
  // Returns the polygon that item i touches or overlaps.
  const IndexedPolygon& fixed(size_t i) const { return *scratch_->items[i % kWindow].best; }
  // Sets the row of item i's touch. Returns false where a rounding is not certain.
  bool Measure(size_t i, SweepHit& hit) const { return scratch_->rows.Row(i % kWindow, hit); }

 private:
  static constexpr size_t kWindow = FastSweepRows::kMost;  // items that fetch memory together
  static_assert(kWindow <= BoxPairs::kMostQueries);
  static constexpr size_t kMaxPairs = 256;
  static constexpr size_t kCachedShapes = 16;

  struct Item {
    std::array<Vec2, 2> axis;  // the placed axis of a capsule
    SweptMover mover;
    SweptBox path;
    FastSweepVerdict verdict;
    bool is_done;                // no other polygon can change the verdict
    double undecided_from;       // least fraction at which an undecided polygon may touch
    const IndexedPolygon* best;  // the polygon of `touch`, or null
    FastTouch touch;             // the first touch so far
    const FastPair* first;       // of some pairs, the one with the edges entered first, or null
  };
  // A shape of the batch, converted for the fast path.
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
    FastSweepRows rows;  // rows of the items that touch, unused under ANY
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
