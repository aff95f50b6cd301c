// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon does a line meet first, where floating-point filters can decide?
//
// A `FastLine` keeps the first passage found so far (fast_passage.h): the edges at which the line
// enters and leaves a polygon, and intervals that contain the line's parameters at both edges.
// Polygons are ordered by intervals alone. Where two intervals overlap, or a filter cannot decide
// whether a line meets a polygon, the line becomes undecided at once and falls back to the general
// path (general_batch.h). So the fast path decides nothing that rounding errors could change.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "cast/fast_passage.h"
#include "cells/grid_entrance.h"
#include "cells/grid_walk.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"
#include "index/unowned.h"
#include "shape/line.h"

namespace carom::internal {

// The first passage of a line in `polygon` (the first interval of the line inside the polygon). If
// the line starts inside, `passage.begin` is the line's t_min.
struct FastCandidate {
  bool is_none() const { return polygon->memory() == nullptr; }

  Unowned<Polygon> polygon;
  FastPassage passage;
};

// A line that is cast on the fast path (which decides by floating-point filters alone), and the
// first passage (interval of the line inside a polygon) found so far.
struct alignas(64) FastLine {
  // Starts the search for the first passage. The caller sets `line` before the call.
  void Start() {
    reach = line.bounds;
    first.polygon = {};
    first.passage.begin = {HUGE_VAL, HUGE_VAL};
    is_undecided = false;
    is_none = false;
  }
  // Returns the parameter t beyond which the line has no hit that comes before `first`.
  double end() const { return first.is_none() ? line.t_max : first.passage.begin.high; }

  Line line{Segment{}};
  Box reach;            // bounds of the part of `line` to search; empty once the search is over
  FastCandidate first;  // the first passage so far; none before a hit, and in cast mode ALL
  bool is_undecided = false;
  bool is_none = false;  // whether the item of the batch is no valid line
};

// Sets lines[i] to segment begin + i of the columns and starts its search, for all of `lines`, 1 to
// `GridEntrants::kMost`. Also sets the elements of `of`, the columns by which lines enter the
// scene's grid, and repeats the last line in the remaining elements. Returns bit i for each
// lines[i] with a coordinate that is not accepted (not finite, or above 2^53 in magnitude).
unsigned StartSegments(const SegmentColumns& segments, size_t begin, std::span<FastLine> lines,
                       GridEntrants& of);

// Collects, in cast mode ALL, the first passage (interval of the line inside the polygon) in each
// polygon for the lines of a window (consecutive lines of a batch): in any order, and some passages
// twice.
class FastPassages {
 public:
  static constexpr size_t kMost = 8192;

  struct Entry {
    const FastLine* line;
    FastCandidate found;
  };

  // Drops all passages, for the lines of the next window.
  void Clear() {
    entries_.reserve(kMost);
    entries_.clear();
  }
  // Adds the first passage of `line` in `polygon`. Returns false if `kMost` passages are stored
  // already.
  bool Add(const FastLine& line, const Polygon& polygon, const FastPassage& passage) {
    if (entries_.size() == kMost) return false;
    entries_.push_back({&line, {Unowned(polygon), passage}});
    return true;
  }
  // Sorts the passages by line, then by the begin of the passage, then by the polygon's id, and
  // removes duplicates. Counts the work in `meter`.
  void Sort(WorkMeter& meter);
  // Returns the passages of a line, after `Sort`. `at` must be the index of the first passage of
  // the line, and becomes the index after the last.
  std::span<const Entry> Of(const FastLine& line, size_t& at) const;

 private:
  std::vector<Entry> entries_;
};

// Returns whether the parameter intervals that contain the begins of sorted passages (intervals of
// the line inside polygons) are disjoint, so that the intervals determine the exact order of the
// passages. The polygons' ids determine the order of passages that contain the line's start.
bool AreInOrder(std::span<const FastPassages::Entry> passages);

// A line that descends the bounding-box trees of the scene, and the part of the line that is
// searched currently.
struct FastSlot {
  FastLine* line;
  LineInterval interval;
};

// The arguments of `VisitFastPairs` for lines that descend the bounding-box trees of the scene. A
// passage is an interval of a line inside a polygon.
struct FastVisit {
  const SceneIndex& scene;
  const CastOptions& options;
  FastSlot* slots;  // `Frontier::lines` has indices in this array
  LineCull* culls;  // the box tests of the lines, indexed like `slots`
  WorkMeter& meter;
  FastPassages* all;  // collects all passages in cast mode ALL
};

// Tests each pair in `pairs`: a line, and a polygon with a bounding box that the line may meet.
// Keeps the first passage (interval inside a polygon) of each line, and shortens the part of the
// line that is still searched. Each pair counts as one unit of work, and so does each vertex that
// is compared with a line.
void VisitFastPairs(const Frontier& pairs, const FastVisit& visit);

// The arguments of `VisitFastPairs` for lines that walk from cell to cell of the scene's grid. A
// passage is an interval of a line inside a polygon.
struct FastCells {
  const CastOptions& options;
  FastLine* lines;  // `GridPairs::walks` has indices in this array
  GridWalk* walks;  // `GridPairs::walks` has indices in this array
  WorkMeter& meter;
  FastPassages* all;  // collects all passages in cast mode ALL
};
void VisitFastPairs(const GridPairs& pairs, const FastCells& visit);

// A hit of a line: the polygon `found` with the line's passage (interval inside the polygon), and
// the answer `hit` that `MeasureFastHits` sets.
struct FastHit {
  const FastLine* line;
  const FastCandidate* found;
  CastHit* hit;  // must be default-constructed before `MeasureFastHits`
};

// Sets the members of hits (fractions, points, normals) that `detail` asks for. Computes several
// hits at a time in the lanes of a vector; a hit for which a vector result may be rounded wrongly
// is computed alone, by scalar functions.
void MeasureFastHits(std::span<const FastHit> hits, CastDetail detail);

// Returns the direction of the line reflected by the edge of a measured hit; zero if the hit's
// normal is zero.
Vec2 ReflectionOf(const FastHit& hit);

}  // namespace carom::internal
