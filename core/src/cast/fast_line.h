// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon does a line meet first, where filters can decide?
//
// A `FastLine` keeps the first passage found so far, as the two edges and intervals of
// fast_passage.h. Polygons are ordered by intervals alone. Where two intervals overlap, or a filter
// cannot decide whether a line meets a polygon, the line becomes undecided at once and falls back
// to the general path (general_batch.h). So the fast path decides nothing that rounding errors
// could change.
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

// A passage of a line in a polygon. If the line starts inside, `passage.begin` is the line's start.
struct FastCandidate {
  bool is_none() const { return polygon->memory() == nullptr; }

  Unowned<Polygon> polygon;
  FastPassage passage;
};

// A line, and its first passage so far.
struct alignas(64) FastLine {
  // Resets the search. To be called once `line` is set.
  void Start() {
    reach = line.bounds;
    first.polygon = {};
    first.passage.begin = {HUGE_VAL, HUGE_VAL};
    is_undecided = false;
    is_none = false;
  }
  // Returns the end of the part of the line in which a better hit may be.
  double end() const { return first.is_none() ? line.t_max : first.passage.begin.high; }

  Line line{Segment{}};
  Box reach;            // bounds of the part to search; empty once the search is over
  FastCandidate first;  // the first passage; none before a hit, and under ALL
  bool is_undecided = false;
  bool is_none = false;  // whether the item is no valid line
};

// Sets lines[i] to segment begin + i of the columns and starts it, for all of `lines`, 1 to
// `GridEntrants::kMost`. Sets the columns of `of` for the lines, and repeats the last line in the
// remaining lanes. Returns the segments with a coordinate that is not accepted: bit i for segment
// i.
unsigned StartSegments(const SegmentColumns& segments, size_t begin, std::span<FastLine> lines,
                       GridEntrants& of);

// The first passages of a window's lines in all polygons that they meet, for ALL: in any order, and
// some of them twice.
class FastPassages {
 public:
  static constexpr size_t kMost = 8192;

  struct Entry {
    const FastLine* line;
    FastCandidate found;
  };

  // Clears the passages, for the next window.
  void Clear() {
    entries_.reserve(kMost);
    entries_.clear();
  }
  // Adds a passage. Returns false if `kMost` passages are stored already.
  bool Add(const FastLine& line, const Polygon& polygon, const FastPassage& passage) {
    if (entries_.size() == kMost) return false;
    entries_.push_back({&line, {Unowned(polygon), passage}});
    return true;
  }
  // Sorts the passages by line, then by the begin of the passage, then by the polygon's id, and
  // removes duplicates. Counts the work.
  void Sort(WorkMeter& meter);
  // Returns the passages of a line after `Sort`. They begin at index `at`, and `at` becomes the
  // index after them.
  std::span<const Entry> Of(const FastLine& line, size_t& at) const;

 private:
  std::vector<Entry> entries_;
};

// Returns whether the intervals determine the order in which sorted passages begin. The polygons'
// ids determine the order of passages that contain the line's start.
bool AreInOrder(std::span<const FastPassages::Entry> passages);

// A line that goes down the trees, and its part that is searched.
struct FastSlot {
  FastLine* line;
  LineInterval interval;
};

// The arguments for testing lines against polygons from the trees.
struct FastVisit {
  const SceneIndex& scene;
  const CastOptions& options;
  FastSlot* slots;  // indexed by the line numbers of pairs
  LineCull* culls;  // indexed by the line numbers of pairs
  WorkMeter& meter;
  FastPassages* all;  // the passages under ALL
};

// Tests lines against the polygons that they may meet, and narrows the lines. Each pair counts as
// one unit of work, and so does each vertex that is compared with a line.
void VisitFastPairs(const Frontier& pairs, const FastVisit& visit);

// The arguments for testing lines that walk over the cells of a grid against polygons.
struct FastCells {
  const CastOptions& options;
  FastLine* lines;  // indexed by the walk numbers of pairs
  GridWalk* walks;  // indexed by the walk numbers of pairs
  WorkMeter& meter;
  FastPassages* all;  // the passages under ALL
};
void VisitFastPairs(const GridPairs& pairs, const FastCells& visit);

// A hit of a line, and the answer to write it to.
struct FastHit {
  const FastLine* line;
  const FastCandidate* found;
  CastHit* hit;  // default-constructed
};

// Measures hits: in lanes where all roundings are certain, else as MeasureHit does.
void MeasureFastHits(std::span<const FastHit> hits, CastDetail detail);

// Returns the direction of the line after a measured hit; zero if the hit's normal is zero.
Vec2 ReflectionOf(const FastHit& hit);

}  // namespace carom::internal
