// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/cold_query.h"

#include "shape/meets_box.h"

namespace carom::internal {

void ColdQuery::Run(const Scene& scene, OverlapDetail detail, PosedShape& posed, Touched& touched,
                    WorkMeter& meter) {
  const TrackedShape& shape = posed.shape();
  if (!meter.Spend(1 + shape.shape.vertex_count())) return;
  if (posed.has_within()) {
    MovingShape* const whole = posed.Whole();
    if (whole == nullptr) return;
    const DistanceOptions options{DistanceMode::kWithin, shape.options.mask};
    DistanceQuery query(scene, options, measured_, meter);
    if (!query.Run(whole->View(), shape.options.within)) return;
    TakeMeasured(detail, posed, touched, meter);
    return;
  }
  // Most shapes touch nothing. The overlap query finds this without placing (computing at the pose)
  // all vertices of the shape, which `posed.Whole()` would place.
  mover_.MoveTo(shape.shape, posed.pose());
  OverlapQuery(scene, {detail, shape.options.mask}, overlaps_, meter).Run(mover_);
  TakeOverlaps(touched);
}

void ColdQuery::TakeOverlaps(Touched& touched) const {
  for (const OverlapRow& row : overlaps_.rows) {
    const std::span<const EdgeRef> edges = overlaps_.EdgesOf(row);
    touched.polygons.push_back({row.id, static_cast<uint32_t>(edges.size())});
    touched.edges.insert(touched.edges.end(), edges.begin(), edges.end());
  }
}

// The distance query has found the polygons within the distance `within` of the shape (the option
// up to which the tracker counts polygons as touched), but not which of their edges are that near.
// So under OverlapDetail::kEdges this function tests the edges of each polygon exactly. It skips
// edges outside the square of half-width `bounding_radius` about the position: every point within
// `within` of the shape is nearer to the position than `bounding_radius`.
void ColdQuery::TakeMeasured(OverlapDetail detail, PosedShape& posed, Touched& touched,
                             WorkMeter& meter) const {
  const Vec2 p = posed.position();
  const double r = posed.bounding_radius();
  const MeetsBox in_reach{{{p.x - r, p.y - r}, {p.x + r, p.y + r}}};
  for (const MeasuredPolygon& found : measured_) {
    const Polygon& polygon = found.fixed->polygon();
    touched.polygons.push_back({polygon.id(), 0});
    if (detail == OverlapDetail::kIds) continue;
    const size_t before = touched.edges.size();
    for (size_t i = 0; i < polygon.edge_count(); ++i) {
      const Segment edge = polygon.edge(i);
      if (!meter.Spend(1)) return;
      if (!in_reach(BoundsOf(edge)) || !posed.Meets(edge)) continue;
      touched.edges.push_back(polygon.edge_ref(i));
      if (!meter.SpendRows(1)) return;
    }
    touched.polygons.back().edge_count = static_cast<uint32_t>(touched.edges.size() - before);
  }
}

}  // namespace carom::internal
