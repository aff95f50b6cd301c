// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does this shape touch?
//
// `OverlapCircles`, `OverlapCapsules`, `OverlapBoxes` and `OverlapPolygons` answer, for each placed
// shape, the polygons that share a point with it. Shapes are closed: touching is overlapping.
// Exact. For points, carom/locate.h is cheaper; for segments, carom/cast.h.
//
//   const double x[] = {5}, y[] = {2}, radius[] = {1};
//   OverlapAnswers out;
//   WorkMeter meter;
//   OverlapCircles(*scene, {x, y, radius}, {}, out, meter);
//   // out.polygon_ids[0] == 7, out.touching[0] == 1
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: none, verdicts are
// exact. Cost: O(log n + edges near by) a shape, times its vertices near by, n the edges of the
// scene. Thread-safe. Cheaper: carom/locate.h for a point; richer: carom/contact.h where they
// overlap, carom/distance.h where they do not.
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

// Ids alone, or also the static edges that share a point with the solid shape.
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

// Capsules about the segment from (ax[i], ay[i]) to (bx[i], by[i]).
struct CapsuleColumns {
  std::span<const double> ax, ay, bx, by, radius;
  Scope scope = {};

  size_t size() const { return ax.size(); }
};

// Axis-aligned boxes; a minimum equal to its maximum is legal.
struct BoxColumns {
  std::span<const double> min_x, min_y, max_x, max_y;
  Scope scope = {};

  size_t size() const { return min_x.size(); }
};

struct OverlapAnswers {
  std::vector<uint32_t> counts;       // polygons that item i touches
  std::vector<uint64_t> polygon_ids;  // item after item, ascending, bodies after the polygons
  // Beside polygon_ids where bodies are considered, else empty: 1 where it is the index of a body.
  std::vector<uint8_t> is_body;
  // Beside polygon_ids, circles and capsules only (else empty): 1 if the distance from the centre,
  // or from the axis, to the polygon is exactly the radius, else 0.
  std::vector<uint8_t> touching;
  // Under EDGES: for each entry of polygon_ids, how many edges, and the edges, ascending. The
  // number is 0 where the shape lies strictly inside the filled region, and of a body with a
  // radius.
  std::vector<uint32_t> edge_counts;
  std::vector<EdgeRef> edges;
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Return false if `meter` stopped the work; `out` is then meaningless. Cost per item: O(log n +
// edges near by), times the shape's vertices near by for polygons. Thread-safe.
bool OverlapCircles(const World& world, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter);
bool OverlapCapsules(const World& world, const CapsuleColumns& capsules,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter);
bool OverlapBoxes(const World& world, const BoxColumns& boxes, const OverlapOptions& options,
                  OverlapAnswers& out, WorkMeter& meter);
bool OverlapPolygons(const World& world, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter);

}  // namespace carom
