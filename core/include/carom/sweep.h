// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a moving shape run into, and when?
//
// `SweepShapes` translates shapes along straight lines and finds the exact first touch. For a shape
// that also turns see carom/rotating_sweep.h; for a point, carom/cast.h is cheaper.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {-4}, y[] = {2}, to_x[] = {4}, to_y[] = {2};
//   SweepAnswers out;
//   WorkMeter meter;
//   SweepShapes(*scene, {{shapes, {}, x, y}, to_x, to_y}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, fraction 0.375, normal (-1, 0)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: the unit normal is
// from the polygon to the shape. Error: fractions are correctly rounded, of capsules with a radius
// rounded up; points within 3 ulp. Cost: O(log n + edges near the path) a sweep, times the shape's
// vertices, n the edges of the scene. Thread-safe. Cheaper: carom/cast.h for a point; richer:
// carom/rotating_sweep.h.
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

// A sweep's path is the placed shape moved by t * d for t in [0, 1]. Modes and policies are those
// of casts (carom/cast.h): a passage is a largest interval of t in which shape and polygon share a
// point (touching counts), and the start is inside where they do at t = 0. ALL_PASSAGES is not
// offered; it reads as ALL.
//
// A sweep of length zero is an overlap test. Its passage begins and ends at its one parameter 0, so
// that EXIT answers what REPORT_START does, edge and point of the start included, and IGNORE
// nothing.
//
// Blocking policies. Two shapes overlap in more than touch where the interior of one meets the
// other: int(M) and P share a point, or M and int(P). The interior is the topological one of the
// solid set, empty for a hollow polygon. With O the set of t in [0, 1] at which they overlap so,
// the fraction is the greatest lower bound of O, and there is no hit where O is empty. So a shape
// may rest on, slide along and leave what it touches, and stops at hollow walls and at walls
// without area. Where the start is in O: BLOCKING answers fraction 0 with normal zero;
// BLOCKING_LEAVE passes over the polygon until the component of O that holds 0 ends. Bodies
// (carom/bodies.h) block as polygons do: they stay where they are, and their interior is that of
// their solid set.
//
// Which way is blocked: with M at the hit, U are the directions u such that M moved on by a little
// of u overlaps anything considered in more than touch. The motion lies in one component of U, an
// open sector. Its blocking ray is whichever of the sector's two boundary rays keeps more of the
// motion, of equal ones the counter-clockwise one. The normal is perpendicular to it, against the
// motion; -d / |d| where there is no ray, or it is parallel to d. A seam of two collinear walls is
// no corner.
//
// The safe pose: a position at which the shape, as placed there, is proven not to overlap anything
// considered in more than touch and to have an interior, and the sweep from the start to which is
// not blocked. Within 8 ulp of the largest coordinate of the exact position where a free half-plane
// or right corner allows it, and farther by `skin` along the normals; at worst the start. It is the
// start too where a hit leaves less than 8 ulp to go. What BLOCKING_LEAVE passes over to the end
// does not count for it.
struct SweepOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_hits = 64;  // of ALL, per sweep; in [1, 65536]
  uint64_t mask = kEveryCategory;
};

// Item i moves without turning by the displacement d. Either that is (dx[i], dy[i]), read as by
// `Normalized`, or, where those columns are empty, the rounded difference of positions to - from,
// for the position (to_x[i], to_y[i]), read likewise. Its components are at most 2^53 in magnitude;
// otherwise the item's error names the column. `skin` is of the blocking policies alone: the gap
// that the safe pose of item i keeps, at least 0; an empty column means 0.
//
// Under a blocking policy a mover is a circle, a capsule or a box, or a polygon of one ring that
// does not touch itself, solid, with an interior where it is placed: else the item's error names
// `shape`.
struct SweepColumns {
  ShapeColumns movers;  // with the scope of the batch
  std::span<const double> to_x, to_y;
  std::span<const double> dx = {}, dy = {};
  std::span<const double> skin = {};

  size_t size() const { return movers.size(); }
};

// One polygon, or one body, met by one sweep. The total order of hits is (fraction, scene before
// bodies, polygon id or index), where fractions are the exact values for a polygon (and a capsule
// of radius 0), the reported doubles where the mover or the body is a capsule of radius > 0. Below,
// M is the largest magnitude among the coordinates of the polygon, the placed shape, its radius and
// d.
struct SweepHit {
  uint64_t polygon_id = 0;  // of a body its index, see is_body
  // In [0, 1]: 0 exactly if they overlap at the start (under REPORT_START). For a polygon, and for
  // a capsule of radius 0: the exact value rounded to nearest even. For a capsule of radius > 0:
  // the exact value rounded up. Under EXIT it is the passage's end, rounded likewise: 1 where the
  // passage reaches the end of a sweep that has a length.
  double fraction = 0;
  // The passage holds the start; under BLOCKING: they overlap in more than touch there.
  bool starts_inside = false;
  // Whether it is as early as the hit before it: equal exact fractions, or equal doubles for a
  // capsule of radius > 0.
  bool ties = false;
  // The least (ring, edge) of the polygon that touches the shape at the exact fraction; for a
  // capsule of radius > 0 the least whose own touch, rounded up, is `fraction`. At a start inside,
  // and under EXIT for a sweep of length zero, the least that holds a point of the solid shape.
  // Meaningless without has_edge: no edge touches at the start, or under EXIT the passage reaches
  // fraction 1. Under a blocking policy, but for a start inside, only edges that begin to overlap
  // the shape in more than touch at the fraction count.
  EdgeRef edge;
  bool has_edge = false;
  bool is_body = false;  // one with a radius has no edges
  // A point that they share at `fraction`, within 3 ulp(M): exactly a vertex of the polygon where
  // that touches the shape first.
  Vec2 point;
  // The unit normal at the exact fraction, from the polygon to the shape, normal . d <= 0: each
  // component within 1 ulp, for a capsule of radius > 0 within 1 ulp + 2^-94. {0, 0} for a start
  // inside and under EXIT.
  //
  // Of the pairs of edges that touch, in the order (ring, edge) of the polygon and then of the
  // shape, the first that defines it does: a vertex within an edge, parallel edges that share more
  // than a point, a point and an edge give the edge's normal unless the edge is parallel to d. If
  // none does (vertex on vertex), it is -d / |d|. For a capsule of radius > 0 the pair that touches
  // first defines it, and every pair does. Under a blocking policy it is that of the blocking ray.
  Vec2 normal;
};

struct SweepAnswers {
  std::vector<uint32_t> counts;     // hits of item i; under ANY 1 or 0, and `hits` stays empty
  std::vector<SweepHit> hits;       // item after item, each in the total order
  std::vector<uint32_t> truncated;  // items with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // ascending by index
  // Under a blocking policy the safe pose of item i, whether anything is hit or not, (0, 0) for an
  // item in error; else empty.
  std::vector<Vec2> safe;

  void Clear();
};

// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe. Cost per item:
// O(log n + edges near its path), times the shape's edges near those; a start inside under IGNORE
// or EXIT tests the whole path and sorts its contacts. Memory: those contacts, pairs of an edge
// of the shape and one of a polygon; more of one polygon than the meter has rows left count as rows
// and so stop the work.
bool SweepShapes(const World& world, const SweepColumns& columns, const SweepOptions& options,
                 SweepAnswers& out, WorkMeter& meter);

}  // namespace carom
