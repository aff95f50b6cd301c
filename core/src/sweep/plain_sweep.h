// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do small convex shapes on straight paths run into, where filters can decide?
//
// The fast path of `SweepShapes` (docs/adr/0023-sweeps-in-lanes.md): under CLOSEST and ANY, for
// capsules and for strictly convex polygons of up to eight vertices, among polygons of that kind.
// It answers what the exact search does, or leaves the item to that.
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
#include "sweep/plain_sweep_rows.h"
#include "sweep/plain_touch.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {

enum class PlainSweepVerdict : uint8_t { kNone, kTouch, kOverlap, kLeft };

// The items of a batch, some at a time. Not thread-safe.
class PlainSweeps {
 public:
  PlainSweeps(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
              WorkMeter& meter);
  ~PlainSweeps();
  PlainSweeps(const PlainSweeps&) = delete;
  PlainSweeps& operator=(const PlainSweeps&) = delete;

  // What there is to answer for item i, of items in order: nothing, a touch on the path, a polygon
  // that it overlaps at the start, or what the exact search finds. So too for what is not accepted
  // and once the meter stops.
  PlainSweepVerdict Answer(size_t i);
  // The polygon of that touch or overlap.
  const IndexedPolygon& fixed(size_t i) const { return *scratch_->items[i % kWindow].best; }
  // The row of that touch. Returns false where a rounding is not certain.
  bool Measure(size_t i, SweepHit& hit) const { return scratch_->rows.Row(i % kWindow, hit); }

 private:
  static constexpr size_t kWindow =
      PlainSweepRows::kMost;  // items whose memory is fetched together
  static_assert(kWindow <= BoxPairs::kMostQueries);
  static constexpr size_t kMaxPairs = 256;
  static constexpr size_t kCachedShapes = 16;

  struct Item {
    std::array<Vec2, 2> axis;  // of a capsule, as placed
    SweptMover mover;
    SweptBox path;
    PlainSweepVerdict verdict;
    bool is_over;                // nothing else matters
    double uncertain;            // what is uncertain touches nothing before
    const IndexedPolygon* best;  // null for none
    PlainTouch touch;            // of it
    const PlainPair* first;      // of some pairs the one whose edges are entered first, or null
  };
  // A shape of the batch that is taken.
  struct CachedShape {
    size_t number;
    PlainShape plain;
  };
  struct Scratch {
    std::array<Item, kWindow> items;
    std::array<BoxQuery, kWindow> queries;
    std::array<CachedShape, kCachedShapes> shapes;
    std::array<PlainPair, kMaxPairs> pairs;
    BoxPairs found;
    PlainSweepRows rows;  // of the items that touch, unless under ANY
    std::vector<ItemError> errors;
  };

  const PlainShape& PlainOf(size_t number);
  bool Place(size_t i, Item& item);
  void LookAtWindow(size_t begin);
  void Start(size_t count);
  void EndWindow(size_t count);
  void LookAtPairs(std::span<const BoxPairs::Pair> found);
  std::span<PlainPair> SelectPairs(std::span<const BoxPairs::Pair> found);
  void TakePair(const PlainPair& pair);
  void Take(const IndexedPolygon& fixed, const PlainTouch& touch, Item& item) const;
  void End(Item& item) const;

  const Scene& scene_;
  const SweepColumns& columns_;
  const SweepOptions& options_;
  WorkMeter& meter_;
  const bool applies_;
  const PlainPlacing::Vertices place_ = PlacePlain().all;
  const TouchFunctions touches_ = FindTouch();
  ThreadScratch<Scratch> scratch_;
};

}  // namespace carom::internal
