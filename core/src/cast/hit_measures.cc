// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/hit_measures.h"

#include "shape/measures.h"

namespace carom::internal {
namespace {

// Returns the unit normal of `edge` for which (normal . direction of the line) has the sign
// `towards`; zero if the edge is absent or parallel to the line.
Vec2 NormalOf(const Line& line, const Polygon& polygon, const PassageEdge& edge, int towards) {
  if (edge.index == kNoEdge || edge.parallel) return {};
  const Segment e = polygon.edge(edge.index);
  return UnitNormal(e, line.Cross(e) > 0 ? -towards : towards);
}

// Returns what the line meets at a hit, the first of these that applies: no edge (kNone), an edge
// parallel to the line (kCollinear), an end of the edge (kVertex), or a point between the ends of
// the edge (kEdge).
Feature FeatureOf(const Line& line, const Polygon& polygon, const PassageEdge& edge) {
  if (edge.index == kNoEdge) return Feature::kNone;
  if (edge.parallel) return Feature::kCollinear;
  if (edge.at.is_vertex()) return Feature::kVertex;
  if (!edge.at.is_start() && !edge.at.is_end()) return Feature::kEdge;
  // The line meets the edge in one point, which is an end of the edge if that end is on the line.
  const Segment e = polygon.edge(edge.index);
  return line.Side(e.a) == 0 || line.Side(e.b) == 0 ? Feature::kVertex : Feature::kEdge;
}

}  // namespace

// Sets the members of `hit` that the level of detail `report.detail` and all lower levels require.
// Other members keep their default values.
void MeasureHit(const Line& line, const Polygon& polygon, const Passage& passage,
                const HitReport& report, CastHit& hit) {
  const auto [at_exit, detail] = report;
  const PassageEdge& reported = at_exit ? passage.exit : passage.entry;
  const Fraction& fraction = at_exit ? passage.end : passage.begin;
  hit.polygon_id = polygon.id();
  hit.starts_inside = passage.begin.is_start();
  hit.ends_inside = passage.end.is_end() || line.is_point();
  hit.fraction = fraction.Rounded(line);
  if (detail >= CastDetail::kNormal) {
    // The reported edge defines the point, so that the point does not depend on the other edges
    // that meet the line at this fraction.
    const bool has_edge = reported.index != kNoEdge;
    hit.point = (has_edge ? reported.at : fraction).Point(line, hit.fraction);
    if (at_exit) {
      if (!hit.ends_inside) hit.normal = NormalOf(line, polygon, reported, 1);
    } else if (!hit.starts_inside) {
      hit.normal = NormalOf(line, polygon, reported, -1);
    }
  }
  if (detail >= CastDetail::kEdge) {
    hit.feature = FeatureOf(line, polygon, reported);
    if (hit.feature != Feature::kNone) hit.edge = polygon.edge_ref(reported.index);
  }
  if (detail < CastDetail::kExit) return;
  hit.exit_fraction = at_exit ? hit.fraction : passage.end.Rounded(line);
  if (passage.exit.index == kNoEdge) return;
  hit.has_exit_edge = true;
  hit.exit_edge = polygon.edge_ref(passage.exit.index);
  if (!hit.ends_inside) hit.exit_normal = NormalOf(line, polygon, passage.exit, 1);
}

}  // namespace carom::internal
