// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/plain_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "base/hard_share.h"
#include "index/placed_items.h"
#include "shape/place_vertices.h"
#include "sweep/sweep_items.h"

namespace carom::internal {
namespace {

// Of the items that were tried. In vain they take a fifth of what the exact search does.
[[gnu::tls_model("initial-exec")]] constinit thread_local HardShare recent_sweeps(0.75);

// Touches of two polygons that are farther apart in time are in order when they are rounded, and
// edges that tie with a touch are less far from it (plain_corner.h).
constexpr double kApart = 0x1p-50;

// `SweptBox` has slack for the rounding of this, too.
Box Around(const Box& box, double radius) {
  return {{box.min.x - radius, box.min.y - radius}, {box.max.x + radius, box.max.y + radius}};
}

// The first lines of a polygon's memory: most of the vertices of a small one.
void Prefetch(const IndexedPolygon& fixed) {
  const auto* const block = static_cast<const char*>(fixed.polygon().memory());
  __builtin_prefetch(block);
  __builtin_prefetch(block + 64);
  __builtin_prefetch(block + 128);
  __builtin_prefetch(block + 192);
}

}  // namespace

PlainSweeps::PlainSweeps(const Scene& scene, const SweepColumns& columns,
                         const SweepOptions& options, WorkMeter& meter)
    : scene_(scene),
      columns_(columns),
      options_(options),
      meter_(meter),
      applies_(options.mode == CastMode::kClosest || options.mode == CastMode::kAny) {
  for (CachedShape& shape : scratch_->shapes) shape.number = SIZE_MAX;
}

PlainSweeps::~PlainSweeps() { scratch_.Return(); }

// Of size 0 where the shape is not taken.
// A shape is judged once for all items that have it.
const PlainShape& PlainSweeps::PlainOf(size_t number) {
  CachedShape& cached = scratch_->shapes[number % kCachedShapes];
  if (cached.number == number) return cached.plain;
  cached.number = number;
  const Shape& shape = columns_.movers.shapes[number];
  const Polygon* const polygon = shape.polygon();
  const bool is_small = polygon != nullptr && polygon->vertex_count() <= kMostPlainVertices;
  cached.plain = PlainShape(shape, is_small ? ConvexityOf(*polygon) : Convexity::kNone);
  return cached.plain;
}

// Returns false where the item is not taken or not accepted; the exact search says which.
bool PlainSweeps::Place(size_t i, Item& item) {
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
  const PlainShape& plain = PlainOf(movers.shape.empty() ? i : movers.shape[i]);
  mover.radius = 0;
  if (plain.size == 0 || !place_(plain, *pose, mover.ring)) return false;
  mover.edge_count = mover.ring.size;
  return true;
}

// Sets where the items are that were placed. In steps of all items each: a processor waits for what
// it has just stored in parts and loads as a whole.
void PlainSweeps::Start(size_t count) {
  const std::span items = std::span(scratch_->items).first(count);
  auto& queries = scratch_->queries;
  uint64_t vertices = 0;
  for (size_t k = 0; k < count; ++k) {
    SweptMover& mover = items[k].mover;
    if (queries[k].is_asked && mover.radius > 0)
      mover.SetAxis({items[k].axis[0], items[k].axis[1]});
  }
  for (size_t k = 0; k < count; ++k) {
    if (!queries[k].is_asked) continue;
    Item& item = items[k];
    item.is_over = false;
    item.uncertain = HUGE_VAL;
    item.best = nullptr;
    item.touch.high = 1;
    item.path = SweptBox(Around(item.mover.ring.bounds, item.mover.radius), item.mover.d, 1);
    queries[k].reach = item.path.reach();
    vertices += item.mover.ring.size;
  }
  meter_.Spend(vertices);
}

// The items of a window wait for memory together: each asks for its own before any is looked at.
void PlainSweeps::LookAtWindow(size_t begin) {
  const size_t count = std::min(kWindow, columns_.size() - begin);
  const bool is_left = recent_sweeps.LeavesNext();
  scratch_->errors.clear();
  for (size_t k = 0; k < count; ++k) {
    Item& item = scratch_->items[k];
    BoxQuery& query = scratch_->queries[k];
    query.is_asked = !is_left && Place(begin + k, item);
    item.verdict = query.is_asked ? PlainSweepVerdict::kNone : PlainSweepVerdict::kLeft;
  }
  if (is_left) return;
  Start(count);
  FindPairs(scene_.index(), {scratch_->queries.data(), count}, scratch_->found);
  meter_.Spend(scratch_->found.boxes);
  const std::span found = std::span(scratch_->found.pairs).first(scratch_->found.count);
  for (size_t k = 0; k < count; ++k) {
    Item& item = scratch_->items[k];
    // Where there are many polygons the item is left.
    if (!scratch_->queries[k].is_asked || scratch_->queries[k].has_few) continue;
    item.uncertain = 0;
    item.is_over = true;
  }
  for (size_t i = 0; i < found.size() && !meter_.stopped(); i += kMaxPairs) {
    LookAtPairs(found.subspan(i, std::min(kMaxPairs, found.size() - i)));
  }
  EndWindow(count);
}

// Measures the touches together.
void PlainSweeps::EndWindow(size_t count) {
  PlainSweepRows& rows = scratch_->rows;
  size_t tried = 0;
  size_t left = 0;
  rows.Clear();
  for (size_t k = 0; k < count; ++k) {
    if (!scratch_->queries[k].is_asked) continue;
    Item& item = scratch_->items[k];
    End(item);
    ++tried;
    left += static_cast<size_t>(item.verdict == PlainSweepVerdict::kLeft);
    if (item.verdict == PlainSweepVerdict::kTouch && options_.mode != CastMode::kAny) {
      rows.Add(k, item.best->polygon(), item.mover, item.touch);
    }
  }
  rows.Measure();
  recent_sweeps.Add(left, tried);
}

// Those whose boxes meet, of polygons that this path takes. Items that meet others are over.
std::span<PlainPair> PlainSweeps::SelectPairs(std::span<const BoxPairs::Pair> found) {
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
    if (item.is_over || (polygon.category() & options_.mask) == 0 ||
        !item.path.MayMeet(polygon.bounds())) {
      continue;
    }
    if (!IsPlainTarget(fixed)) {
      item.uncertain = 0;
      item.is_over = options_.mode != CastMode::kAny;
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

// Of each item that pair first of which the edges are entered first: mostly the others are not
// entered before it is touched.
void PlainSweeps::LookAtPairs(std::span<const BoxPairs::Pair> found) {
  const std::span<PlainPair> pairs = SelectPairs(found);
  touches_.bound(pairs);
  for (const PlainPair& pair : pairs) scratch_->items[pair.item].first = nullptr;
  for (const PlainPair& pair : pairs) {
    if (pair.bounds.Misses(1)) continue;
    const PlainPair*& first = scratch_->items[pair.item].first;
    if (first == nullptr || pair.bounds.enter_low < first->bounds.enter_low) first = &pair;
  }
  for (const PlainPair& pair : pairs) {
    if (scratch_->items[pair.item].first == &pair) TakePair(pair);
  }
  for (const PlainPair& pair : pairs) {
    const Item& item = scratch_->items[pair.item];
    if (item.first != &pair && !pair.bounds.Misses(item.touch.high + kApart)) TakePair(pair);
  }
}

void PlainSweeps::TakePair(const PlainPair& pair) {
  Item& item = scratch_->items[pair.item];
  if (!item.is_over) Take(*pair.fixed, touches_.find(pair, item.touch.high + kApart), item);
}

// Keeps the first touch; of overlaps at the start, which come before, that of the least id.
void PlainSweeps::Take(const IndexedPolygon& fixed, const PlainTouch& touch, Item& item) const {
  const bool has_overlap = item.best != nullptr && item.touch.verdict == TouchVerdict::kOverlap;
  switch (touch.verdict) {
    case TouchVerdict::kNone:
      return;
    case TouchVerdict::kUncertain:
      item.uncertain = std::min(item.uncertain, touch.low);
      return;
    case TouchVerdict::kOverlap:
      if (options_.inside_policy != InsidePolicy::kReportStart) {
        item.uncertain = 0;
        return;
      }
      if (has_overlap && item.best->polygon().id() < fixed.polygon().id()) return;
      item.best = &fixed;
      item.touch = touch;
      item.touch.low = item.touch.high = 0;
      break;
    case TouchVerdict::kTouch:
      if (item.best != nullptr && touch.low > item.touch.high + kApart) return;
      // Which comes first is uncertain.
      if (item.best != nullptr && !(touch.high + kApart < item.touch.low)) {
        item.uncertain = std::min(item.uncertain, touch.low);
        return;
      }
      item.best = &fixed;
      item.touch = touch;
      break;
  }
  item.is_over = options_.mode == CastMode::kAny;
}

// What is uncertain leaves the whole item, for its order is that of all its touches.
void PlainSweeps::End(Item& item) const {
  const bool is_known = item.best != nullptr && options_.mode == CastMode::kAny;
  if (!is_known && item.uncertain <= item.touch.high + kApart) {
    item.verdict = PlainSweepVerdict::kLeft;
  } else if (item.best != nullptr) {
    item.verdict = item.touch.verdict == TouchVerdict::kOverlap ? PlainSweepVerdict::kOverlap
                                                                : PlainSweepVerdict::kTouch;
  }
}

PlainSweepVerdict PlainSweeps::Answer(size_t i) {
  if (!applies_) return PlainSweepVerdict::kLeft;
  const size_t k = i % kWindow;
  if (k == 0) LookAtWindow(i);
  return meter_.stopped() ? PlainSweepVerdict::kLeft : scratch_->items[k].verdict;
}

}  // namespace carom::internal
