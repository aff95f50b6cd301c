// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/locate.h"

#include <algorithm>

#include "base/thread_scratch.h"
#include "carom/predicates.h"
#include "index/body_set.h"
#include "index/indexed_polygon.h"
#include "index/point_scan.h"
#include "index/scene_traversal.h"

namespace carom {
namespace internal {

// Outside of the bounds is outside of the polygon, hollow or not. A point on an edge ends the scan:
// it is on the boundary whatever the winding number is.
PointInPolygon LocateInPolygon(const IndexedPolygon& indexed, Vec2 p, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  if (!polygon.bounds().Contains(p)) return {};
  if (indexed.edge_index()) return indexed.edge_index()->Locate(polygon, p, meter);
  if (!meter.Spend(polygon.edge_count())) return {};
  PointScan scan(p);
  for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
    if (!scan.AddRing(polygon.ring(ring), polygon.is_open(ring))) return {Location::kBoundary, 0};
  }
  return PlaceOf(polygon, scan.winding());
}

}  // namespace internal

void LocateAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  is_body.clear();
  locations.clear();
  errors.clear();
}

namespace {

constexpr size_t kMaxCachedItems = 16384;

struct Row {
  bool is_body;
  uint64_t id;
  Location location;

  friend bool operator<(const Row& a, const Row& b) {
    return a.is_body != b.is_body ? b.is_body : a.id < b.id;
  }
};

// On the boundary of a round body exactly at its radius from the axis.
Location LocateInBody(internal::Body& body, Vec2 p, WorkMeter& meter) {
  if (!body.is_round()) return internal::LocateInPolygon(body.core(), p, meter).location;
  meter.Spend(1);
  const Capsule capsule = body.capsule();
  const int order = CompareDistance(capsule.axis, Circle{p, capsule.radius});
  if (order == 0) return Location::kBoundary;
  return order < 0 ? Location::kInside : Location::kOutside;
}

}  // namespace

// The index visits polygons in no particular order, so the rows of an item are sorted.
bool LocatePoints(const World& world, const PointColumns& points, uint64_t mask, LocateAnswers& out,
                  WorkMeter& meter) {
  out.Clear();
  out.counts.assign(points.size(), 0);
  internal::ThreadScratch<std::vector<Row>> kept;
  std::vector<Row>& rows = *kept;
  const bool is_plain = internal::IsPlain(points.scope);
  auto considered = internal::Considered::Scene(mask);
  for (size_t i = 0; i < points.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kX, points.x[i]) ||
        !check.Coordinate(ItemColumn::kY, points.y[i])) {
      continue;
    }
    const Vec2 p = Normalized(Vec2{points.x[i], points.y[i]});
    if (!is_plain) considered = internal::Considered::Of(points.scope, i, mask);
    rows.clear();
    const auto add = [&](const Row& row) {
      if (row.location == Location::kOutside) return !meter.stopped();
      rows.push_back(row);
      return meter.SpendRows(1);
    };
    const internal::MeetsBox meets{{p, p}};
    if (considered.scene) {
      internal::VisitPolygons(world.scene, considered.mask, meter, meets,
                              [&](const IndexedPolygon& indexed) {
                                return add({false, indexed.polygon().id(),
                                            internal::LocateInPolygon(indexed, p, meter).location});
                              });
    }
    if (!is_plain) {
      internal::VisitBodies(world, considered, meter, meets, [&](internal::Body& body) {
        return add({true, body.index(), LocateInBody(body, p, meter)});
      });
    }
    if (meter.stopped()) return false;
    if (rows.size() > 1) std::sort(rows.begin(), rows.end());
    for (const Row& row : rows) {
      out.polygon_ids.push_back(row.id);
      out.locations.push_back(row.location);
      if (points.scope.against != Against::kScene) out.is_body.push_back(row.is_body ? 1 : 0);
    }
    out.counts[i] = static_cast<uint32_t>(rows.size());
  }
  if (rows.capacity() <= kMaxCachedItems) kept.Return();
  return true;
}

}  // namespace carom
