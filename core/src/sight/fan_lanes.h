// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon does each of several beams from one point meet first, where floating-point filters
// can decide?
//
// Beams from one point share much: a polygon lies within one cone of directions, and the numerator
// of the parameter at which a beam crosses an edge does not depend on the beam. So the functions
// here compare a polygon with several beams in the lanes of a vector, edge by edge. fan_lanes.cc
// has the proof that every decided answer is exact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "index/unowned.h"
#include "numeric/double_column.h"

namespace carom::internal {

// Up to `kMost` beams: segments from one point, and the first crossing of each with an edge so far.
// The last beam fills the elements up to the next multiple of `kMaxLanes`.
struct FanBeams {
  static constexpr size_t kMost = 256;
  using Column = std::array<double, kMost>;
  // Values of `edge`: no crossing is found, and filters cannot decide about the beam.
  static constexpr double kNoEdge = -1;
  static constexpr double kUndecided = -2;

  // Returns `count` rounded up to a multiple of `kMaxLanes`.
  size_t padded() const { return (count + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }
  // Ends the search for a beam.
  void Stop(size_t i) { limit[i] = -std::numeric_limits<double>::infinity(); }

  Vec2 from;
  size_t count;
  // The exact differences of the ends and `from`, as pairs of doubles.
  alignas(64) Column dx, dx_low, dy, dy_low;
  // Bounds of the parameter t, in [0, 1], of the first crossing; 1 without a crossing.
  alignas(64) Column low, high;
  // The parameter beyond which polygons are not searched: `high`, or -infinity once the search for
  // the beam is over.
  alignas(64) Column limit;
  // The index in `FanPolygons::points` of the edge that is crossed first, or a value above.
  alignas(64) Column edge;
};

// Sets the beams from `from` to the ends, at most `FanBeams::kMost`, read as `Normalized` does, and
// starts the search. Returns a box that contains all beams.
Box StartBeams(Vec2 from, std::span<const double> end_x, std::span<const double> end_y,
               FanBeams& beams);

// A vertex of a polygon near the beams, relative to the point that the beams start at, and the edge
// from the vertex to the next vertex. Members of the edge are rounded; the numerator n of the
// crossing's parameter and its error are those of `CrossingOf` (shape/fraction.h).
struct FanPoint {
  Vec2 place;
  Vec2 edge;
  Vec2 at;  // the vertex itself
  double n, n_error;
  uint64_t polygon;  // the polygon's id
};

// The polygons near the beams, by ascending distance from the point that the beams start at.
struct FanPolygons {
  static constexpr size_t kMost = 512;
  // A polygon with more edges is too large: filters decide nothing about it.
  static constexpr size_t kMostEdges = 128;
  using Column = std::array<double, kMost + kMaxLanes>;
  // The edges of a polygon: elements [first, end) of `chains`. No vertex is farther from the point
  // that the beams start at than `reach_x` along x and `reach_y` along y.
  struct Edges {
    bool is_set;
    bool is_too_large;
    uint32_t first, end;
    double reach_x, reach_y;
  };
  // A polygon has an edge from each of the points [first, last) to the next point.
  struct Chain {
    uint32_t first, last;  // elements of `points`
  };

  // Sets the edges of polygon i. Beams start at `from`, which is outside of the polygon. Leaves out
  // edges of a convex polygon that no beam can meet first.
  void SetEdges(size_t i, Vec2 from);
  Segment EdgeAt(double edge) const {
    const FanPoint* const point = &points[static_cast<size_t>(edge)];
    return {point[0].at, point[1].at};
  }

  size_t count;
  // The corners of each polygon's box that are farthest to the left and to the right, as seen from
  // the point that the beams start at, relative to that point; 0 if the box contains the point, or
  // takes up more than a quarter of a turn.
  alignas(64) Column left_x, left_y, right_x, right_y;
  // The least parameter t at which a beam may meet the polygon; the values beyond the last polygon
  // are infinite.
  alignas(64) Column nearest;
  std::array<Unowned<Polygon>, kMost> polygons;
  std::array<Edges, kMost> edges;
  std::vector<Chain> chains;
  // The first `point_count` elements are set.
  std::vector<FanPoint> points;
  size_t point_count;
};

// Compares the beams with the polygons. Sets `low`, `high`, `limit` and `edge` of each beam. Each
// polygon that is compared with beams counts as one unit of work, and so does each of its edges.
// Returns false once the meter stops the work.
bool ScanPolygons(FanPolygons& polygons, FanBeams& beams, WorkMeter& meter);

// Sets fractions[i] to the parameter at which beam which[i] crosses its edge, rounded to the
// nearest double. The beams must have an edge.
void MeasureCrossings(const FanBeams& beams, const FanPolygons& polygons,
                      std::span<const uint32_t> which, double* fractions);

}  // namespace carom::internal
