// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/tracker_sweeps.h"

#include <algorithm>
#include <tuple>

#include "numeric/expansion.h"

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

// Whether the shape is a point that goes from a to b along a + t d, where d is the rounded
// difference of the positions: the way of a segment cast from a to b, if both are exact.
bool IsSegment(const Shape& shape, const Pose& from, const Pose& to, Vec2& a, Vec2& b) {
  const Capsule* const capsule = shape.capsule();
  if (capsule == nullptr || capsule->radius > 0 || capsule->axis.a != capsule->axis.b) return false;
  a = Placed(from, capsule->axis.a);
  const Vec2 d{to.position.x - from.position.x, to.position.y - from.position.y};
  b = {a.x + d.x, a.y + d.y};
  // And all three are read as they are.
  const auto is_read = [](double x) { return IsAccepted(x) && Normalized(x) == x; };
  const auto is_exact = [&](double start, double way, double end) {
    return TwoSum(start, way).low == 0 && is_read(start) && is_read(way) && is_read(end);
  };
  return is_exact(a.x, d.x, b.x) && is_exact(a.y, d.y, b.y);
}

}  // namespace

void TrackerSweeps::Clear(size_t count) {
  hit_bits_.assign((count + 63) / 64, 0);
  clear_bits_.assign((count + 63) / 64, 0);
  results_.clear();
  swept_.clear();
  points_.clear();
}

void TrackerSweeps::Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
                        double tolerance) {
  Swept swept{shape.options.mask, shape.Turns(from, to), item, &shape.shape, from, to, tolerance};
  Vec2 a, b;
  if (!swept.turns && IsSegment(shape.shape, from, to, a, b)) {
    swept.ends_at_pose =
        shape.options.within == 0 && b == Placed(to, shape.shape.capsule()->axis.a);
    swept.from.position = a;
    swept.to.position = b;
    points_.push_back(swept);
  } else {
    swept_.push_back(swept);
  }
}

bool TrackerSweeps::Sweep(const Scene& scene, WorkMeter& meter) {
  const auto sweep = [&](std::vector<Swept>& swept, auto kind_of, auto sweep_batch) {
    const auto is_before = [&](const Swept& a, const Swept& b) { return kind_of(a) < kind_of(b); };
    // Most are of one kind.
    if (!std::is_sorted(swept.begin(), swept.end(), is_before)) {
      std::stable_sort(swept.begin(), swept.end(), is_before);
    }
    for (size_t first = 0, last = 0; first < swept.size(); first = last) {
      while (last < swept.size() && kind_of(swept[last]) == kind_of(swept[first])) ++last;
      if (!sweep_batch(std::span(swept).subspan(first, last - first))) return false;
    }
    return true;
  };
  const bool ran =
      sweep(
          points_, [](const Swept& a) { return a.mask; },
          [&](std::span<const Swept> batch) { return CastBatch(scene, batch, meter); }) &&
      sweep(
          swept_, [](const Swept& a) { return std::tuple(a.mask, a.turns); },
          [&](std::span<const Swept> batch) { return SweepBatch(scene, batch, meter); });
  shapes_.clear();  // they own polygons
  if (!ran) return false;
  std::ranges::sort(results_, {}, &SweepResult::item);
  return true;
}

const TrackerSweeps::SweepResult& TrackerSweeps::result(size_t item) const {
  return *std::ranges::lower_bound(results_, static_cast<uint32_t>(item), {}, &SweepResult::item);
}

void TrackerSweeps::AddResult(const SweepResult& result) {
  hit_bits_[result.item / 64] |= uint64_t{1} << (result.item % 64);
  results_.push_back(result);
}

// A sweep of a point by REPORT_START answers as a cast does: the exact first fraction, rounded to
// nearest, and the least id of those that tie.
bool TrackerSweeps::CastBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter) {
  for (std::vector<double>* column : {&x_, &y_, &to_x_, &to_y_}) column->clear();
  for (const Swept& swept : batch) {
    x_.push_back(swept.from.position.x);
    y_.push_back(swept.from.position.y);
    to_x_.push_back(swept.to.position.x);
    to_y_.push_back(swept.to.position.y);
  }
  CastOptions options;
  options.mask = batch[0].mask;
  options.detail = CastDetail::kFraction;
  if (!CastSegments(scene, {x_, y_, to_x_, to_y_}, options, casts_, meter)) return false;
  Take(batch, casts_.counts, casts_.errors, [&](size_t row) {
    const CastHit& hit = casts_.hits[row];
    return FirstTouch{true, hit.polygon_id, hit.fraction, hit.fraction};
  });
  for (const Swept& swept : batch) {
    if (!swept.ends_at_pose || !IsClear(swept.item)) continue;
    clear_bits_[swept.item / 64] |= uint64_t{1} << (swept.item % 64);
  }
  return true;
}

bool TrackerSweeps::SweepBatch(const Scene& scene, std::span<const Swept> batch, WorkMeter& meter) {
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
    Take(batch, turning_.counts, turning_.errors, [&](size_t row) {
      const RotatingSweepHit& hit = turning_.hits[row];
      return FirstTouch{true, hit.polygon_id, hit.low, hit.high};
    });
    return true;
  }
  SweepOptions options;
  options.mask = mask;
  if (!SweepShapes(scene, {movers, to_x_, to_y_}, options, straight_, meter)) return false;
  Take(batch, straight_.counts, straight_.errors, [&](size_t row) {
    const SweepHit& hit = straight_.hits[row];
    return FirstTouch{true, hit.polygon_id, hit.fraction, hit.fraction};
  });
  return true;
}

template <class TouchOf>
void TrackerSweeps::Take(std::span<const Swept> batch, const std::vector<uint32_t>& counts,
                         const std::vector<ItemError>& errors, const TouchOf& touch_of) {
  size_t row = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (counts[i] == 0) continue;
    AddResult({batch[i].item, touch_of(row)});
    row += counts[i];
  }
  for (const ItemError& error : errors) {
    const uint32_t item = batch[error.index].item;
    Refuse({item, ColumnOfMove(error.column), error.fault});
  }
}

}  // namespace carom::internal
