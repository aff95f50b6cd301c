// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/nearest_points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/fallback_rate.h"
#include "carom/geometry.h"
#include "carom/shape.h"
#include "index/scene_index.h"

namespace carom::internal {
namespace {

// A scene's grid has squares, most of which are divided into cells that list the polygons in them
// (index/grid_block.h). The fast path searches these cells. This is the share of the thread's
// recent points in squares with cells for which the fast path could not decide which polygon is
// nearest. Above one half, the fast path is skipped, since a failed search by cells takes less than
// half the time of the search by the scene's bounding-box trees.
[[gnu::tls_model("initial-exec")]] constinit thread_local FallbackRate recent_points(0.5);

}  // namespace

NearestPoints::NearestPoints(const Scene& scene, const DistanceColumns& columns,
                             const DistanceOptions& options, DistanceAnswers& out, WorkMeter& meter)
    : scene_(scene.index()),
      columns_(columns),
      mask_(options.mask),
      out_(out),
      meter_(meter),
      applies_(options.mode == DistanceMode::kNearest && !scene_.grid().empty() &&
               columns.movers.c.empty() && columns.movers.angle.empty()) {}

// Sets `point` to the position of item i if the shape of the item is a point: a capsule without
// length and radius. Returns false for other shapes, and for numbers that are not accepted
// (coordinates must be finite and at most 2^53 in magnitude, distances at least 0); the caller then
// evaluates the item without the fast path, which records an error.
inline bool NearestPoints::ReadPoint(size_t i, Vec2& point) {
  const ShapeColumns& movers = columns_.movers;
  const size_t shape = movers.shape.empty() ? i : movers.shape[i];
  if (shape >= movers.shapes.size()) return false;
  if (shape != last_shape_) {  // most items have the shape of the previous item
    const Capsule* const capsule = movers.shapes[shape].capsule();
    if (capsule == nullptr || capsule->radius != 0 || !(capsule->axis.a == capsule->axis.b)) {
      return false;
    }
    last_shape_ = shape;
    last_point_ = capsule->axis.a;
  }
  if (!columns_.max_distance.empty() && !(columns_.max_distance[i] >= 0)) return false;
  const Vec2 position{movers.x[i], movers.y[i]};
  if (!IsAccepted(position)) return false;
  point = Placed({position}, last_point_);
  return IsAccepted(point);
}

// Searches the nearest polygons of the next items, up to `kWindow` (the window), from item `begin`
// on, and counts the work. Recomputes the bounds of the squared search distance only when
// `max_distance` changes, since items tend to have equal distances. If most recent items were
// undecided (the fast path could not decide which polygon is nearest), skips the fast path and
// marks all items of the window undecided.
inline void NearestPoints::ReadWindow(size_t begin) {
  const size_t count = std::min(kWindow, columns_.size() - begin);
  if (!always_tries_fast_path_ && recent_points.SkipsFastPath()) {
    for (size_t k = 0; k < count; ++k) items_[k].verdict = NearestVerdict::kUndecided;
    return;
  }
  for (size_t k = 0; k < count; ++k) {
    NearestItem& item = items_[k];
    if (!ReadPoint(begin + k, item.point)) item.point = {NAN, NAN};
    const double max_distance =
        columns_.max_distance.empty() ? HUGE_VAL : columns_.max_distance[begin + k];
    if (max_distance != max_distance_) {
      max_distance_ = max_distance;
      reach2_ = SquareBounds({0, 0, max_distance});
    }
    item.reach2 = reach2_;
  }
  FindNearest(scene_, mask_, {items_.data(), count}, meter_);
  size_t with_cells = 0;
  size_t undecided = 0;
  size_t rows = 0;
  for (size_t k = 0; k < count; ++k) {
    const NearestVerdict verdict = items_[k].verdict;
    const bool has_cells = items_[k].block != nullptr;
    with_cells += static_cast<size_t>(has_cells);
    undecided += static_cast<size_t>(has_cells && verdict == NearestVerdict::kUndecided);
    rows += static_cast<size_t>(verdict == NearestVerdict::kInside ||
                                verdict == NearestVerdict::kOutside);
  }
  recent_points.Add(undecided, with_cells);
  // Counts the work and the rows that `Answer` writes.
  meter_.SpendRows(rows);
  meter_.Spend(8 * rows);
}

bool NearestPoints::Answer(size_t i) {
  if (!applies_) return false;
  const size_t k = i % kWindow;
  if (k == 0) ReadWindow(i);
  const NearestItem& item = items_[k];
  if (item.verdict == NearestVerdict::kUndecided) return false;
  if (item.verdict == NearestVerdict::kNone) return true;
  if (item.verdict == NearestVerdict::kOutside) {
    const auto row = static_cast<uint32_t>(out_.rows.size());
    if (!rows_.Add({item.point, item.polygon, item.edges, row}, out_.rows)) return false;
  } else {
    DistanceRow& row = out_.rows.emplace_back();
    row.point = row.mover_point = item.point;
  }
  out_.counts[i] = 1;
  out_.polygon_ids.push_back(item.polygon->id());
  return true;
}

}  // namespace carom::internal
