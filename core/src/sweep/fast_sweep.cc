// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/fast_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "base/fallback_rate.h"
#include "index/placed_items.h"
#include "shape/place_vertices.h"
#include "sweep/sweep_items.h"

namespace carom::internal {
namespace {

// The share of recent items (sweeps of a batch) of this thread that fell back to the exact search.
// While the share is above 0.75, most items skip the fast path, since a failed attempt takes a
// fifth of the time of the exact search.
[[gnu::tls_model("initial-exec")]] constinit thread_local FallbackRate recent_sweeps(0.75);

// Two touches whose times (fractions of the path) differ by more than this margin are certainly
// ordered, even after the fractions are rounded. The exact times of edges that touch at an equal
// rounded time differ by less (fast_corner.h).
constexpr double kTieMargin = 0x1p-50;

// Returns `box` grown by `radius`. The sums are rounded to nearest; `SweptBox` rounds outward by
// more than their errors.
Box GrownByRadius(const Box& box, double radius) {
  return {{box.min.x - radius, box.min.y - radius}, {box.max.x + radius, box.max.y + radius}};
}

// Prefetches the first four cache lines of a polygon's memory: they hold most of the vertices of a
// small polygon.
void Prefetch(const IndexedPolygon& fixed) {
  const auto* const block = static_cast<const char*>(fixed.polygon().memory());
  __builtin_prefetch(block);
  __builtin_prefetch(block + 64);
  __builtin_prefetch(block + 128);
  __builtin_prefetch(block + 192);
}

}  // namespace

FastSweeps::FastSweeps(const Scene& scene, const SweepColumns& columns, const SweepOptions& options,
                       WorkMeter& meter)
    : scene_(scene),
      columns_(columns),
      options_(options),
      meter_(meter),
      applies_(options.mode == CastMode::kClosest || options.mode == CastMode::kAny) {
  for (CachedShape& shape : scratch_->shapes) shape.number = SIZE_MAX;
}

FastSweeps::~FastSweeps() { scratch_.Return(); }

// Returns shape `number` of the batch in the form of the fast path. Converts a shape once for all
// items (sweeps of the batch) that use it, while it is cached. The result has the size 0 if the
// fast path does not accept the shape.
const FastShape& FastSweeps::FastShapeOf(size_t number) {
  CachedShape& cached = scratch_->shapes[number % kCachedShapes];
  if (cached.number == number) return cached.fast;
  cached.number = number;
  const Shape& shape = columns_.movers.shapes[number];
  const Polygon* const polygon = shape.polygon();
  const bool is_small = polygon != nullptr && polygon->vertex_count() <= kMostFastVertices;
  cached.fast = FastShape(shape, is_small ? ConvexityOf(*polygon) : Convexity::kNone);
  return cached.fast;
}

// Places the shape of item i (a sweep of the batch). Returns false if the fast path does not accept
// the shape or a value in a column is invalid; the exact search then answers the item, and records
// the error.
bool FastSweeps::Place(size_t i, Item& item) {
  ItemChecker check(i, scratch_->errors);
  const ShapeColumns& movers = columns_.movers;
  const Shape* const shape = ShapeOf(movers, i, check);
  if (shape == nullptr) return false;
  const std::optional<Pose> pose = PoseOf(movers, i, check);
  if (!pose) return false;
  const std::optional<Vec2> d = DisplacementOf(columns_, i, check);
  if (!d) return false;
  SweptMover& mover = item.mover;
  mover.d = *d;
  if (const Capsule* const capsule = shape->capsule()) {
    const std::array<Vec2, 2> described{capsule->axis.a, capsule->axis.b};
    std::array<Vec2, 2>& ends = item.axis;
    PlaceVertices(*pose, described, ends.data());
    mover.radius = capsule->radius;
    return capsule->radius > 0 && IsAccepted(ends[0]) && IsAccepted(ends[1]);
  }
  const FastShape& fast = FastShapeOf(movers.shape.empty() ? i : movers.shape[i]);
  mover.radius = 0;
  if (fast.size == 0 || !place_(fast, *pose, mover.ring)) return false;
  mover.edge_count = mover.ring.size;
  return true;
}

// Initializes the placed items of a window: `count` successive items of the batch that are decided
// together. Each loop does one step for all items, because a processor stalls when a vector load
// follows scalar stores to the same bytes.
void FastSweeps::Start(size_t count) {
  const std::span items = std::span(scratch_->items).first(count);
  auto& queries = scratch_->queries;
  uint64_t vertices = 0;
  for (size_t k = 0; k < count; ++k) {
    SweptMover& mover = items[k].mover;
    if (queries[k].is_active && mover.radius > 0)
      mover.SetAxis({items[k].axis[0], items[k].axis[1]});
  }
  for (size_t k = 0; k < count; ++k) {
    if (!queries[k].is_active) continue;
    Item& item = items[k];
    item.is_done = false;
    item.undecided_from = HUGE_VAL;
    item.best = nullptr;
    item.touch.high = 1;
    item.path = SweptBox(GrownByRadius(item.mover.ring.bounds, item.mover.radius), item.mover.d, 1);
    queries[k].reach = item.path.reach();
    vertices += item.mover.ring.size;
  }
  meter_.Spend(vertices);
}

// Decides the items of a window (`kWindow` successive items of the batch) together. Each step
// requests memory for all items before it uses the memory of any item, so that the memory accesses
// of the items overlap in time.
void FastSweeps::AnswerWindow(size_t begin) {
  const size_t count = std::min(kWindow, columns_.size() - begin);
  const bool skips_fast_path = recent_sweeps.SkipsFastPath();
  scratch_->errors.clear();
  for (size_t k = 0; k < count; ++k) {
    Item& item = scratch_->items[k];
    BoxQuery& query = scratch_->queries[k];
    query.is_active = !skips_fast_path && Place(begin + k, item);
    item.verdict = query.is_active ? FastSweepVerdict::kNone : FastSweepVerdict::kUndecided;
  }
  if (skips_fast_path) return;
  Start(count);
  FindPairs(scene_.index(), {scratch_->queries.data(), count}, scratch_->found);
  meter_.Spend(scratch_->found.boxes);
  const std::span found = std::span(scratch_->found.pairs).first(scratch_->found.count);
  for (size_t k = 0; k < count; ++k) {
    Item& item = scratch_->items[k];
    // If `is_complete` is false, too many polygons are near the item: the item is undecided.
    if (!scratch_->queries[k].is_active || scratch_->queries[k].is_complete) continue;
    item.undecided_from = 0;
    item.is_done = true;
  }
  for (size_t i = 0; i < found.size() && !meter_.stopped(); i += kMaxPairs) {
    DecidePairs(found.subspan(i, std::min(kMaxPairs, found.size() - i)));
  }
  FinishWindow(count);
}

// Sets the verdicts of the items of a window (the `count` successive items that are decided
// together) from their touches, and computes the answer rows (fraction, point and normal) of all
// touches together.
void FastSweeps::FinishWindow(size_t count) {
  FastSweepRows& rows = scratch_->rows;
  size_t attempted = 0;
  size_t undecided = 0;
  rows.Clear();
  for (size_t k = 0; k < count; ++k) {
    if (!scratch_->queries[k].is_active) continue;
    Item& item = scratch_->items[k];
    DecideItem(item);
    ++attempted;
    undecided += static_cast<size_t>(item.verdict == FastSweepVerdict::kUndecided);
    if (item.verdict == FastSweepVerdict::kTouch && options_.mode != CastMode::kAny) {
      rows.Add(k, item.best->polygon(), item.mover, item.touch);
    }
  }
  rows.Measure();
  recent_sweeps.Add(undecided, attempted);
}

// Returns, as pairs of an item (a sweep of the batch) and a polygon, those of the pairs in `found`
// in which the item's path may meet the polygon's bounding box and the fast path accepts the
// polygon (`IsFastTarget`). If the path may meet the box of a polygon that the fast path does not
// accept, marks the item as undecided from the start of the path.
std::span<FastPair> FastSweeps::SelectPairs(std::span<const BoxPairs::Pair> found) {
  constexpr size_t kAhead = 8;
  auto& pairs = scratch_->pairs;
  uint64_t units = 0;
  size_t count = 0;
  for (size_t i = 0; i < std::min(kAhead, found.size()); ++i) Prefetch(*found[i].polygon);
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + kAhead < found.size()) Prefetch(*found[i + kAhead].polygon);
    const IndexedPolygon& fixed = *found[i].polygon;
    Item& item = scratch_->items[found[i].query];
    const Polygon& polygon = fixed.polygon();
    if (item.is_done || (polygon.category() & options_.mask) == 0 ||
        !item.path.MayMeet(polygon.bounds())) {
      continue;
    }
    if (!IsFastTarget(fixed)) {
      item.undecided_from = 0;
      item.is_done = options_.mode != CastMode::kAny;
      continue;
    }
    units += polygon.vertex_count() + item.mover.ring.size;
    pairs[count].fixed = &fixed;
    pairs[count].mover = &item.mover;
    pairs[count++].item = found[i].query;
  }
  meter_.Spend(units);
  return std::span(pairs).first(count);
}

// Decides the pairs of an item (a sweep of the batch) and a polygon. Decides first, for each item,
// the pair with the least `enter_low` (lower bound of the time at which the item can touch the
// polygon of the pair): mostly the item touches that polygon before it can touch the polygons of
// its other pairs, and then the other pairs need no decision.
void FastSweeps::DecidePairs(std::span<const BoxPairs::Pair> found) {
  const std::span<FastPair> pairs = SelectPairs(found);
  touches_.bound(pairs);
  for (const FastPair& pair : pairs) scratch_->items[pair.item].first = nullptr;
  for (const FastPair& pair : pairs) {
    if (pair.bounds.Misses(1)) continue;
    const FastPair*& first = scratch_->items[pair.item].first;
    if (first == nullptr || pair.bounds.enter_low < first->bounds.enter_low) first = &pair;
  }
  for (const FastPair& pair : pairs) {
    if (scratch_->items[pair.item].first == &pair) DecidePair(pair);
  }
  for (const FastPair& pair : pairs) {
    const Item& item = scratch_->items[pair.item];
    if (item.first != &pair && !pair.bounds.Misses(item.touch.high + kTieMargin)) DecidePair(pair);
  }
}

void FastSweeps::DecidePair(const FastPair& pair) {
  Item& item = scratch_->items[pair.item];
  if (!item.is_done)
    KeepFirst(*pair.fixed, touches_.find(pair, item.touch.high + kTieMargin), item);
}

// Merges a touch into `item` (a sweep of the batch), which keeps the earliest touch. Overlaps at
// the start precede all touches; of several overlaps, keeps the one with the least polygon id.
void FastSweeps::KeepFirst(const IndexedPolygon& fixed, const FastTouch& touch, Item& item) const {
  const bool has_overlap = item.best != nullptr && item.touch.verdict == TouchVerdict::kOverlap;
  switch (touch.verdict) {
    case TouchVerdict::kNone:
      return;
    case TouchVerdict::kUncertain:
      item.undecided_from = std::min(item.undecided_from, touch.low);
      return;
    case TouchVerdict::kOverlap:
      if (options_.inside_policy != InsidePolicy::kReportStart) {
        item.undecided_from = 0;
        return;
      }
      if (has_overlap && item.best->polygon().id() < fixed.polygon().id()) return;
      item.best = &fixed;
      item.touch = touch;
      item.touch.low = item.touch.high = 0;
      break;
    case TouchVerdict::kTouch:
      if (item.best != nullptr && touch.low > item.touch.high + kTieMargin) return;
      // If neither touch is certainly earlier by `kTieMargin`, it is undecided which one is first.
      if (item.best != nullptr && !(touch.high + kTieMargin < item.touch.low)) {
        item.undecided_from = std::min(item.undecided_from, touch.low);
        return;
      }
      item.best = &fixed;
      item.touch = touch;
      break;
  }
  item.is_done = options_.mode == CastMode::kAny;
}

// Sets the verdict of an item (a sweep of the batch). The item is undecided if a polygon that the
// filters could not decide may touch before the first touch or at an equal time, unless the mode is
// ANY and a touch is certain.
void FastSweeps::DecideItem(Item& item) const {
  const bool is_certain = item.best != nullptr && options_.mode == CastMode::kAny;
  if (!is_certain && item.undecided_from <= item.touch.high + kTieMargin) {
    item.verdict = FastSweepVerdict::kUndecided;
  } else if (item.best != nullptr) {
    item.verdict = item.touch.verdict == TouchVerdict::kOverlap ? FastSweepVerdict::kOverlap
                                                                : FastSweepVerdict::kTouch;
  }
}

FastSweepVerdict FastSweeps::Answer(size_t i) {
  if (!applies_) return FastSweepVerdict::kUndecided;
  const size_t k = i % kWindow;
  if (k == 0) AnswerWindow(i);
  return meter_.stopped() ? FastSweepVerdict::kUndecided : scratch_->items[k].verdict;
}

}  // namespace carom::internal
