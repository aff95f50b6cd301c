// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/locate.h"

#include <algorithm>

#include "base/thread_scratch.h"
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
  locations.clear();
  errors.clear();
}

namespace {

constexpr size_t kMaxCachedItems = 16384;

struct Row {
  uint64_t id;
  Location location;
};

}  // namespace

// The index visits polygons in no particular order, so the rows of an item are sorted by id.
bool LocatePoints(const Scene& scene, const PointColumns& points, uint64_t mask, LocateAnswers& out,
                  WorkMeter& meter) {
  out.Clear();
  out.counts.assign(points.size(), 0);
  internal::ThreadScratch<std::vector<Row>> kept;
  std::vector<Row>& rows = *kept;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kX, points.x[i]) ||
        !check.Coordinate(ItemColumn::kY, points.y[i])) {
      continue;
    }
    const Vec2 p = Normalized(Vec2{points.x[i], points.y[i]});
    rows.clear();
    internal::VisitPolygons(
        scene, mask, meter, internal::MeetsBox{{p, p}}, [&](const IndexedPolygon& indexed) {
          const Location location = internal::LocateInPolygon(indexed, p, meter).location;
          if (location != Location::kOutside) {
            rows.push_back({indexed.polygon().id(), location});
            return meter.SpendRows(1);
          }
          return !meter.stopped();
        });
    if (meter.stopped()) return false;
    if (rows.size() > 1) {
      std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
    }
    for (const Row& row : rows) {
      out.polygon_ids.push_back(row.id);
      out.locations.push_back(row.location);
    }
    out.counts[i] = static_cast<uint32_t>(rows.size());
  }
  if (rows.capacity() <= kMaxCachedItems) kept.Return();
  return true;
}

}  // namespace carom
