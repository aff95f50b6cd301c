// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon does a line meet first, where filters can decide?
//
// A `PlainLine` keeps the first passage so far as the two edges and intervals of plain_passage.h.
// Polygons are compared by intervals alone. Where two overlap, or a filter leaves it uncertain
// whether a line meets a polygon, the line is given up at once, and left to the general path
// (general_batch.h). So nothing is decided here that rounding might decide.
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
#include "cast/plain_passage.h"
#include "cells/grid_entrance.h"
#include "cells/grid_walk.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"
#include "index/unowned.h"
#include "shape/line.h"

namespace carom::internal {

// A passage in a polygon. Where it begins inside, `begin` is the line's start.
struct PlainFound {
  bool is_none() const { return polygon->memory() == nullptr; }

  Unowned<Polygon> polygon;
  PlainPassage passage;
};

// A line, and its first passage so far.
struct alignas(64) PlainLine {
  // To be called once the line is set.
  void Start() {
    reach = line.bounds;
    first.polygon = {};
    first.passage.begin = {HUGE_VAL, HUGE_VAL};
    is_hard = false;
    is_none = false;
  }
  // Where the part of the line ends in which a better hit may be.
  double end() const { return first.is_none() ? line.t_max : first.passage.begin.high; }

  Line line{Segment{}};
  Box reach;         // holds the part that is looked at; empty once nothing is
  PlainFound first;  // none without one, and under ALL
  bool is_hard = false;
  bool is_none = false;  // for an item that is no line
};

// Sets lines[i] to segment begin + i of the columns, and starts it, for as many lines as there are,
// 1 to `GridEntrants::kMost`. Sets what entrants have of them; the last one repeats. Returns the
// segments that have a coordinate which is not accepted: bit i for segment i.
unsigned StartSegments(const SegmentColumns& segments, size_t begin, std::span<PlainLine> lines,
                       GridEntrants& of);

// The first passages in all polygons that lines of a window meet, for ALL: in any order, some
// twice.
class PlainPassages {
 public:
  static constexpr size_t kMost = 8192;

  struct Entry {
    const PlainLine* line;
    PlainFound found;
  };

  // For the next window.
  void Clear() {
    entries_.reserve(kMost);
    entries_.clear();
  }
  // Returns false where there are as many as may be.
  bool Add(const PlainLine& line, const Polygon& polygon, const PlainPassage& passage) {
    if (entries_.size() == kMost) return false;
    entries_.push_back({&line, {Unowned(polygon), passage}});
    return true;
  }
  // Sorts them by line, those of a line by where they begin and the polygon's id, without those
  // that are there twice. Counts the work.
  void Sort(WorkMeter& meter);
  // Once sorted: those of a line are the first of these. `at` is where they begin, and is moved
  // behind them.
  std::span<const Entry> Of(const PlainLine& line, size_t& at) const;

 private:
  std::vector<Entry> entries_;
};

// Whether intervals say in which order passages begin, sorted as above. Of those that hold the
// line's start the polygons' ids do.
bool AreInOrder(std::span<const PlainPassages::Entry> passages);

// A line that trees take.
struct PlainSlot {
  PlainLine* line;
  LineInterval interval;
};

// What such lines are compared with polygons for.
struct PlainVisit {
  const SceneIndex& scene;
  const CastOptions& options;
  PlainSlot* slots;  // by the numbers of pairs
  LineCull* culls;   // likewise
  WorkMeter& meter;
  PlainPassages* all;  // for ALL
};

// Looks at the polygons that lines may meet, and narrows the lines. Each pair is a unit of work,
// and so is each vertex that is compared with a line.
void VisitPlainPairs(const Frontier& pairs, const PlainVisit& visit);

// The same for lines that walk over the cells of a grid.
struct PlainCells {
  const CastOptions& options;
  PlainLine* lines;  // by the numbers of walks
  GridWalk* walks;   // likewise
  WorkMeter& meter;
  PlainPassages* all;  // for ALL
};
void VisitPlainPairs(const GridPairs& pairs, const PlainCells& visit);

// A hit of a line, and where that is written.
struct PlainHit {
  const PlainLine* line;
  const PlainFound* found;
  CastHit* hit;  // a default one
};

// Measures hits, in lanes where all roundings are certain, else as MeasureHit does.
void MeasurePlainHits(std::span<const PlainHit> hits, CastDetail detail);

// The direction of the line after a hit that is measured; zero where its normal is.
Vec2 ReflectionOf(const PlainHit& hit);

}  // namespace carom::internal
