// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which area is visible from a point?
//
// `FindAreas` returns the visibility polygon of each eye: the points of a disc, or of a sector of
// it, to which the line of sight from the eye is free, as a list of boundary pieces. Verdicts are
// exact: no light leaks where walls share a point, and no order of the polygons changes a byte. For
// single lines of sight and for fans of beams see carom/visibility.h.
//
//   const double x[] = {-2}, y[] = {1}, range[] = {4};
//   AreaAnswers out;
//   WorkMeter meter;
//   FindAreas(*scene, {x, y, range}, {}, out, meter);
//   // out.pieces[1]: the left edge of polygon 7, from (0, 0) to the next piece, at (0, 4)
//
// Lengths are in the unit of the caller's coordinates, angles in radians. Touching blocks the
// sight. Error: the sequence of the pieces, their edges and the angular order of their starts are
// exact; the starts are within 2 ulp of the largest coordinate, or 4 where this keeps them in
// order, the size of the area within 2^-49 of the square of the range. Cost: O((n + k) log n + s)
// for each eye, where n edges are near the disc, k pairs of nearest ones cross, and hidden edges
// cover s pieces of what hides them; O((n + k) w) for a solid polygon that contains the eye, of
// whose n edges near the disc k pairs cross and a line from the eye meets at most w. Thread-safe.
// Cheaper alternative: carom/visibility.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/eye_tracker.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// Eyes in columns: eye i is at (x[i], y[i]) and sees at most as far as range[i], which is in (0,
// 2^53] and for which no point of the disc is above 2^53 in magnitude. If `from` and `to` are not
// empty, the eye sees the directions that a ray meets which turns counter-clockwise from the angle
// from[i] to the angle to[i]; from[i] < to[i] <= from[i] + 2 pi (the difference is rounded once,
// and at most the double nearest to 2 pi, which means every direction). The sides of the sector
// have the exact directions (c, s) that `SinCos` of carom/sincos.h returns. If rounding makes the
// sides of a thin sector coincide or change places, the area is empty; if it does so to a sector of
// almost 2 pi, the eye sees every direction.
struct AreaColumns {
  std::span<const double> x, y, range, from = {}, to = {};
  Scope scope = {};  // bodies with a radius block no sight, as for arcs
  // The memories of the eyes (carom/eye_tracker.h), or empty: none. That of eye i is
  // trackers[eye[i]], or trackers[i] if `eye` is empty; an eye without an entry has none. Answers
  // do not depend on them.
  std::span<EyeTracker> trackers = {};
  std::span<const uint32_t> eye = {};
  // Bytes by which the memories may grow in one call. What would take more is not kept.
  int64_t memory_budget = std::numeric_limits<int64_t>::max();

  size_t size() const { return x.size(); }
};

struct AreaOptions {
  // For polygons that contain the eye, boundary included. REPORT_START: the area is empty. IGNORE:
  // on each ray from the eye, the passage of the polygon that contains the eye does not block.
  // `CheckGroup` refuses the other policies.
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_rows = 4096;  // limit of pieces per eye, in [1, 65536]
  uint64_t mask = kEveryCategory;

  friend bool operator==(const AreaOptions&, const AreaOptions&) = default;
};

// Where a boundary piece lies. EDGE: on an edge of a polygon or body. ARC: on the circle of the
// range. SIGHT: on a ray from the eye: a step from a near piece to a far one or back, or a side of
// the sector.
enum class AreaPieceKind : uint8_t { kEdge, kArc, kSight };

// One piece of the boundary, from `start` to the start of the next piece; the last piece of an eye
// ends at the start of the first.
struct AreaPiece {
  uint64_t polygon_id = 0;  // EDGE: the polygon, or the index of the body if is_body; else 0
  // EDGE: of all edges that block there, the least in the order (scene before bodies, polygon id,
  // ring, edge).
  EdgeRef edge;
  AreaPieceKind kind = AreaPieceKind::kEdge;
  bool is_body = false;
  // Each coordinate is the exact one rounded to the nearest double, or within 4 ulp of the largest
  // coordinate of the eye and the exact point where this keeps the starts in counter-clockwise
  // order. A start whose exact coordinates are doubles, such as a vertex of the scene, is exact.
  Vec2 start;

  friend bool operator==(const AreaPiece&, const AreaPiece&) = default;
};

struct AreaAnswers {
  std::vector<uint32_t> counts;   // number of pieces of eye i; the counts sum to pieces.size()
  std::vector<AreaPiece> pieces;  // for each eye in turn: its pieces, counter-clockwise
  // Size of the area of eye i, in square units, of all pieces, also if truncated: within 2^-49
  // times the square of the range.
  std::vector<double> areas;
  std::vector<uint8_t>
      starts_inside;                // 1 if a polygon considered contains eye i, under both policies
  std::vector<uint32_t> truncated;  // eyes with more pieces than max_rows, ascending
  std::vector<ItemError> errors;    // eyes in error, ascending by index
  EyeTiers tiers;                   // advice: how the eyes with trackers were answered

  void Clear();
};

// Finds the area of each eye and replaces the contents of `out`. The visible set of an eye p with
// the range R is { q : |q - p| < R, q in the sector, [p, q) meets nothing considered }; the area is
// the closure of the interior of this set, so that slits and needles of width 0 do not count.
//
// The first piece of an eye is the one whose start has the least angle in (-pi, pi] about the eye,
// of equal angles the first in the order of traversal; with a sector, it is the side that starts at
// the eye. The area of an eye without walls and sector is one ARC that starts at (x - R, y).
//
// Item errors, the first that applies: x or y that is not accepted; a range that is not accepted;
// NEGATIVE_LENGTH on range if it is not above 0 (a range below 2^-140 is read as 0);
// ANGLE_OUT_OF_RANGE on from or to; NOT_A_RANGE on to; NOT_ACCEPTED on range if the disc reaches
// beyond 2^53. Returns false if `meter` stopped the work; `out` is then meaningless. Each piece
// counts as a row of `meter`. Thread-safe.
bool FindAreas(const World& world, const AreaColumns& areas, const AreaOptions& options,
               AreaAnswers& out, WorkMeter& meter);

}  // namespace carom
