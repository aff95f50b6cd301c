// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does this shape touch?
//
// `OverlapCircles` and `OverlapPolygons` answer, for each placed shape, the polygons that share a
// point with it. Shapes are closed: touching is overlapping. Exact. For points, carom/locate.h is
// cheaper; for segments, carom/cast.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// Ids alone, or also the static edges that share a point with the solid shape.
enum class OverlapDetail : uint8_t { kIds, kEdges };

struct OverlapOptions {
  OverlapDetail detail = OverlapDetail::kIds;
  uint64_t mask = kEveryCategory;
};

// The vertices of a moving shape at most.
inline constexpr size_t kMaxMovingVertices = 4096;

struct CircleColumns {
  std::span<const double> x, y, radius;

  size_t size() const { return x.size(); }
};

// Moving polygons: item i is shapes[shape[i]] at the pose (x[i], y[i], c[i], s[i]). An empty
// `shape` column means shapes[i]; empty c and s mean no rotation, unless `angle` (radians, counter-
// clockwise, |angle| <= 2^20) is given instead. Shapes are described about their reference point.
struct PolygonColumns {
  std::span<const Polygon> shapes;
  std::span<const uint32_t> shape;
  std::span<const double> x, y, c, s, angle;

  size_t size() const { return x.size(); }
};

struct OverlapAnswers {
  std::vector<uint32_t> counts;       // polygons that item i touches
  std::vector<uint64_t> polygon_ids;  // item after item, ascending
  // Beside polygon_ids, circles only (empty for polygons): 1 if the distance from the centre to
  // the polygon is exactly the radius, else 0.
  std::vector<uint8_t> touching;
  // Under EDGES: for each entry of polygon_ids, how many edges, and the edges, ascending. The
  // number is 0 where the shape lies strictly inside the filled region.
  std::vector<uint32_t> edge_counts;
  std::vector<EdgeRef> edges;
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Return false if `meter` stopped the work; `out` is then meaningless. Cost per item: O(log n +
// edges near by), times the shape's vertices near by for polygons. Thread-safe.
bool OverlapCircles(const Scene& scene, const CircleColumns& circles, const OverlapOptions& options,
                    OverlapAnswers& out, WorkMeter& meter);
bool OverlapPolygons(const Scene& scene, const PolygonColumns& polygons,
                     const OverlapOptions& options, OverlapAnswers& out, WorkMeter& meter);

}  // namespace carom
