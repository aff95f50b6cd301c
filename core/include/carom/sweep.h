// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a moving shape run into, and when?
//
// `SweepShapes` translates shapes along straight lines and finds the exact first touch. For a shape
// that also turns see carom/rotating_sweep.h; for a point carom/cast.h is cheaper.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {-4}, y[] = {2}, to_x[] = {4}, to_y[] = {2};
//   SweepAnswers out;
//   WorkMeter meter;
//   SweepShapes(*scene, {{shapes, {}, x, y}, to_x, to_y}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, fraction 0.375, normal (-1, 0)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as a hit. The unit normal
// points from the polygon to the shape. Error: fractions are correctly rounded, for capsules with a
// radius rounded up; points are within 3 ulp. Cost: O(log n + edges near the path) for each sweep,
// times the vertices of the shape, n the edges of the scene. Thread-safe. Cheaper alternative:
// carom/cast.h for a point. More powerful: carom/rotating_sweep.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

// The path of a sweep is the placed shape moved by t * d for t in [0, 1]. Sweeps have the modes and
// policies of casts (carom/cast.h). A passage is a largest interval of t in which shape and polygon
// share a point (touching counts); the start is inside if they share a point at t = 0. ALL_PASSAGES
// is not supported: `SweepShapes` treats it as ALL.
//
// A sweep of length zero is an overlap test. Its passage begins and ends at the only parameter, 0:
// EXIT therefore answers as REPORT_START does, with the edge and the point of the start, and IGNORE
// answers nothing.
//
// Blocking policies. Two shapes M and P overlap in more than touch if the interior of one shape
// meets the other shape: int(M) and P share a point, or M and int(P) do. The interior is the
// topological interior of the solid set, empty for a hollow polygon. Let O be the set of t in [0,
// 1] at which the moving shape and the polygon overlap in more than touch. The fraction is the
// greatest lower bound of O, and there is no hit if O is empty. A shape may therefore rest on,
// slide along and leave what it touches, and stops at hollow walls and at walls without area. If
// the start is in O, BLOCKING answers fraction 0 with normal zero, and BLOCKING_LEAVE ignores the
// polygon until the component of O that contains 0 ends. Bodies (carom/bodies.h) block as polygons
// do: they stay where they are, and the interior of a body is the interior of its solid set.
//
// Blocking ray. Let M be the shape at the hit, and U the set of directions u such that M, moved a
// little along u, overlaps anything considered in more than touch. The motion lies in one component
// of U, an open sector. The blocking ray is the one of the two boundary rays of the sector that
// keeps more of the motion; if both keep as much, the counter-clockwise one. The normal is
// perpendicular to the blocking ray, against the motion; it is -d / |d| if the sector has no
// boundary ray, or if the blocking ray is parallel to d. A seam of two collinear walls is no
// corner.
//
// Safe pose. The safe pose of a sweep is a position at which the shape, as placed there, is proven
// to have an interior and to overlap nothing considered in more than touch, and to which the sweep
// from the start is not blocked. It is within 8 ulp (of the largest coordinate) of the exact
// position if a free half-plane or right-angled corner allows that, and farther away by `skin`
// along the normals; at worst it is the start. It is the start, too, if a hit leaves at most 8 ulp
// to go. A polygon that BLOCKING_LEAVE ignores to the end of the path does not count for the safe
// pose.
struct SweepOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_hits = 64;  // limit of hits per sweep, under ALL; in [1, 65536]
  uint64_t mask = kEveryCategory;
};

// Sweeps in columns: item i moves without turning by the displacement d. d is (dx[i], dy[i]), read
// as by `Normalized`. If the columns dx and dy are empty, d is the rounded difference between the
// position (to_x[i], to_y[i]), read as by `Normalized`, and the start. The components of d are at
// most 2^53 in magnitude; otherwise an item error names the column. `skin` is for the blocking
// policies alone: skin[i], at least 0, is the gap that the safe pose of item i keeps; an empty
// column means 0.
//
// Under a blocking policy a mover is a circle, a capsule, or a solid polygon of one ring that does
// not touch itself (such as a box), and has an interior where it is placed; otherwise an item error
// names `shape`.
struct SweepColumns {
  ShapeColumns movers;  // movers.scope is the scope of the batch
  std::span<const double> to_x, to_y;
  std::span<const double> dx = {}, dy = {};
  std::span<const double> skin = {};

  size_t size() const { return movers.size(); }
};

// One hit: a polygon, or a body, that a sweep meets. The total order of hits is (fraction, scene
// before bodies, polygon id or index of the body). If the mover or the body is a capsule of radius
// > 0, the reported doubles are compared, otherwise the exact fractions. In the comments below, M
// is the largest magnitude among the coordinates of the polygon, of the placed shape and of d, and
// the radius of the shape.
struct SweepHit {
  uint64_t polygon_id = 0;  // the index of the body if is_body
  // In [0, 1]; 0 exactly if the shapes overlap at the start (under REPORT_START). For a polygon,
  // and for a capsule of radius 0: the exact value rounded to nearest even. For a capsule of radius
  // > 0: the exact value rounded up. Under EXIT: the end of the passage, rounded to nearest even or
  // up as above; 1 if the passage reaches the end of a sweep of nonzero length.
  double fraction = 0;
  // Whether the passage contains the start; under BLOCKING, whether the shapes overlap in more than
  // touch at the start.
  bool starts_inside = false;
  // Whether this hit is as early as the hit before it in the answer: their exact fractions are
  // equal, or, for a capsule of radius > 0, their doubles.
  bool ties = false;
  // The least (ring, edge) of the polygon that touches the shape at the exact fraction; for a
  // capsule of radius > 0, the least edge with a touch of its own that is rounded up to `fraction`.
  // At a start inside, and under EXIT for a sweep of length zero, the least edge that contains a
  // point of the solid shape. Meaningless without has_edge: no edge touches the shape at the start,
  // or under EXIT the passage reaches fraction 1. Under a blocking policy, except at a start
  // inside, only edges that begin to overlap the shape in more than touch at the fraction count.
  EdgeRef edge;
  bool has_edge = false;
  bool is_body = false;  // a body with a radius has no edges
  // A point that shape and polygon share at `fraction`, within 3 ulp(M); exactly a vertex of the
  // polygon if that vertex touches the shape first.
  Vec2 point;
  // The unit normal at the exact fraction, from the polygon to the shape, normal . d <= 0: each
  // component within 1 ulp, for a capsule of radius > 0 within 1 ulp + 2^-94. {0, 0} for a start
  // inside and under EXIT.
  //
  // The normal comes from the first pair of touching edges that defines one, in the order (ring,
  // edge) of the polygon and then of the shape. A vertex within an edge, parallel edges that share
  // more than a point, and a point and an edge define the normal of the edge, unless the edge is
  // parallel to d. If no pair defines a normal (vertex on vertex), the normal is -d / |d|. For a
  // capsule of radius > 0 every pair defines a normal, and the pair that touches first gives it.
  // Under a blocking policy the normal is perpendicular to the blocking ray (`SweepOptions`).
  Vec2 normal;
};

struct SweepAnswers {
  std::vector<uint32_t> counts;     // number of hits of item i; under ANY 0 or 1, without `hits`
  std::vector<SweepHit> hits;       // for each item in turn: its hits in the total order
  std::vector<uint32_t> truncated;  // items with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // items in error, ascending by index
  // The safe pose of item i under a blocking policy, whether the item hits anything or not; (0, 0)
  // for an item in error. Empty under other policies.
  std::vector<Vec2> safe;

  void Clear();
};

// Sweeps each item and replaces the contents of `out`. Returns false if `meter` stopped the work;
// `out` is then meaningless. Thread-safe. Cost per item: O(log n + edges near its path), times the
// edges of the shape near these edges; a start inside under IGNORE or EXIT tests the whole path and
// sorts its contacts. Memory: the contacts, pairs of an edge of the shape and an edge of a polygon.
// If one polygon has more contacts than the meter has rows left, they count as rows and so stop the
// work.
bool SweepShapes(const World& world, const SweepColumns& columns, const SweepOptions& options,
                 SweepAnswers& out, WorkMeter& meter);

}  // namespace carom
