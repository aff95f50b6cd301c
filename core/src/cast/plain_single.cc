// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A line that comes alone walks over the cells of the grid by itself: there are no others to share
// lanes and waiting for memory with.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cast/plain_batch.h"
#include "cast/plain_line.h"
#include "index/grid_entrance.h"
#include "index/grid_walk.h"
#include "index/scene_index.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/plain_single.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/plain_visit.h"
#include "hwy/highway.h"
#include "index/grid_step.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Walks until the line leaves its square, or is over. Returns whether it leaves.
bool WalkSquare(const PlainCells& cells) {
  GridWalk& walk = *cells.walks;
  const OfCells line{cells, 0};
  for (size_t i = 0; i < walk.block->wide_count(); ++i) {
    cells.meter.Spend(1 + Visit(line, walk.polygons[i]));
  }
  do {
    const GridCell& cell = *walk.cell;
    unsigned bits = Meeting(walk);
    Step(walk);
    size_t units = GridCell::kWidth;
    for (; bits != 0; bits &= bits - 1) {
      units += 1 + Visit(line, walk.polygons[cell.items[std::countr_zero(bits)]]);
    }
    if (!cells.meter.Spend(units) || walk.at > walk.end) return false;
  } while (!walk.leaves_square());
  return true;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(WalkSquare);

// `out` is empty but for the count, which is 0.
[[gnu::always_inline]] inline SingleEnd CastLine(const SceneIndex& index,
                                                 const CastOptions& options, const Line& of,
                                                 CastAnswers& out, WorkMeter& meter) {
  PlainLine line(of);
  GridWalk walk;
  const PlainCells cells{options, &line, &walk, meter};
  const GridEntrance entrance(index, meter);
  entrance.StartOne(line.line, walk);
  while (!walk.is_over() && HWY_DYNAMIC_DISPATCH(WalkSquare)(cells)) {
    entrance.LeaveOne(line.line, walk);
  }
  if (meter.stopped()) return SingleEnd::kAnswered;
  if (line.is_hard) return SingleEnd::kHard;
  if (walk.leaves_to_trees) return SingleEnd::kByTrees;
  if (line.polygon == nullptr) return SingleEnd::kAnswered;
  out.counts[0] = 1;
  if (options.mode == CastMode::kAny || !meter.SpendRows(1) || !meter.Spend(4)) {
    return SingleEnd::kAnswered;
  }
  const PlainHit hit{&line, &out.hits.emplace_back()};
  MeasurePlainHits({&hit, 1}, options.detail);
  return SingleEnd::kAnswered;
}

}  // namespace

SingleEnd CastPlainSingle(const Scene& scene, const CastOptions& options, const PlainSource& source,
                          CastAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.push_back(0);
  if (!meter.Spend(1)) return SingleEnd::kAnswered;
  if (source.segments != nullptr) {
    const auto& [ax, ay, bx, by] = *source.segments;
    const Segment segment{{ax[0], ay[0]}, {bx[0], by[0]}};
    if (IsAccepted(segment.a) && IsAccepted(segment.b)) {
      const Segment read{Normalized(segment.a), Normalized(segment.b)};
      return CastLine(scene.index(), options, Line(read), out, meter);
    }
  }
  Line line{Segment{}};
  if (!source.line_of(0, line)) return SingleEnd::kAnswered;
  return CastLine(scene.index(), options, line, out, meter);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
