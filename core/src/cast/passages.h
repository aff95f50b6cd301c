// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is a segment or a ray inside one polygon?
//
// `PassageFinder` computes the passages of a line (shape/line.h) in a polygon: the largest
// intervals of t in [t_min, t_max] with origin + t * direction in the polygon, exactly, for any
// rings. It collects all touches of the line and edges, and merges them (base/passage_merge.h). The
// winding number decides which gaps between touches are filled. The winding number is taken along
// the line moved by an infinitesimal amount to its left: the moved line meets no vertex and runs
// along no edge, so each edge that passes the line from one side to the other changes the winding
// number by one, at the touch of the edge. For small rings, crossings that floating-point filters
// find with certainty replace the touches (fast_passage.h). docs/adr/0002-general-edge-passages.md
// gives the reasons for this method, rather than convex pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/passage_merge.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "cast/fast_passage.h"
#include "cast/reported_edge.h"
#include "edges/indexed_polygon.h"
#include "numeric/exact.h"
#include "shape/fraction.h"
#include "shape/line.h"

namespace carom::internal {

// An edge that meets an end of a passage (an interval of a line inside a polygon), whether the edge
// is parallel to the line, and the parameter `at` of the line at this end. `at` equals `begin` or
// `end` of the passage, but is stored as this edge defines the parameter (shape/fraction.h).
struct PassageEdge {
  uint32_t index = kNoEdge;
  bool parallel = false;
  Fraction at;  // meaningless for kNoEdge
};

// A passage: a largest interval of the line inside the polygon.
struct Passage {
  Fraction begin;
  Fraction end;
  PassageEdge entry;  // the edge to report at `begin`; kNoEdge if the start is strictly inside
  PassageEdge exit;   // the edge to report at `end`; kNoEdge if the line's end is strictly inside
};

// Finds the passage (interval inside `polygon`) of `line` by the floating-point filters of
// fast_passage.h. Returns kUncertain if the filters cannot decide, or if the line may have more
// than one passage in the polygon. Sets `passage` if the verdict is kPassage.
FastVerdict FindFastPassage(const Line& line, const Polygon& polygon, FastPassage& passage);

// Returns `fast`, the interval of `line` inside `polygon` that `FindFastPassage` found, as a
// `Passage` with exact fractions (parameters of the line).
Passage PassageOf(const Line& line, const Polygon& polygon, const FastPassage& fast);

// Finds the passages of a line in polygons. A finder can be used for one polygon after another, and
// allocates memory only when a polygon needs more memory than all previous polygons. Not
// thread-safe.
class PassageFinder {
 public:
  // Sets the line for later calls. The coordinates of the line are accepted (finite, at most 2^53
  // in magnitude). The direction of a ray must not be zero; a segment may be a single point.
  void Start(const Line& line);

  // Returns the passages (largest intervals of the line inside `polygon`), in order along the line.
  // The result is meaningless once `meter` has stopped the work.
  const std::vector<Passage>& Find(const IndexedPolygon& polygon, WorkMeter& meter);

  // Returns the passages of the line in a polygon for which `FindFastPassage` returned kUncertain.
  const std::vector<Passage>& FindSeveral(const IndexedPolygon& polygon, WorkMeter& meter);

  // Returns the passages of the line, computed only from the exact touches of the line and all
  // edges (the points or intervals that the line shares with an edge), without the floating-point
  // filters that `Find` tries first.
  const std::vector<Passage>& FindByTouches(const IndexedPolygon& polygon, WorkMeter& meter);

  // Returns the number of touches and passages for which the finder has allocated memory.
  size_t capacity() const { return touches_.capacity() + passages_.capacity(); }

  // Returns false only if the box does not meet the line.
  bool MayMeet(const Box& box) const { return line_.bounds.Intersects(box) && LineMayMeet(box); }

 private:
  // The touch of one edge and the line: a point, or an interval if the edge is parallel to the
  // line. `winding_change` is how the touch changes the polygon's winding number along the line
  // moved by an infinitesimal amount to its left.
  struct Touch {
    Fraction begin;
    Fraction end;
    uint32_t edge;
    int8_t winding_change;
    bool parallel;

    uint32_t source() const { return edge; }
  };
  class TouchPath;

  bool FindConvex(const IndexedPolygon& polygon, WorkMeter& meter);
  void AddConvexPassage(std::span<const Vec2> ring, const CertainSides& sides);
  bool FindByCrossings(const Polygon& polygon);
  void FindAtPoint(const IndexedPolygon& polygon, WorkMeter& meter);
  void CollectTouches(const IndexedPolygon& polygon, WorkMeter& meter);
  void AddTouch(uint32_t index, const Segment& edge);
  void AddParallelTouch(uint32_t index, const Segment& edge);
  Meeting Meet(const Segment& edge, int side_a, int side_b) const;
  PointInPolygon AfterStart(const IndexedPolygon& polygon, WorkMeter& meter) const;
  int64_t WindingAfterStart(const IndexedPolygon& polygon, WorkMeter& meter) const;
  void JoinTouches(const Polygon& polygon, const PointInPolygon& start, WorkMeter& meter);
  void Report(const MergedPassage<Fraction>& merged, WorkMeter& meter);
  // Returns false only if the box misses the line, with its four corners strictly on one side. Each
  // product below has three roundings and the difference of two products a fourth, so 8u times the
  // magnitudes of the products covers the errors, with u = `kUnit` = 2^-53.
  bool LineMayMeet(const Box& box) const {
    const double dx = line_.dx.high;
    const double dy = line_.dy.high;
    const double y1 = dx * (box.min.y - line_.origin.y);
    const double y2 = dx * (box.max.y - line_.origin.y);
    const double x1 = dy * (box.min.x - line_.origin.x);
    const double x2 = dy * (box.max.x - line_.origin.x);
    const double error =
        8 * kUnit * (std::max(std::abs(y1), std::abs(y2)) + std::max(std::abs(x1), std::abs(x2)));
    return std::max(y1, y2) - std::min(x1, x2) >= -error &&
           std::min(y1, y2) - std::max(x1, x2) <= error;
  }
  int Compare(const Fraction& a, const Fraction& b) const { return Fraction::Compare(line_, a, b); }

  Line line_{Segment{{0, 0}, {1, 0}}};
  DominantAxis axis_{line_};
  std::vector<Touch> touches_;
  std::vector<Passage> passages_;
};

}  // namespace carom::internal
