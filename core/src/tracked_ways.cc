// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracked_ways.h"

#include <algorithm>
#include <tuple>

namespace carom::internal {
namespace {

// The column of a move that a column of a sweep was made from.
ItemColumn ColumnOfMove(ItemColumn column) {
  switch (column) {
    case ItemColumn::kX:
      return ItemColumn::kFromX;
    case ItemColumn::kY:
      return ItemColumn::kFromY;
    case ItemColumn::kToX:
      return ItemColumn::kX;
    case ItemColumn::kToY:
      return ItemColumn::kY;
    default:
      return column;
  }
}

}  // namespace

void TrackedWays::Clear(size_t count) {
  ways_.assign(count, {});
  swept_.clear();
}

void TrackedWays::Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
                      double tolerance) {
  swept_.push_back(
      {shape.options.mask, shape.Turns(from, to), item, &shape.shape, from, to, tolerance});
}

bool TrackedWays::Sweep(const Scene& scene, WorkMeter& meter) {
  const auto kind = [](const Swept& a) { return std::tuple(a.mask, a.turns); };
  std::sort(swept_.begin(), swept_.end(), [&](const Swept& a, const Swept& b) {
    return std::tuple(kind(a), a.item) < std::tuple(kind(b), b.item);
  });
  for (size_t first = 0, last = 0; first < swept_.size(); first = last) {
    while (last < swept_.size() && kind(swept_[last]) == kind(swept_[first])) ++last;
    const std::span<const Swept> batch = std::span(swept_).subspan(first, last - first);
    const bool ran = SweepBatch(scene, batch, meter);
    shapes_.clear();  // they own polygons
    if (!ran) return false;
  }
  return true;
}

bool TrackedWays::SweepBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter) {
  shapes_.clear();
  for (std::vector<double>* column :
       {&x_, &y_, &c_, &s_, &to_x_, &to_y_, &to_c_, &to_s_, &tolerance_}) {
    column->clear();
  }
  for (const Swept& swept : batch) {
    shapes_.push_back(*swept.shape);
    x_.push_back(swept.from.position.x);
    y_.push_back(swept.from.position.y);
    c_.push_back(swept.from.c);
    s_.push_back(swept.from.s);
    to_x_.push_back(swept.to.position.x);
    to_y_.push_back(swept.to.position.y);
    to_c_.push_back(swept.to.c);
    to_s_.push_back(swept.to.s);
    tolerance_.push_back(swept.tolerance);
  }
  const ShapeColumns movers{shapes_, {}, x_, y_, c_, s_, {}};
  const uint64_t mask = batch[0].mask;
  if (batch[0].turns) {
    const RotatingSweepColumns columns{movers, to_x_, to_y_, to_c_, to_s_, {}, tolerance_};
    if (!SweepRotating(scene, columns, {StartPolicy::kReportStart, mask}, turning_, meter)) {
      return false;
    }
    Take(batch, turning_, [](const RotatingSweepHit& hit) {
      return FirstTouch{true, hit.polygon_id, hit.low, hit.high};
    });
    return true;
  }
  SweepOptions options;
  options.mask = mask;
  if (!SweepShapes(scene, {movers, to_x_, to_y_}, options, straight_, meter)) return false;
  Take(batch, straight_, [](const SweepHit& hit) {
    return FirstTouch{true, hit.polygon_id, hit.fraction, hit.fraction};
  });
  return true;
}

template <class Answers, class TouchOf>
void TrackedWays::Take(std::span<const Swept> batch, const Answers& answers,
                       const TouchOf& touch_of) {
  size_t row = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (answers.counts[i] == 0) continue;
    ways_[batch[i].item].first_touch = touch_of(answers.hits[row]);
    row += answers.counts[i];
  }
  for (const ItemError& error : answers.errors) {
    const uint32_t item = batch[error.index].item;
    ways_[item].error = ItemError{item, ColumnOfMove(error.column), error.fault};
  }
}

}  // namespace carom::internal
