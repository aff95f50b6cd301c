// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far apart are two shapes, and where are they nearest?
//
// `Distance` measures the distance of two shapes, `MeasureDistances` the distances from moving
// shapes to the polygons of a scene; `IsWithin` compares a distance with a bound without measuring
// it. Shapes that share a point have distance 0: carom/contact.h returns how deep they overlap.
//
//   const Shape a = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
//   const Shape b = Shape::Create(Capsule{{{2, 5}, {2, 5}}, 1}).value();
//   const Separation found = Distance(a, b);
//   // found: distance 3, point_a (2, 1), point_b (2, 4)
//   const bool near = IsWithin(a, b, 3);  // true
//
// Lengths are in the unit of the caller's coordinates. Shapes that only touch have distance 0.
// Error: distances are correctly rounded, points within 4 ulp of the largest coordinate or radius.
// Cost: O(m log k) at best and O(m k) at worst for shapes of m and k edges; `IsWithin` stops at the
// first pair of edges that decides. `MeasureDistances` costs O(log n) for each item, plus the cost
// of `Distance` for each polygon within the bound (under NEAREST_K about k of them), n the polygons
// of the scene. Thread-safe.
// Cheaper alternative: `IsWithin`, and carom/overlap.h. More powerful: carom/contact.h for shapes
// that overlap.
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

// The least distance between two shapes a and b, and a pair of points at this distance: the first
// pair in the order of `DistanceRow`, where `a` has the role of the polygon. If the shapes share a
// point, the distance is 0 and both points are one shared point.
struct Separation {
  double distance = 0;  // the double nearest to the exact distance, ties to even; never -0
  Vec2 point_a;         // each coordinate errs by at most 4 ulp of the largest coordinate or radius
  Vec2 point_b;
};

// Returns how far apart two shapes are and where they are nearest. The distance is 0 exactly if the
// shapes share a point. It depends on the two point sets alone: Distance(b, a) has equal bits, and
// a ring with another start, winding or duplicate vertex gives equal bits, too. Both polygons are
// indexed first; the rest of the cost is O(edges of a * log(edges of b)) at best.
Separation Distance(const Shape& a, const Shape& b);

// Returns whether the distance of the shapes is at most `distance`, which is in [0, +inf]; returns
// false for other values. Exact, even if the sum of radii and distance is not a double.
bool IsWithin(const Shape& a, const Shape& b, double distance);

// Which polygons are answered. NEAREST: the polygons tied at the least exact distance (all polygons
// that the shape touches, if any). ALL: every polygon within `max_distance`. WITHIN: every polygon
// within `max_distance`, but its id alone, without measuring. NEAREST_K: the first `k` polygons
// within `max_distance`, in the order of (exact distance, polygons before bodies, id); fewer where
// fewer are within the bound. A round body is ordered by its distance rounded up to a double.
enum class DistanceMode : uint8_t { kNearest, kAll, kWithin, kNearestK };

// The largest `DistanceOptions::k`.
inline constexpr uint32_t kMaxNearestK = 1024;

struct DistanceOptions {
  DistanceMode mode = DistanceMode::kNearest;
  uint64_t mask = kEveryCategory;
  uint32_t k = 1;  // the most polygons and bodies of an item under NEAREST_K; in [1, 1024]
};

// Moving shapes in columns: item i considers the polygons at an exact distance of at most
// max_distance[i], which is in [0, +inf]; an empty column means no bound.
struct DistanceColumns {
  ShapeColumns movers;  // movers.scope is the scope of the batch
  std::span<const double> max_distance;

  size_t size() const { return movers.size(); }
};

// The distance between one polygon of the scene and one item. The core of a capsule is its axis
// (edge 0), and a polygon is its own core. Points and edge belong to the first of these cases that
// applies; in a case, pairs are ordered by the edges of the polygon (ring, edge), then by the edges
// of the mover:
//   1. two edges of the cores are at most the radius apart: distance 0, and a point of the
//      polygon's edge that the mover contains;
//   2. a ring of the mover's core is inside the polygon: distance 0, no edge, and the first vertex
//      of the ring (axis.a for a capsule);
//   3. a ring of the polygon is inside the mover: distance 0, edge 0 of the ring and its first
//      vertex;
//   4. two edges are at the least exact distance. If they have this distance in several places, the
//      points are at the first end of the mover's edge that has it, else at the first such end of
//      the polygon's edge.
struct DistanceRow {
  double distance = 0;    // see `Separation::distance`
  Vec2 point;             // nearest point of the polygon
  Vec2 mover_point;       // nearest point of the mover, on its surface if the shapes are apart
  EdgeRef edge;           // edge of the polygon through `point`; meaningless without has_edge
  bool has_edge = false;  // false where the mover lies strictly inside the polygon
};

struct DistanceAnswers {
  std::vector<uint32_t> counts;  // number of polygons answered for item i
  // For each item in turn: ascending, bodies after polygons; under NEAREST_K nearest first.
  std::vector<uint64_t> polygon_ids;
  // One entry per polygon id if bodies are considered, else empty: 1 if the id is the index of a
  // body.
  std::vector<uint8_t> is_body;
  std::vector<DistanceRow> rows;  // one per polygon id; empty under WITHIN
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Measures the distances of each item and replaces the contents of `out`. Returns false if `meter`
// stopped the work; `out` is then meaningless. Thread-safe.
bool MeasureDistances(const World& world, const DistanceColumns& columns,
                      const DistanceOptions& options, DistanceAnswers& out, WorkMeter& meter);

}  // namespace carom
