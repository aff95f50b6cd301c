// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/overlap.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/thread_scratch.h"
#include "carom/predicates.h"
#include "carom/shape.h"
#include "index/indexed_polygon.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "numeric/exact.h"
#include "proximity/polygon_pair.h"

namespace carom {
namespace {

// One polygon that an item touches.
struct Row {
  uint64_t id;
  bool touching = false;
  size_t first_edge = 0;  // among those of the item
  size_t edge_count = 0;
};

// What batches of overlaps work with, kept while it is small.
struct Scratch {
  static constexpr size_t kMaxCachedItems = 16384;

  // Begins an item.
  void Clear() {
    rows.clear();
    edges.clear();
  }
  // Adds a row, and its edges from `first_edge` on.
  void Add(uint64_t id, bool touching, size_t first_edge) {
    rows.push_back({id, touching, first_edge, edges.size() - first_edge});
  }
  bool IsWorthCaching() const {
    return rows.capacity() + edges.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  std::vector<Row> rows;  // of one item
  std::vector<EdgeRef> edges;
  std::optional<Polygon> placed;
  size_t largest = 0;  // vertices of a mover
};

// Whether "touching" is told: circles and capsules have a radius.
enum class Surface { kRound, kStraight };

// Ends an item's answer: rows by ascending id. Returns false once the meter stops.
bool AppendRows(size_t item, Scratch& scratch, Surface surface, const OverlapOptions& options,
                OverlapAnswers& out, WorkMeter& meter) {
  std::vector<Row>& rows = scratch.rows;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  for (const Row& row : rows) {
    out.polygon_ids.push_back(row.id);
    if (surface == Surface::kRound) out.touching.push_back(row.touching ? 1 : 0);
    if (options.detail == OverlapDetail::kEdges) {
      const auto first = scratch.edges.begin() + static_cast<std::ptrdiff_t>(row.first_edge);
      out.edge_counts.push_back(static_cast<uint32_t>(row.edge_count));
      out.edges.insert(out.edges.end(), first, first + static_cast<std::ptrdiff_t>(row.edge_count));
    }
  }
  out.counts[item] = static_cast<uint32_t>(rows.size());
  return !meter.stopped();
}

// The shapes that are all points within a radius of a centre or an axis, and what is asked of them:
// a core point, whether a box may come within the radius, and the exact order of an edge's distance
// and the radius.
Vec2 CorePoint(const Circle& circle) { return circle.center; }
Vec2 CorePoint(const Capsule& capsule) { return capsule.axis.a; }

// False only if no point of `box` is within the radius of a point of `core`. The gaps are within u,
// their squared length within 5u and the squared radius within u of exact.
bool MayReach(const Box& box, const Box& core, double radius) {
  const double dx = std::max({0.0, box.min.x - core.max.x, core.min.x - box.max.x});
  const double dy = std::max({0.0, box.min.y - core.max.y, core.min.y - box.max.y});
  return (dx * dx + dy * dy) * (1 - 8 * internal::kUnit) <= radius * radius;
}
bool MayReach(const Box& box, const Circle& circle) {
  return MayReach(box, {circle.center, circle.center}, circle.radius);
}
bool MayReach(const Box& box, const Capsule& capsule) {
  return MayReach(box, BoundsOf(capsule.axis), capsule.radius);
}

// Adds the row of one polygon, if the shape meets it: an edge is within the radius, or the core is
// filled. Returns whether it does. The distance is the radius exactly if no edge is nearer and the
// core is outside. Where no edge is nearer and the radius is not 0, no edge meets the core, so one
// point of it decides.
template <class Round>
bool OverlapRound(const IndexedPolygon& indexed, const Round& shape, OverlapDetail detail,
                  Scratch& scratch, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  const size_t first_edge = scratch.edges.size();
  bool meets_edge = false;
  bool nearer = false;
  indexed.VisitEdges(
      meter, [&](const Box& box) { return MayReach(box, shape); },
      [&](size_t index, const Segment& edge) {
        const int order = CompareDistance(edge, shape);
        if (order > 0) return true;
        meets_edge = true;
        nearer = nearer || order < 0;
        if (detail == OverlapDetail::kEdges) {
          scratch.edges.push_back(polygon.edge_ref(index));
          if (!meter.SpendRows(1)) return false;
        }
        return !nearer || detail == OverlapDetail::kEdges;
      });
  bool touching = false;
  if (!nearer) {
    touching = shape.radius == 0;
    if (!meets_edge || !touching) {
      const Location core = internal::LocateInPolygon(indexed, CorePoint(shape), meter).location;
      if (!meets_edge && core == Location::kOutside) return false;
      touching = touching || core == Location::kOutside;
    }
  }
  scratch.Add(polygon.id(), touching, first_edge);
  return true;
}

// Item `i` of circles and capsules.
template <class Round>
bool OverlapRoundItem(const Scene& scene, size_t i, const Round& shape,
                      const OverlapOptions& options, Scratch& scratch, OverlapAnswers& out,
                      WorkMeter& meter) {
  scratch.Clear();
  internal::VisitPolygons(
      scene, options.mask, meter, [&](const Box& box) { return MayReach(box, shape); },
      [&](const IndexedPolygon& indexed) {
        if (!OverlapRound(indexed, shape, options.detail, scratch, meter)) return !meter.stopped();
        return meter.SpendRows(1);
      });
  return AppendRows(i, scratch, Surface::kRound, options, out, meter);
}

// Adds the row of one polygon, if the solid box meets it: an edge does, or the box, which then lies
// in one face, is filled. Returns whether it does.
bool OverlapBox(const IndexedPolygon& indexed, const Box& box, OverlapDetail detail,
                Scratch& scratch, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  const size_t first_edge = scratch.edges.size();
  bool meets_edge = false;
  indexed.VisitEdges(meter, internal::MeetsBox{box}, [&](size_t index, const Segment& edge) {
    if (!Intersects(edge, box)) return true;
    meets_edge = true;
    if (detail == OverlapDetail::kIds) return false;
    scratch.edges.push_back(polygon.edge_ref(index));
    return meter.SpendRows(1);
  });
  if (!meets_edge &&
      internal::LocateInPolygon(indexed, box.min, meter).location == Location::kOutside) {
    return false;
  }
  scratch.Add(polygon.id(), false, first_edge);
  return true;
}

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
  touching.clear();
  edge_counts.clear();
  edges.clear();
  errors.clear();
}

bool OverlapCircles(const Scene& scene, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(circles.size(), 0);
  internal::ThreadScratch<Scratch> scratch;
  for (size_t i = 0; i < circles.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kX, circles.x[i]) ||
        !check.Coordinate(ItemColumn::kY, circles.y[i]) || !check.Radius(circles.radius[i])) {
      continue;
    }
    const Circle circle{Normalized(Vec2{circles.x[i], circles.y[i]}),
                        Normalized(circles.radius[i])};
    if (!OverlapRoundItem(scene, i, circle, options, *scratch, out, meter)) return false;
  }
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

bool OverlapCapsules(const Scene& scene, const CapsuleColumns& capsules,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(capsules.size(), 0);
  internal::ThreadScratch<Scratch> scratch;
  for (size_t i = 0; i < capsules.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kAx, capsules.ax[i]) ||
        !check.Coordinate(ItemColumn::kAy, capsules.ay[i]) ||
        !check.Coordinate(ItemColumn::kBx, capsules.bx[i]) ||
        !check.Coordinate(ItemColumn::kBy, capsules.by[i]) || !check.Radius(capsules.radius[i])) {
      continue;
    }
    const Capsule capsule{{Normalized(Vec2{capsules.ax[i], capsules.ay[i]}),
                           Normalized(Vec2{capsules.bx[i], capsules.by[i]})},
                          Normalized(capsules.radius[i])};
    if (!OverlapRoundItem(scene, i, capsule, options, *scratch, out, meter)) return false;
  }
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

bool OverlapBoxes(const Scene& scene, const BoxColumns& boxes, const OverlapOptions& options,
                  OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(boxes.size(), 0);
  internal::ThreadScratch<Scratch> scratch;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    Box box;
    if (!CheckBox(boxes, i, check, box)) continue;
    scratch->Clear();
    internal::VisitPolygons(scene, options.mask, meter, internal::MeetsBox{box},
                            [&](const IndexedPolygon& indexed) {
                              if (!OverlapBox(indexed, box, options.detail, *scratch, meter))
                                return !meter.stopped();
                              return meter.SpendRows(1);
                            });
    if (!AppendRows(i, *scratch, Surface::kStraight, options, out, meter)) return false;
  }
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

bool OverlapPolygons(const Scene& scene, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(polygons.size(), 0);
  internal::ThreadScratch<Scratch> scratch;
  for (size_t i = 0; i < polygons.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const Polygon* const shape = internal::ShapeOf(polygons, i, check);
    if (shape == nullptr) continue;
    const std::optional<Pose> pose = internal::PoseOf(polygons, i, check);
    if (!pose) continue;
    if (!meter.Spend(shape->vertex_count())) return false;
    scratch->largest = std::max(scratch->largest, shape->vertex_count());
    internal::MovingPolygon moving(*shape, *pose, scratch->placed);
    if (!moving.IsAccepted()) {
      check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
      continue;
    }
    const Box reach = moving.reach();
    scratch->Clear();
    internal::VisitPolygons(scene, options.mask, meter, internal::MeetsBox{reach},
                            [&](const IndexedPolygon& fixed) {
                              internal::PolygonPair pair(fixed, moving, meter);
                              if (pair.Overlap()) {
                                if (!meter.SpendRows(1)) return false;
                                const size_t first_edge = scratch->edges.size();
                                if (options.detail == OverlapDetail::kEdges) {
                                  pair.AppendEdges(scratch->edges);
                                }
                                scratch->Add(fixed.polygon().id(), false, first_edge);
                              }
                              return !meter.stopped();
                            });
    if (!AppendRows(i, *scratch, Surface::kStraight, options, out, meter)) return false;
  }
  if (scratch->IsWorthCaching()) scratch.Return();
  return true;
}

}  // namespace carom
