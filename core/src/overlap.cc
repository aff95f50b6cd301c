// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/overlap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "exact.h"
#include "indexed_polygon.h"
#include "scene_traversal.h"

namespace carom {
namespace {

// One polygon that an item touches.
struct Row {
  uint64_t id;
  bool touching = false;
  std::vector<EdgeRef> edges = {};
};

// Ends an item's answer: rows by ascending id. Returns false once the meter stops.
bool AppendRows(size_t item, std::vector<Row>& rows, bool circles, const OverlapOptions& options,
                OverlapAnswers& out, WorkMeter& meter) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  for (const Row& row : rows) {
    out.polygon_ids.push_back(row.id);
    if (circles) out.touching.push_back(row.touching ? 1 : 0);
    if (options.detail == OverlapDetail::kEdges) {
      out.edge_counts.push_back(static_cast<uint32_t>(row.edges.size()));
      out.edges.insert(out.edges.end(), row.edges.begin(), row.edges.end());
    }
  }
  out.counts[item] = static_cast<uint32_t>(rows.size());
  return !meter.stopped();
}

// Whether a box may come within the radius of the centre: false only if it does not. The squared
// distance is within 5u of exact and the squared radius within u.
bool MayReach(const Box& box, const Circle& circle) {
  const Vec2 c = circle.center;
  const double dx = std::max(0.0, std::max(box.min.x - c.x, c.x - box.max.x));
  const double dy = std::max(0.0, std::max(box.min.y - c.y, c.y - box.max.y));
  return (dx * dx + dy * dy) * (1 - 8 * internal::kUnit) <= circle.radius * circle.radius;
}

// The row of one polygon, if the disc meets it: an edge is within the radius, or the centre is
// filled. The distance is the radius exactly if no edge is nearer and the centre is outside.
std::optional<Row> OverlapCircle(const IndexedPolygon& indexed, const Circle& circle,
                                 OverlapDetail detail, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  Row row{polygon.id()};
  bool meets_edge = false;
  bool nearer = false;
  indexed.VisitEdges(
      meter, [&](const Box& box) { return MayReach(box, circle); },
      [&](size_t index, const Segment& edge) {
        const int order = CompareDistance(edge, circle);
        if (order > 0) return true;
        meets_edge = true;
        nearer = nearer || order < 0;
        if (detail == OverlapDetail::kEdges) {
          row.edges.push_back(polygon.edge_ref(index));
          if (!meter.SpendRows(1)) return false;
        }
        return !nearer || detail == OverlapDetail::kEdges;
      });
  if (nearer) return row;
  const Location centre = internal::LocateInPolygon(indexed, circle.center, meter).location;
  if (!meets_edge && centre == Location::kOutside) return std::nullopt;
  row.touching = circle.radius == 0 || centre == Location::kOutside;
  return row;
}

// A moving polygon against one polygon of the scene. Where no edges meet, every ring of either lies
// in one face of the other, so one vertex a ring decides.
class PolygonPair {
 public:
  PolygonPair(const IndexedPolygon& fixed, const IndexedPolygon& moving, WorkMeter& meter)
      : fixed_(fixed), moving_(moving), meter_(meter) {}

  bool Overlap() {
    bool meet = false;
    VisitNearEdges([&](size_t, const Segment& edge) {
      meet = MeetsMovingEdge(edge);
      return !meet;
    });
    return meet || HoldsRing(fixed_, moving_.polygon()) || HoldsRing(moving_, fixed_.polygon());
  }

  // The fixed edges that share a point with the moving polygon.
  std::vector<EdgeRef> Edges() {
    std::vector<EdgeRef> edges;
    VisitNearEdges([&](size_t index, const Segment& edge) {
      if (MeetsMovingEdge(edge) || Holds(moving_, edge.a)) {
        edges.push_back(fixed_.polygon().edge_ref(index));
        return meter_.SpendRows(1);
      }
      return !meter_.stopped();
    });
    return edges;
  }

 private:
  template <class Visit>
  void VisitNearEdges(const Visit& visit) {
    const Box& reach = moving_.polygon().bounds();
    fixed_.VisitEdges(
        meter_, [&](const Box& box) { return reach.Intersects(box); }, visit);
  }

  bool MeetsMovingEdge(const Segment& edge) {
    const Box reach = BoundsOf(edge);
    bool meet = false;
    moving_.VisitEdges(
        meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](size_t, const Segment& other) {
          meet = Intersects(edge, other);
          return !meet;
        });
    return meet;
  }

  bool Holds(const IndexedPolygon& outer, Vec2 p) {
    return internal::LocateInPolygon(outer, p, meter_).location != Location::kOutside;
  }

  bool HoldsRing(const IndexedPolygon& outer, const Polygon& inner) {
    for (size_t ring = 0; ring < inner.ring_count(); ++ring) {
      if (!meter_.Spend(1)) return false;
      if (Holds(outer, inner.ring(ring).front())) return true;
    }
    return false;
  }

  const IndexedPolygon& fixed_;
  const IndexedPolygon& moving_;
  WorkMeter& meter_;
};

// The pose of item i, or nothing and an error recorded.
std::optional<Pose> PoseOf(const PolygonColumns& columns, size_t i, ItemChecker& check) {
  Pose pose;
  if (!check.Coordinate(ItemColumn::kX, columns.x[i]) ||
      !check.Coordinate(ItemColumn::kY, columns.y[i])) {
    return std::nullopt;
  }
  pose.position = Normalized(Vec2{columns.x[i], columns.y[i]});
  if (!columns.angle.empty()) {
    const double angle = columns.angle[i];
    if (!(std::abs(angle) <= kMaxAngle)) {
      check.Fail(ItemColumn::kAngle, ItemFault::kAngleOutOfRange);
      return std::nullopt;
    }
    const CosSin rotation = SinCos(angle);
    pose.c = rotation.c;
    pose.s = rotation.s;
  } else if (!columns.c.empty()) {
    if (!IsRotation(columns.c[i], columns.s[i])) {
      check.Fail(ItemColumn::kC, ItemFault::kNotARotation);
      return std::nullopt;
    }
    pose.c = columns.c[i];
    pose.s = columns.s[i];
  }
  return pose;
}

// The placed shape of item i, or nothing and an error recorded.
std::optional<Polygon> PlacedItem(const PolygonColumns& columns, size_t i, ItemChecker& check) {
  const size_t shape = columns.shape.empty() ? i : columns.shape[i];
  if (shape >= columns.shapes.size()) {
    check.Fail(ItemColumn::kShape, ItemFault::kUnknownShape);
    return std::nullopt;
  }
  const std::optional<Pose> pose = PoseOf(columns, i, check);
  if (!pose) return std::nullopt;
  absl::StatusOr<Polygon> placed = PlacedPolygon(columns.shapes[shape], *pose);
  if (!placed.ok()) {
    check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
    return std::nullopt;
  }
  return *std::move(placed);
}

}  // namespace

void OverlapAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  touching.clear();
  edge_counts.clear();
  edges.clear();
  errors.clear();
}

bool OverlapCircles(const Scene& scene, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(circles.size(), 0);
  std::vector<Row> rows;
  for (size_t i = 0; i < circles.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kX, circles.x[i]) ||
        !check.Coordinate(ItemColumn::kY, circles.y[i]) || !check.Radius(circles.radius[i])) {
      continue;
    }
    const Circle circle{Normalized(Vec2{circles.x[i], circles.y[i]}),
                        Normalized(circles.radius[i])};
    rows.clear();
    internal::VisitPolygons(
        scene, options.mask, meter, [&](const Box& box) { return MayReach(box, circle); },
        [&](const IndexedPolygon& indexed) {
          std::optional<Row> row = OverlapCircle(indexed, circle, options.detail, meter);
          if (!row) return !meter.stopped();
          rows.push_back(*std::move(row));
          return meter.SpendRows(1);
        });
    if (!AppendRows(i, rows, /*circles=*/true, options, out, meter)) return false;
  }
  return true;
}

bool OverlapPolygons(const Scene& scene, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(polygons.size(), 0);
  std::vector<Row> rows;
  for (size_t i = 0; i < polygons.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    std::optional<Polygon> placed = PlacedItem(polygons, i, check);
    if (!placed) continue;
    const IndexedPolygon moving(*std::move(placed));
    if (!meter.Spend(moving.polygon().edge_count())) return false;
    const Box& reach = moving.polygon().bounds();
    rows.clear();
    internal::VisitPolygons(
        scene, options.mask, meter, [&](const Box& box) { return reach.Intersects(box); },
        [&](const IndexedPolygon& fixed) {
          PolygonPair pair(fixed, moving, meter);
          if (pair.Overlap()) {
            if (!meter.SpendRows(1)) return false;
            rows.push_back({fixed.polygon().id()});
            if (options.detail == OverlapDetail::kEdges) rows.back().edges = pair.Edges();
          }
          return !meter.stopped();
        });
    if (!AppendRows(i, rows, /*circles=*/false, options, out, meter)) return false;
  }
  return true;
}

}  // namespace carom
