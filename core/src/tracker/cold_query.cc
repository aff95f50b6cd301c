// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/cold_query.h"

#include "shape/meets_box.h"

namespace carom::internal {

void ColdQuery::Run(const Scene& scene, OverlapDetail detail, PosedShape& posed, Touched& touched,
                    WorkMeter& meter) {
  if (posed.has_within()) {
    if (Measure(scene, posed, meter)) TakeDistances(scene, detail, posed, touched, meter);
  } else if (Overlap(scene, {detail, posed.shape().options.mask}, posed, meter)) {
    TakeOverlaps(touched);
  }
}

bool ColdQuery::Overlap(const Scene& scene, const OverlapOptions& options, const PosedShape& posed,
                        WorkMeter& meter) {
  const Pose& pose = posed.pose();
  const Vec2& p = pose.position;
  if (const Polygon* polygon = posed.shape().shape.polygon()) {
    const PolygonColumns columns{{polygon, 1}, {},           {&p.x, 1}, {&p.y, 1},
                                 {&pose.c, 1}, {&pose.s, 1}, {}};
    return OverlapPolygons(scene, columns, options, overlaps_, meter);
  }
  const Capsule capsule = posed.PlacedCapsule();
  const auto& [a, b] = capsule.axis;
  return OverlapCapsules(scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}, {&capsule.radius, 1}},
                         options, overlaps_, meter);
}

bool ColdQuery::Measure(const Scene& scene, const PosedShape& posed, WorkMeter& meter) {
  const Pose& pose = posed.pose();
  const Vec2& p = pose.position;
  const TrackedShape& shape = posed.shape();
  const DistanceColumns columns{
      {{&shape.shape, 1}, {}, {&p.x, 1}, {&p.y, 1}, {&pose.c, 1}, {&pose.s, 1}, {}},
      {&shape.options.within, 1}};
  return MeasureDistances(scene, columns, {DistanceMode::kWithin, shape.options.mask}, distances_,
                          meter);
}

void ColdQuery::TakeOverlaps(Touched& touched) const {
  for (size_t k = 0; k < overlaps_.polygon_ids.size(); ++k) {
    const uint32_t edges = overlaps_.edge_counts.empty() ? 0 : overlaps_.edge_counts[k];
    touched.polygons.push_back({overlaps_.polygon_ids[k], edges});
  }
  touched.edges = overlaps_.edges;
}

// Distances name polygons alone, so under EDGES all edges of each are tested: those in the box of
// the bounding radius, which has `within` in it, exactly.
void ColdQuery::TakeDistances(const Scene& scene, OverlapDetail detail, PosedShape& posed,
                              Touched& touched, WorkMeter& meter) const {
  const Vec2 p = posed.pose().position;
  const double r = posed.bounding_radius();
  const MeetsBox in_reach{{{p.x - r, p.y - r}, {p.x + r, p.y + r}}};
  for (const uint64_t id : distances_.polygon_ids) {
    touched.polygons.push_back({id, 0});
    if (detail == OverlapDetail::kIds) continue;
    const Polygon& polygon = *scene.Find(id);
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
