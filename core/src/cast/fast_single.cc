// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Casts a single line by a walk over the cells of the scene's grid. A batch casts several lines in
// the lanes of a vector and overlaps their prefetches; a single line needs neither.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cast/fast_batch.h"
#include "cast/fast_line.h"
#include "cells/grid_entrance.h"
#include "cells/grid_walk.h"
#include "index/scene_index.h"
#include "numeric/double_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/fast_single.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/fast_visit.h"
#include "cells/grid_step.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// The least number of units of work that `WalkSquare` reports to the meter by one call within a
// square of the grid (each square is divided into cells), since a call at each cell would take
// longer.
constexpr size_t kUnitsAtOnce = 128;

// Moves the line from cell to cell of a square of the scene's grid, and tests the polygons that
// each cell lists, until the line leaves the square or the walk is over. Returns whether the line
// leaves the square and the walk continues.
bool WalkSquare(const FastCells& cells) {
  GridWalk& walk = *cells.walks;
  const LineInCells line{cells, 0};
  size_t units = 0;
  for (size_t i = 0; i < walk.block->wide_count(); ++i) {
    units += 1 + Visit(line, walk.block->wide(i).get());
  }
  while (true) {
    const GridCell& cell = *walk.cell;
    unsigned bits = Meeting(walk);
    Step(walk);
    __builtin_prefetch(walk.cell);
    units += GridCell::kWidth;
    for (unsigned rest = bits; rest != 0; rest &= rest - 1) {
      PrefetchPolygon(walk.polygons.MemoryOf(cell.items[std::countr_zero(rest)]));
    }
    for (; bits != 0; bits &= bits - 1) {
      units += 1 + Visit(line, walk.polygons.At(cell.items[std::countr_zero(bits)]).get());
    }
    const bool is_over = walk.at > walk.end;
    if (is_over || walk.leaves_square()) return cells.meter.Spend(units) && !is_over;
    if (units < kUnitsAtOnce) continue;
    if (!cells.meter.Spend(units)) return false;
    units = 0;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(WalkSquare);

// Returns `values` with 0 in place of magnitudes below kSmallestMagnitude, as `Normalized` for
// doubles does.
inline Lanes Normalized(Lanes values) {
  return Abs(values) < kSmallestMagnitude ? Lanes{} : values;
}

// Sets `line` to the first segment as the constructor of `Line` does, operation by operation, but
// with x and y in the lanes of a vector. Returns false and sets nothing if a coordinate is not
// accepted (not finite, or above 2^53 in magnitude).
inline bool ReadSegment(const SegmentColumns& segments, Line& line) {
  const Lanes given_a{segments.ax[0], segments.ay[0]};
  const Lanes given_b{segments.bx[0], segments.by[0]};
  const uint32_t are_accepted =
      SignBits(Abs(given_a) <= kMaxCoordinate) & SignBits(Abs(given_b) <= kMaxCoordinate);
  if (are_accepted != 3) return false;
  const Lanes a = Normalized(given_a);
  const Lanes b = Normalized(given_b);
  const TwoLanes d = TwoDiff(b, a);
  Store(a, line.origin);
  line.dx = {d.high[0], d.low[0]};
  line.dy = {d.high[1], d.low[1]};
  Store(Min(a, b), line.bounds.min);
  Store(Max(a, b), line.bounds.max);
  return true;
}

// Casts a line by a walk over the cells of the scene's grid: squares, each divided into cells,
// which list polygons. `out` must be empty except for the count of the line's hits, which is 0.
[[gnu::always_inline]] inline SingleEnd CastLine(const SceneIndex& index,
                                                 const CastOptions& options, FastLine& line,
                                                 CastAnswers& out, WorkMeter& meter) {
  GridWalk walk;
  const FastCells cells{options, &line, &walk, meter, nullptr};
  const GridEntrance entrance(index, meter);
  entrance.StartOne(line.line, walk);
  while (!walk.is_over() && HWY_DYNAMIC_DISPATCH(WalkSquare)(cells)) {
    entrance.EnterNextSquare(line.line, walk);
  }
  if (meter.stopped()) return SingleEnd::kAnswered;
  if (line.is_undecided) return SingleEnd::kUndecided;
  if (walk.falls_back_to_trees) return SingleEnd::kNeedsTrees;
  if (line.first.is_none()) return SingleEnd::kAnswered;
  out.counts[0] = 1;
  if (options.mode == CastMode::kAny || !meter.SpendRows(1) || !meter.Spend(4)) {
    return SingleEnd::kAnswered;
  }
  const FastHit hit{&line, &line.first, &out.hits.emplace_back()};
  MeasureFastHits({&hit, 1}, options.detail);
  if (options.reflect) out.reflections.push_back(ReflectionOf(hit));
  return SingleEnd::kAnswered;
}

}  // namespace

SingleEnd CastFastSingle(const Scene& scene, const CastOptions& options, const FastSource& source,
                         CastAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.push_back(0);
  if (!meter.Spend(1)) return SingleEnd::kAnswered;
  if (source.segments != nullptr) {
    FastLine line;
    if (ReadSegment(*source.segments, line.line)) {
      line.Start();
      return CastLine(scene.index(), options, line, out, meter);
    }
  }
  FastLine line;
  if (!source.line_of(0, line.line)) return SingleEnd::kAnswered;
  line.Start();
  return CastLine(scene.index(), options, line, out, meter);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
