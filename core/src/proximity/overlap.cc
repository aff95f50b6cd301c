// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/overlap.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/thread_scratch.h"
#include "carom/shape.h"
#include "edges/placed_shape.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "proximity/overlap_query.h"

namespace carom {
namespace {

using internal::OverlapQuery;

// The working memory of a batch of movers (the shapes of the queries), which the thread keeps for
// later batches if it is small.
struct OverlapScratch {
  static constexpr size_t kMaxCachedItems = 16384;

  bool IsWorthCaching() const {
    return found.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  // the polygons and bodies that overlap one item (a shape of the batch)
  internal::OverlapRows found;
  // cached outlines (edge index and bounding circle, before placing) of the shapes of one batch
  internal::Outlines outlines;
  internal::MovingShape mover;
  size_t largest = 0;  // number of vertices of the largest mover of the batch
};

// The surface of a batch's shapes. Only the answers of round shapes (circles and capsules) have the
// column `touching`.
enum class Surface { kRound, kStraight };

// Answers a batch of shapes (items) of one kind: finds the polygons of the scene and the bodies
// (placed shapes beside it) that overlap each item.
class OverlapBatch {
 public:
  OverlapBatch(const World& world, const Scope& scope, const OverlapOptions& options,
               OverlapAnswers& out, WorkMeter& meter)
      : world_(world), scope_(scope), options_(options), out_(out), meter_(meter) {}

  // Answers `count` items. read(item, check, scratch) returns the item's shape, as a pointer or
  // optional of a type that `OverlapQuery::Run` takes, or null or nullopt if the item has no valid
  // shape. Returns false if the meter stops the work.
  template <class Read>
  bool Run(size_t count, Surface surface, const Read& read) {
    out_.Clear();
    out_.counts.assign(count, 0);
    OverlapQuery query(world_, options_, scratch_->found, meter_);
    for (size_t i = 0; i < count; ++i) {
      if (!meter_.Spend(1)) return false;
      ItemChecker check(i, out_.errors);
      auto shape = read(i, check, *scratch_);
      if (meter_.stopped()) return false;
      if (!shape) continue;
      query.SetFilter(internal::QueryFilter::Of(scope_, i, options_.mask));
      query.Run(*shape);
      if (!AppendRows(i, surface)) return false;
    }
    scratch_->outlines.Clear();
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

 private:
  // Appends the polygons and bodies that were found for an item (one shape of the batch) to the
  // columns of the answer. Returns false once the meter stops.
  bool AppendRows(size_t item, Surface surface) {
    const internal::OverlapRows& found = scratch_->found;
    for (const internal::OverlapRow& row : found.rows) {
      out_.polygon_ids.push_back(row.id);
      if (scope_.against != Against::kScene) out_.is_body.push_back(row.is_body ? 1 : 0);
      if (surface == Surface::kRound) out_.touching.push_back(row.touching ? 1 : 0);
      if (options_.detail == OverlapDetail::kEdges) {
        const std::span<const EdgeRef> edges = found.EdgesOf(row);
        out_.edge_counts.push_back(static_cast<uint32_t>(edges.size()));
        out_.edges.insert(out_.edges.end(), edges.begin(), edges.end());
      }
    }
    out_.counts[item] = static_cast<uint32_t>(found.rows.size());
    return !meter_.stopped();
  }

  const World& world_;
  const Scope& scope_;
  const OverlapOptions& options_;
  OverlapAnswers& out_;
  WorkMeter& meter_;
  internal::ThreadScratch<OverlapScratch> scratch_;
};

bool CheckBox(const BoxColumns& boxes, size_t i, ItemChecker& check, Box& box) {
  if (!check.Coordinate(ItemColumn::kMinX, boxes.min_x[i]) ||
      !check.Coordinate(ItemColumn::kMinY, boxes.min_y[i]) ||
      !check.Coordinate(ItemColumn::kMaxX, boxes.max_x[i]) ||
      !check.Coordinate(ItemColumn::kMaxY, boxes.max_y[i])) {
    return false;
  }
  box.min = Normalized(Vec2{boxes.min_x[i], boxes.min_y[i]});
  box.max = Normalized(Vec2{boxes.max_x[i], boxes.max_y[i]});
  if (box.min.x > box.max.x) return check.Fail(ItemColumn::kMinX, ItemFault::kEmptyBox);
  if (box.min.y > box.max.y) return check.Fail(ItemColumn::kMinY, ItemFault::kEmptyBox);
  return true;
}

}  // namespace

void OverlapAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  is_body.clear();
  touching.clear();
  edge_counts.clear();
  edges.clear();
  errors.clear();
}

bool OverlapCircles(const World& world, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter) {
  const auto read = [&](size_t i, ItemChecker& check, OverlapScratch&) -> std::optional<Circle> {
    if (!check.Coordinate(ItemColumn::kX, circles.x[i]) ||
        !check.Coordinate(ItemColumn::kY, circles.y[i]) || !check.Radius(circles.radius[i])) {
      return std::nullopt;
    }
    return Circle{Normalized(Vec2{circles.x[i], circles.y[i]}), Normalized(circles.radius[i])};
  };
  return OverlapBatch(world, circles.scope, options, out, meter)
      .Run(circles.size(), Surface::kRound, read);
}

bool OverlapCapsules(const World& world, const CapsuleColumns& capsules,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter) {
  const auto read = [&](size_t i, ItemChecker& check, OverlapScratch&) -> std::optional<Capsule> {
    if (!check.Coordinate(ItemColumn::kAx, capsules.ax[i]) ||
        !check.Coordinate(ItemColumn::kAy, capsules.ay[i]) ||
        !check.Coordinate(ItemColumn::kBx, capsules.bx[i]) ||
        !check.Coordinate(ItemColumn::kBy, capsules.by[i]) || !check.Radius(capsules.radius[i])) {
      return std::nullopt;
    }
    return Capsule{{Normalized(Vec2{capsules.ax[i], capsules.ay[i]}),
                    Normalized(Vec2{capsules.bx[i], capsules.by[i]})},
                   Normalized(capsules.radius[i])};
  };
  return OverlapBatch(world, capsules.scope, options, out, meter)
      .Run(capsules.size(), Surface::kRound, read);
}

bool OverlapBoxes(const World& world, const BoxColumns& boxes, const OverlapOptions& options,
                  OverlapAnswers& out, WorkMeter& meter) {
  const auto read = [&](size_t i, ItemChecker& check, OverlapScratch&) -> std::optional<Box> {
    Box box;
    return CheckBox(boxes, i, check, box) ? std::optional(box) : std::nullopt;
  };
  return OverlapBatch(world, boxes.scope, options, out, meter)
      .Run(boxes.size(), Surface::kStraight, read);
}

bool OverlapPolygons(const World& world, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter) {
  const auto read = [&](size_t i, ItemChecker& check,
                        OverlapScratch& scratch) -> internal::MovingShape* {
    const Polygon* const shape = internal::ShapeOf(polygons, i, check);
    if (shape == nullptr) return nullptr;
    const std::optional<Pose> pose = internal::PoseOf(polygons, i, check);
    if (!pose || !meter.Spend(shape->vertex_count())) return nullptr;
    scratch.largest = std::max(scratch.largest, shape->vertex_count());
    const auto number = static_cast<size_t>(shape - polygons.shapes.data());
    scratch.mover.MoveTo(scratch.outlines.Of(*shape, number), *pose);
    if (scratch.mover.IsAccepted()) return &scratch.mover;
    check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
    return nullptr;
  };
  return OverlapBatch(world, polygons.scope, options, out, meter)
      .Run(polygons.size(), Surface::kStraight, read);
}

}  // namespace carom
