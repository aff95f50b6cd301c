// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/locate.h"

#include <algorithm>
#include <array>

#include "base/thread_scratch.h"
#include "carom/predicates.h"
#include "edges/indexed_polygon.h"
#include "edges/point_scan.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"

namespace carom {
namespace internal {

// Locates `p` in a polygon. A point outside of the bounds is outside of the polygon, whether the
// polygon is solid or consists of its edges alone. A point on an edge ends the scan over the edges,
// since it is on the boundary whatever the winding number is.
PointInPolygon LocateInPolygon(const IndexedPolygon& indexed, Vec2 p, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  if (!polygon.bounds().Contains(p)) return {};
  if (indexed.edge_index()) return indexed.edge_index()->Locate(polygon, p, meter);
  if (!meter.Spend(polygon.edge_count())) return {};
  PointScan scan(p);
  for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
    if (!scan.AddRing(polygon.ring(ring), polygon.is_open(ring))) return {Location::kBoundary, 0};
  }
  return ToPointInPolygon(polygon, scan.winding());
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
  uint64_t id;
  Location location;
};

// Sorts rows by id, since the traversals that find the polygons, or the bodies, visit them in no
// particular order.
void SortById(std::vector<Row>& rows) {
  if (rows.size() < 2) return;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
}

// Locates `p` in a body (a moving shape that was sent with the queries). A point is on the boundary
// of a round body if its distance from the axis is exactly the radius.
Location LocateInBody(internal::Body& body, Vec2 p, WorkMeter& meter) {
  if (!body.is_round()) return internal::LocateInPolygon(body.core(), p, meter).location;
  meter.Spend(1);
  const Capsule capsule = body.capsule();
  const int order = CompareDistance(capsule.axis, Circle{p, capsule.radius});
  if (order == 0) return Location::kBoundary;
  return order < 0 ? Location::kInside : Location::kOutside;
}

void Append(const std::vector<Row>& rows, LocateAnswers& out) {
  for (const Row& row : rows) {
    out.polygon_ids.push_back(row.id);
    out.locations.push_back(row.location);
  }
}

// Appends the bodies (moving shapes) that contain the point `p`, by ascending index, to the answer
// rows of `p`, of which `count` rows, for polygons, exist already. Adds the number of bodies to
// `count`. The function is not inlined, so that the code for batches without bodies stays short.
// Returns false once the meter stops the work.
[[gnu::noinline]] bool AddBodies(const World& world, const internal::QueryFilter& query_filter,
                                 Vec2 p, uint32_t& count, LocateAnswers& out, WorkMeter& meter) {
  std::vector<Row> rows;
  internal::VisitBodies(world, query_filter, meter, internal::MeetsBox{{p, p}},
                        [&](internal::Body& body) {
                          const Location location = LocateInBody(body, p, meter);
                          if (location == Location::kOutside) return !meter.stopped();
                          rows.push_back({body.index(), location});
                          return meter.SpendRows(1);
                        });
  SortById(rows);
  Append(rows, out);
  out.is_body.insert(out.is_body.end(), count, 0);
  out.is_body.insert(out.is_body.end(), rows.size(), 1);
  count += static_cast<uint32_t>(rows.size());
  return !meter.stopped();
}

// A scene of at most this many polygons is searched without its trees, since testing the boxes of
// all polygons takes less time. The work meter then counts the points and the work of locating them
// in the polygons, but no boxes of the scene's trees.
constexpr size_t kMaxFew = 4;

// The polygons of a small scene that have a category bit in `mask`, by ascending id. The scene
// outlives this object.
class FewPolygons {
 public:
  FewPolygons(const internal::SceneIndex& index, uint64_t mask) {
    for (size_t i = 0; i < index.tree().count(); ++i) {
      for (const IndexedPolygon& indexed : index.tile(i).entries()) {
        if ((indexed.polygon().category() & mask) != 0) Insert(indexed);
      }
    }
  }

  // Appends the answer rows of all points, and sets their counts. Returns false once the meter
  // stops the work.
  bool Locate(const PointColumns& points, LocateAnswers& out, WorkMeter& meter) const;

 private:
  void Insert(const IndexedPolygon& indexed) {
    size_t i = count_++;
    for (; i > 0 && polygons_[i - 1]->polygon().id() > indexed.polygon().id(); --i) {
      polygons_[i] = polygons_[i - 1];
    }
    polygons_[i] = &indexed;
  }

  // Writes the answer rows of the point `p` from index `row` on, where the columns of `out` have
  // room for `count_` rows. Each polygon writes a row, and the next polygon overwrites that row if
  // `p` is outside of the polygon that wrote it, since a branch on the result would be hard to
  // predict. Returns the number of rows.
  uint32_t LocateOne(Vec2 p, size_t row, LocateAnswers& out, WorkMeter& meter) const {
    size_t next = row;
    for (size_t k = 0; k < count_; ++k) {
      const Location location = internal::LocateInPolygon(*polygons_[k], p, meter).location;
      out.polygon_ids[next] = polygons_[k]->polygon().id();
      out.locations[next] = location;
      next += location != Location::kOutside ? 1 : 0;
    }
    return static_cast<uint32_t>(next - row);
  }

  std::array<const IndexedPolygon*, kMaxFew> polygons_;
  size_t count_ = 0;
};

bool FewPolygons::Locate(const PointColumns& points, LocateAnswers& out, WorkMeter& meter) const {
  // The number of points after which the columns are resized and the rows are counted on the meter.
  constexpr size_t kWindow = 64;
  size_t rows = 0;
  for (size_t begin = 0; begin < points.size(); begin += kWindow) {
    const size_t end = std::min(begin + kWindow, points.size());
    out.polygon_ids.resize(rows + kWindow * count_);
    out.locations.resize(rows + kWindow * count_);
    const size_t before = rows;
    for (size_t i = begin; i < end; ++i) {
      ItemChecker check(i, out.errors);
      if (!check.Coordinate(ItemColumn::kX, points.x[i]) ||
          !check.Coordinate(ItemColumn::kY, points.y[i])) {
        continue;
      }
      const Vec2 p = Normalized(Vec2{points.x[i], points.y[i]});
      out.counts[i] = LocateOne(p, rows, out, meter);
      rows += out.counts[i];
    }
    if (!meter.SpendRows(rows - before) || !meter.Spend(0)) return false;
  }
  out.polygon_ids.resize(rows);
  out.locations.resize(rows);
  return !meter.stopped();
}

}  // namespace

bool LocatePoints(const World& world, const PointColumns& points, uint64_t mask, LocateAnswers& out,
                  WorkMeter& meter) {
  out.Clear();
  out.counts.assign(points.size(), 0);
  internal::ThreadScratch<std::vector<Row>> kept;
  std::vector<Row>& rows = *kept;
  const bool is_uniform = internal::IsUniform(points.scope);
  uint64_t scene_mask = mask;
  if (!meter.Spend(points.size())) return false;
  if (is_uniform && world.scene.index().polygon_count() <= kMaxFew) {
    return FewPolygons(world.scene.index(), mask).Locate(points, out, meter);
  }
  for (size_t i = 0; i < points.size(); ++i) {
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kX, points.x[i]) ||
        !check.Coordinate(ItemColumn::kY, points.y[i])) {
      continue;
    }
    const Vec2 p = Normalized(Vec2{points.x[i], points.y[i]});
    if (!is_uniform) {
      // If the filter excludes the scene, a mask of 0 makes the traversal skip all polygons.
      const auto query_filter = internal::QueryFilter::Of(points.scope, i, mask);
      scene_mask = query_filter.scene ? query_filter.mask : 0;
    }
    rows.clear();
    internal::VisitPolygons(world.scene, scene_mask, meter, internal::MeetsBox{{p, p}},
                            [&](const IndexedPolygon& indexed) {
                              const Location location =
                                  internal::LocateInPolygon(indexed, p, meter).location;
                              if (location != Location::kOutside) {
                                rows.push_back({indexed.polygon().id(), location});
                                return meter.SpendRows(1);
                              }
                              return !meter.stopped();
                            });
    if (meter.stopped()) return false;
    if (rows.size() > 1) SortById(rows);
    for (const Row& row : rows) {
      out.polygon_ids.push_back(row.id);
      out.locations.push_back(row.location);
    }
    out.counts[i] = static_cast<uint32_t>(rows.size());
    if (is_uniform) continue;
    const auto query_filter = internal::QueryFilter::Of(points.scope, i, mask);
    if (!query_filter.bodies) continue;
    if (!AddBodies(world, query_filter, p, out.counts[i], out, meter)) return false;
  }
  if (rows.capacity() <= kMaxCachedItems) kept.Return();
  return true;
}

}  // namespace carom
