// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/overlap_query.h"

#include <algorithm>

#include "carom/predicates.h"
#include "index/scene_traversal.h"
#include "numeric/box_distance.h"
#include "proximity/polygon_pair.h"
#include "shape/approach.h"

namespace carom::internal {
namespace {

// The functions below let `OverlapRound` treat circles and capsules alike, as all points within a
// radius of a core (the center or the axis): `CorePoint` returns a point of the core, and
// `MayReach` whether a box may come within the radius.
Vec2 CorePoint(const Circle& circle) { return circle.center; }
Vec2 CorePoint(const Capsule& capsule) { return capsule.axis.a; }

// Returns false only if no point of `box` is within the radius of a point of `core`, the bounding
// box of a circle's centre or of a capsule's axis. The rounded square of the radius has a relative
// error of at most 2^-53, which the margin of the lower bound `LowerDistance2` covers.
bool MayReach(const Box& box, const Box& core, double radius) {
  return LowerDistance2(box, core) <= radius * radius;
}
bool MayReach(const Box& box, const Circle& circle) {
  return MayReach(box, {circle.center, circle.center}, circle.radius);
}
bool MayReach(const Box& box, const Capsule& capsule) {
  return MayReach(box, BoundsOf(capsule.axis), capsule.radius);
}

// Returns whether the polygon overlaps a round shape (all points within a radius of a core):
// whether an edge is within the radius of the core, or the polygon contains the core. The shapes
// only touch if no edge is nearer than the radius and the core is outside of the polygon. If no
// edge is nearer than the radius and the radius is not 0, no edge meets the core, so the location
// of one point of the core decides.
template <class Round>
PairOverlap OverlapRound(const IndexedPolygon& fixed, const Round& shape,
                         std::vector<EdgeRef>* edges, WorkMeter& meter) {
  bool meets_edge = false;
  bool nearer = false;
  fixed.VisitEdges(
      meter, [&](const Box& box) { return MayReach(box, shape); },
      [&](size_t index, const Segment& edge) {
        const int order = CompareDistance(edge, shape);
        if (order > 0) return true;
        meets_edge = true;
        nearer = nearer || order < 0;
        if (edges == nullptr) return !nearer;
        edges->push_back(fixed.polygon().edge_ref(index));
        return meter.SpendRows(1);
      });
  if (nearer) return {true, false};
  bool touching = shape.radius == 0;
  if (!meets_edge || !touching) {
    const Location core = LocateInPolygon(fixed, CorePoint(shape), meter).location;
    if (!meets_edge && core == Location::kOutside) return {};
    touching = touching || core == Location::kOutside;
  }
  return {true, touching};
}

}  // namespace

PairOverlap Overlap(const IndexedPolygon& fixed, const Circle& circle, std::vector<EdgeRef>* edges,
                    WorkMeter& meter) {
  return OverlapRound(fixed, circle, edges, meter);
}

PairOverlap Overlap(const IndexedPolygon& fixed, const Capsule& capsule,
                    std::vector<EdgeRef>* edges, WorkMeter& meter) {
  return OverlapRound(fixed, capsule, edges, meter);
}

// Returns whether an edge meets the solid box, or the polygon contains the box. If no edge meets
// the box, the whole box is inside or outside of the polygon, so one corner decides.
PairOverlap Overlap(const IndexedPolygon& fixed, const Box& box, std::vector<EdgeRef>* edges,
                    WorkMeter& meter) {
  bool meets_edge = false;
  fixed.VisitEdges(meter, MeetsBox{box}, [&](size_t index, const Segment& edge) {
    if (!Intersects(edge, box)) return true;
    meets_edge = true;
    if (edges == nullptr) return false;
    edges->push_back(fixed.polygon().edge_ref(index));
    return meter.SpendRows(1);
  });
  return {meets_edge || LocateInPolygon(fixed, box.min, meter).location != Location::kOutside};
}

PairOverlap Overlap(const IndexedPolygon& fixed, MovingShape& mover, std::vector<EdgeRef>* edges,
                    WorkMeter& meter) {
  if (const Capsule* const capsule = mover.capsule()) {
    return OverlapRound(fixed, *capsule, edges, meter);
  }
  PolygonPair pair(fixed, mover, meter);
  if (!pair.Overlap()) return {};
  if (edges != nullptr) pair.AppendEdges(*edges);
  return {true};
}

namespace {

// Return the overlap of a shape with a round body, a capsule (a body is a placed shape that exists
// for one group of queries). A round body has no edges to report.
PairOverlap OverlapRoundBody(const Capsule& body, const Capsule& capsule) {
  const int order = CompareSegments(body.axis, capsule.axis, {body.radius, capsule.radius, 0});
  return {order <= 0, capsule.radius == 0 ? order <= 0 : order == 0};
}
PairOverlap OverlapRoundBody(const Capsule& body, const Circle& circle) {
  return OverlapRoundBody(body, Capsule{{circle.center, circle.center}, circle.radius});
}
PairOverlap OverlapRoundBody(const Capsule& body, const Box& box) {
  const Vec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
  if (box.Contains(body.axis.a)) return {true};
  for (size_t i = 0; i < 4; ++i) {
    if (CompareDistance(Segment{corners[i], corners[(i + 1) % 4]}, body) <= 0) return {true};
  }
  return {};
}

template <class Shape>
PairOverlap OverlapBody(Body& body, Shape& shape, std::vector<EdgeRef>* edges, WorkMeter& meter) {
  if (!body.is_round()) return Overlap(body.core(), shape, edges, meter);
  meter.Spend(4);
  return OverlapRoundBody(body.capsule(), shape);
}
// Returns the overlap of a body (a placed shape beside the scene) with a mover (the shape of the
// query) that is a polygon: `OverlapQuery::Run` passes a mover that is a capsule as a `Capsule`.
PairOverlap OverlapBody(Body& body, MovingShape& mover, std::vector<EdgeRef>* edges,
                        WorkMeter& meter) {
  if (!body.is_round()) return Overlap(body.core(), mover, edges, meter);
  return {OverlapRound(mover.polygon(), body.capsule(), nullptr, meter).overlaps};
}

}  // namespace

template <class Meets, class Shape>
void OverlapQuery::Find(const Meets& meets, Shape& shape) {
  // Rows are added in the order in which the index finds polygons, with the edges of all rows in
  // one vector. Sorting moves only the rows, and each row keeps the range of its edges.
  std::vector<OverlapRow>& rows = found_.rows;
  std::vector<EdgeRef>& edges = found_.edges;
  rows.clear();
  edges.clear();
  std::vector<EdgeRef>* const wanted = options_.detail == OverlapDetail::kEdges ? &edges : nullptr;
  const auto add = [&](bool is_body, uint64_t id, const auto& overlap) {
    const size_t first_edge = edges.size();
    const PairOverlap pair = overlap();
    if (!pair.overlaps) return !meter_.stopped();
    rows.push_back({is_body, id, pair.touching, first_edge, edges.size() - first_edge});
    return meter_.SpendRows(1);
  };
  if (query_filter_.scene) {
    VisitPolygons(world_.scene, query_filter_.mask, meter_, meets,
                  [&](const IndexedPolygon& fixed) {
                    return add(false, fixed.polygon().id(),
                               [&] { return Overlap(fixed, shape, wanted, meter_); });
                  });
  }
  VisitBodies(world_, query_filter_, meter_, meets, [&](Body& body) {
    return add(true, body.index(), [&] { return OverlapBody(body, shape, wanted, meter_); });
  });
  std::sort(rows.begin(), rows.end(), [](const OverlapRow& a, const OverlapRow& b) {
    return a.is_body != b.is_body ? b.is_body : a.id < b.id;
  });
}

void OverlapQuery::Run(const Circle& circle) {
  Find([&](const Box& box) { return MayReach(box, circle); }, circle);
}

void OverlapQuery::Run(const Capsule& capsule) {
  Find([&](const Box& box) { return MayReach(box, capsule); }, capsule);
}

void OverlapQuery::Run(const Box& box) { Find(MeetsBox{box}, box); }

void OverlapQuery::Run(MovingShape& mover) {
  if (const Capsule* const capsule = mover.capsule()) return Run(*capsule);
  Find(MeetsBox{mover.bounds()}, mover);
}

}  // namespace carom::internal
