// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/distance.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_scratch.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "proximity/body_distances.h"
#include "proximity/closest.h"
#include "proximity/distance_key.h"
#include "proximity/distance_query.h"
#include "proximity/nearest_points.h"
#include "shape/approach.h"

namespace carom {
namespace {

using internal::Closest;
using internal::DistanceQuery;
using internal::LengthSum;
using internal::MeasuredBody;
using internal::MeasuredPolygon;
using internal::MovingShape;
using internal::PlacedShape;

Vec2 Opposite(Vec2 v) { return {-v.x, -v.y}; }

// Returns a point that two overlapping shapes a and b share, where their cores (the shapes without
// their radii) are apart and nearest at `core_a` and `core_b`, and `towards_b` is the unit
// direction from `core_a` to `core_b`. The point is `core_b` if it is within the radius of a, else
// the nearest point of a's surface.
Vec2 SharedPoint(const Closest& closest, Vec2 core_a, Vec2 core_b, Vec2 towards_b,
                 double radius_a) {
  if (Compare(*closest.approach, LengthSum{radius_a, 0, 0}) <= 0) return core_b;
  return radius_a == 0 ? core_a : internal::Along(core_a, towards_b, radius_a);
}

Separation SeparationOfApart(const PlacedShape& a, const PlacedShape& b, const Closest& closest) {
  const internal::Approach& approach = *closest.approach;
  const Vec2 foot = internal::NearestPoint(approach);
  const Vec2 core_a = closest.vertex_is_of_a ? approach.vertex : foot;
  const Vec2 core_b = closest.vertex_is_of_a ? foot : approach.vertex;
  if (a.radius() == 0 && b.radius() == 0) {
    return {internal::Clearance(approach, 0, 0), core_a, core_b};
  }
  const Vec2 to_vertex = internal::UnitDirection(approach);
  const Vec2 towards_b = closest.vertex_is_of_a ? Opposite(to_vertex) : to_vertex;
  if (Compare(approach, LengthSum{a.radius(), b.radius(), 0}) <= 0) {
    const Vec2 shared = SharedPoint(closest, core_a, core_b, towards_b, a.radius());
    return {0, shared, shared};
  }
  return {internal::Clearance(approach, a.radius(), b.radius()),
          internal::Along(core_a, towards_b, a.radius()),
          internal::Along(core_b, Opposite(towards_b), b.radius())};
}

Separation SeparationOf(const PlacedShape& a, const PlacedShape& b, const Closest& closest) {
  Vec2 shared;
  switch (closest.kind) {
    case Closest::Kind::kApart:
      return SeparationOfApart(a, b, closest);
    case Closest::Kind::kCrossing:
      shared = internal::CommonPoint(b.edge(closest.edge_b), a.edge(closest.edge_a));
      break;
    case Closest::Kind::kBInA:
      shared = b.ring_start(closest.ring);
      break;
    case Closest::Kind::kAInB:
      shared = a.ring_start(closest.ring);
      break;
  }
  return {0, shared, shared};
}

DistanceRow RowOf(const PlacedShape& fixed, const PlacedShape& mover, const Closest& closest) {
  const Separation separation = SeparationOf(fixed, mover, closest);
  DistanceRow row;
  row.distance = separation.distance;
  row.point = separation.point_a;
  row.mover_point = separation.point_b;
  row.has_edge = closest.kind != Closest::Kind::kBInA;
  if (closest.kind == Closest::Kind::kAInB) {
    row.edge = {static_cast<uint32_t>(closest.ring), 0};
  } else if (row.has_edge) {
    row.edge = fixed.polygon()->polygon().edge_ref(closest.edge_a);
  }
  return row;
}

// The working memory of a batch of movers (the shapes of the queries), which the thread keeps for
// later batches if it is small.
struct DistanceScratch {
  static constexpr size_t kMaxCachedItems = 16384;

  bool IsWorthCaching() const {
    return near.capacity() + bodies.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  MovingShape mover;
  std::vector<MeasuredPolygon> near;
  std::vector<MeasuredBody> bodies;
  bool considers_bodies = false;  // whether the item considers bodies
  size_t largest = 0;             // number of vertices of the largest mover of the batch
};

// Append the id and the answer row of one polygon or body (a placed shape beside the scene) found
// for an item. Return false once the meter stops.
bool AppendRow(const PlacedShape& mover, const MeasuredPolygon& polygon, DistanceMode mode,
               DistanceAnswers& out, WorkMeter& meter) {
  if (!meter.Spend(8)) return false;
  out.polygon_ids.push_back(polygon.fixed->polygon().id());
  if (mode == DistanceMode::kWithin) return true;
  out.rows.push_back(RowOf(PlacedShape(*polygon.fixed), mover, polygon.closest));
  return true;
}
bool AppendRow(const PlacedShape& mover, const MeasuredBody& body, DistanceMode mode,
               DistanceAnswers& out, WorkMeter& meter) {
  if (!meter.Spend(8)) return false;
  out.polygon_ids.push_back(body.body->index());
  if (mode == DistanceMode::kWithin) return true;
  DistanceRow row = RowOf(body.body->view(), mover, body.closest);
  if (body.body->is_round()) row.edge = {}, row.has_edge = false;
  out.rows.push_back(row);
  return true;
}

// Appends the ids and answer rows of the polygons and bodies (placed shapes beside the scene) found
// for an item (one shape of the batch). Returns false once the meter stops.
bool AppendRows(const PlacedShape& mover, const DistanceScratch& found, DistanceMode mode,
                DistanceAnswers& out, WorkMeter& meter) {
  const auto append = [&](const auto& measured) {
    return AppendRow(mover, measured, mode, out, meter);
  };
  return std::ranges::all_of(found.near, append) && std::ranges::all_of(found.bodies, append);
}

// Appends the rows of an item under the mode NEAREST_K: the first `k` of the polygons and bodies
// found, both sorted nearest first. Returns the number of rows; the result is meaningless once the
// meter has stopped.
size_t AppendNearest(const PlacedShape& mover, const DistanceScratch& found, size_t k,
                     DistanceAnswers& out, WorkMeter& meter) {
  constexpr DistanceMode kMode = DistanceMode::kNearestK;
  const size_t count = std::min(k, found.near.size() + found.bodies.size());
  if (!meter.SpendRows(count)) return 0;
  auto polygon = found.near.begin();
  auto body = found.bodies.begin();
  for (size_t rank = 0; rank < count && !meter.stopped(); ++rank) {
    const bool takes_polygon =
        body == found.bodies.end() ||
        (polygon != found.near.end() && IsNearer(*polygon, *body, mover.radius()));
    if (takes_polygon) {
      AppendRow(mover, *polygon++, kMode, out, meter);
    } else {
      AppendRow(mover, *body++, kMode, out, meter);
    }
    if (found.considers_bodies) out.is_body.push_back(takes_polygon ? 0 : 1);
  }
  return count;
}

// Appends to the column `is_body` an entry for each polygon (0) and each body (1) found for an
// item, one shape of the batch, that considers bodies (placed shapes beside the scene).
void AppendIsBody(const DistanceScratch& found, std::vector<uint8_t>& is_body) {
  is_body.insert(is_body.end(), found.near.size(), 0);
  is_body.insert(is_body.end(), found.bodies.size(), 1);
}

}  // namespace

void DistanceAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  is_body.clear();
  rows.clear();
  errors.clear();
}

Separation Distance(const Shape& a, const Shape& b) {
  MovingShape shape_a(a);
  MovingShape shape_b(b);
  const PlacedShape view_a = shape_a.View();
  const PlacedShape view_b = shape_b.View();
  WorkMeter meter;
  const LengthSum enough{view_a.radius(), view_b.radius(), 0};
  const std::optional<Closest> closest =
      internal::FindClosest(view_a, view_b, {enough, HUGE_VAL}, meter);
  return closest ? SeparationOf(view_a, view_b, *closest) : Separation{};
}

bool IsWithin(const Shape& a, const Shape& b, double distance) {
  if (!(distance >= 0)) return false;
  MovingShape shape_a(a);
  MovingShape shape_b(b);
  WorkMeter meter;
  return internal::IsWithin(shape_a.View(), shape_b.View(), distance, meter);
}

// Answers an item whose shape is a single point on a fast path (`NearestPoints`), if the batch
// considers only the scene. Measures each other item by itself: first the polygons of the scene,
// then the bodies (placed shapes beside the scene), whose distances are compared with those of the
// polygons found.
bool MeasureDistances(const World& world, const DistanceColumns& columns,
                      const DistanceOptions& options, DistanceAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  internal::ThreadScratch<DistanceScratch> scratch;
  MovingShape& mover = scratch->mover;
  scratch->bodies.clear();
  const Scope& scope = columns.movers.scope;
  DistanceQuery query(world.scene, options, scratch->near, meter);
  internal::BodyDistances bodies(world, options, scratch->near, scratch->bodies, meter);
  const auto measure = [&](size_t i, ItemChecker& check) {
    const double max_distance = columns.max_distance.empty() ? HUGE_VAL : columns.max_distance[i];
    if (!(max_distance >= 0)) {
      check.Fail(ItemColumn::kMaxDistance, ItemFault::kNegativeLength);
      return true;
    }
    scratch->largest = std::max(scratch->largest, mover.vertex_count());
    if (!meter.Spend(mover.vertex_count())) return false;
    const PlacedShape view = mover.View();
    const auto query_filter = internal::QueryFilter::Of(scope, i, options.mask);
    scratch->near.clear();
    query.SetMask(query_filter.mask);
    if (query_filter.scene && !query.Run(view, max_distance)) return false;
    // `bodies` compares with the polygons in `near`, so it runs after `query`.
    if (query_filter.bodies && !bodies.Run(view, max_distance, query_filter)) return false;
    scratch->considers_bodies = query_filter.bodies;
    if (options.mode == DistanceMode::kNearestK) {
      const size_t rows = AppendNearest(view, *scratch, options.k, out, meter);
      out.counts[i] = static_cast<uint32_t>(rows);
      return !meter.stopped();
    }
    if (query_filter.bodies) AppendIsBody(*scratch, out.is_body);
    out.counts[i] = static_cast<uint32_t>(scratch->near.size() + scratch->bodies.size());
    return AppendRows(view, *scratch, options.mode, out, meter);
  };
  internal::NearestPoints points(world.scene, columns, options, out, meter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    if (!internal::IsUniform(scope) || !points.Answer(i)) {
      ItemChecker check(i, out.errors);
      const bool is_placed = internal::PlaceItem(columns.movers, i, check, meter, mover);
      if (is_placed && !measure(i, check)) return false;
    }
    if (meter.stopped()) return false;
  }
  points.Finish();
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

}  // namespace carom
