// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does this shape touch?
//
// `OverlapCircles`, `OverlapCapsules`, `OverlapBoxes` and `OverlapPolygons` return, for each placed
// shape, the polygons that share a point with it. Shapes are closed: touching is overlapping.
// Verdicts are exact. carom/locate.h is cheaper for points, carom/cast.h for segments.
//
//   const double x[] = {5}, y[] = {2}, radius[] = {1};
//   OverlapAnswers out;
//   WorkMeter meter;
//   OverlapCircles(*scene, {x, y, radius}, {}, out, meter);
//   // out.polygon_ids[0] == 7, out.touching[0] == 1
//
// Lengths are in the unit of the caller's coordinates. Error: none. Cost: O(log n + edges near by)
// for each shape, times the vertices of the shape near by, n the edges of the scene. Thread-safe.
// Cheaper alternative: carom/locate.h for a point. More powerful: carom/contact.h for shapes that
// overlap, carom/distance.h for shapes that do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

// What is answered. IDS: the ids of polygons. EDGES: also the edges of each polygon that share a
// point with the solid shape.
enum class OverlapDetail : uint8_t { kIds, kEdges };

struct OverlapOptions {
  OverlapDetail detail = OverlapDetail::kIds;
  uint64_t mask = kEveryCategory;
};

struct CircleColumns {
  std::span<const double> x, y, radius;
  Scope scope = {};

  size_t size() const { return x.size(); }
};

// Capsules in columns: the axis of capsule i is the segment from (ax[i], ay[i]) to (bx[i], by[i]).
struct CapsuleColumns {
  std::span<const double> ax, ay, bx, by, radius;
  Scope scope = {};

  size_t size() const { return ax.size(); }
};

// Axis-aligned boxes in columns; a minimum may equal its maximum.
struct BoxColumns {
  std::span<const double> min_x, min_y, max_x, max_y;
  Scope scope = {};

  size_t size() const { return min_x.size(); }
};

struct OverlapAnswers {
  std::vector<uint32_t> counts;       // number of polygons that item i touches
  std::vector<uint64_t> polygon_ids;  // for each item in turn: ascending, bodies after polygons
  // One entry per polygon id if bodies are considered, else empty: 1 if the id is the index of a
  // body.
  std::vector<uint8_t> is_body;
  // One entry per polygon id for circles and capsules, else empty: 1 if the distance from the
  // centre, or from the axis, to the polygon is exactly the radius, else 0.
  std::vector<uint8_t> touching;
  // Under EDGES: how many edges of each entry of polygon_ids share a point with the shape, and
  // these edges, ascending. The number is 0 if the shape lies strictly inside the filled region,
  // and for a body with a radius.
  std::vector<uint32_t> edge_counts;
  std::vector<EdgeRef> edges;
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Find the polygons that each item touches and replace the contents of `out`. Return false if
// `meter` stopped the work; `out` is then meaningless. Cost per item: O(log n + edges near by); for
// polygons, times the vertices of the shape near by. Thread-safe.
bool OverlapCircles(const World& world, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter);
bool OverlapCapsules(const World& world, const CapsuleColumns& capsules,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter);
bool OverlapBoxes(const World& world, const BoxColumns& boxes, const OverlapOptions& options,
                  OverlapAnswers& out, WorkMeter& meter);
bool OverlapPolygons(const World& world, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter);

}  // namespace carom
