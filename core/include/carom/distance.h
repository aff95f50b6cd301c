// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is it, and where is it nearest?
//
// `Distance` measures between two shapes, `MeasureDistances` from moving shapes to the polygons of
// a scene; `IsWithin` decides without measuring. Distances between shapes that share a point are 0:
// for how deep they overlap see carom/contact.h.
//
//   const Shape a = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
//   const Shape b = Shape::Create(Capsule{{{2, 5}, {2, 5}}, 1}).value();
//   const Separation found = Distance(a, b);
//   // found: distance 3, point_a (2, 1), point_b (2, 4)
//   const bool near = IsWithin(a, b, 3);  // true
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: distances are
// correctly rounded, points within 4 ulp of the largest coordinate or radius. Cost: O(m log k) at
// best, O(m k) at worst for m and k edges, `IsWithin` stops at the first pair that decides;
// `MeasureDistances` O(log n) an item and that for each polygon within its bound, n the polygons of
// the scene. Thread-safe. Cheaper: `IsWithin` and carom/overlap.h; richer: carom/contact.h where
// they overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

// The least distance between two shapes a and b, and a pair of points that has it: the first one in
// the order of `DistanceRow`, a in the place of the polygon. Where they share a point, the distance
// is 0 and both points are a shared one.
struct Separation {
  double distance = 0;  // the double nearest to the exact distance, ties to even; never -0
  Vec2 point_a;         // each coordinate within 4 ulp of the largest coordinate or radius
  Vec2 point_b;
};

// The distance is 0 exactly if the shapes share a point, and a function of the two point sets
// alone: Distance(b, a) has the same bits, and so has another ring start, winding or duplicate
// vertex. Both polygons are indexed first; then the cost is O(edges of a * log(edges of b)) at
// best.
Separation Distance(const Shape& a, const Shape& b);

// Whether the distance is at most `distance`, which is in [0, +inf] (else the answer is no). Exact,
// also where the sum of radii and distance is no double.
bool IsWithin(const Shape& a, const Shape& b, double distance);

// NEAREST: the polygons tied at the least exact distance (all that are touched, if any). ALL: every
// polygon within `max_distance`. WITHIN: the same, ids alone, without measuring.
enum class DistanceMode : uint8_t { kNearest, kAll, kWithin };

struct DistanceOptions {
  DistanceMode mode = DistanceMode::kNearest;
  uint64_t mask = kEveryCategory;
};

// Item i considers the polygons whose exact distance is at most max_distance[i], which is in
// [0, +inf]; an empty column means no bound.
struct DistanceColumns {
  ShapeColumns movers;  // with the scope of the batch
  std::span<const double> max_distance;

  size_t size() const { return movers.size(); }
};

// One polygon of the scene and one item. A capsule's core is its axis (edge 0), a polygon is its
// own core. Points and edge are those of the first of these that there is, pairs in the order of
// the polygon's edges (ring, edge), then of the mover's:
//   1. a pair of edges of the cores at most the radius apart: distance 0, and a point of the
//      polygon's edge that the mover shares;
//   2. a ring of the mover's core inside the polygon: distance 0, no edge, the ring's first vertex
//      (of a capsule axis.a);
//   3. a ring of the polygon inside the mover: distance 0, edge 0 of the ring and its first vertex;
//   4. a pair of edges at the least exact distance. Where it has that distance in several places:
//      at the first of the mover's ends, then of the polygon's.
struct DistanceRow {
  double distance = 0;    // as of `Separation`
  Vec2 point;             // of the polygon
  Vec2 mover_point;       // of the mover, on the surface where it is apart
  EdgeRef edge;           // of the polygon, on which `point` lies; meaningless without has_edge
  bool has_edge = false;  // false where the mover lies strictly inside the polygon
};

struct DistanceAnswers {
  std::vector<uint32_t> counts;       // polygons of item i
  std::vector<uint64_t> polygon_ids;  // item after item, ascending, bodies after the polygons
  // Beside polygon_ids where bodies are considered, else empty: 1 where it is the index of a body.
  std::vector<uint8_t> is_body;
  std::vector<DistanceRow> rows;  // beside polygon_ids; empty under WITHIN
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
bool MeasureDistances(const World& world, const DistanceColumns& columns,
                      const DistanceOptions& options, DistanceAnswers& out, WorkMeter& meter);

}  // namespace carom
