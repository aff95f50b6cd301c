// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Puts the walk (grid_walk.h) of a single line at its first cell in a square of the scene's grid.
// Computes what grid_entrance.cc computes for four lines, with x and y in the lanes of a vector.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cells/grid_entrance.h"
#include "numeric/double_lanes.h"

// Highway compiles this file once for each instruction set; the part up to `#endif` only once.
#ifndef CAROM_CORE_SRC_GRID_ENTER_ONE_CC_
#define CAROM_CORE_SRC_GRID_ENTER_ONE_CC_
namespace carom::internal {
namespace {

// A `GridWalk` moves a line from cell to cell of the scene's grid, and a polygon's box in a cell
// may meet the line only if the numbers of the box are at most the bounds of the walk. Returns the
// changes of the bounds kMaxX, kMaxY, kBelowX and kBelowY at a step to an adjacent cell, packed as
// numbers of 16 bits. In the tables below, entry 0 is a step towards lesser coordinates, and entry
// 1 a step towards greater coordinates.
constexpr uint64_t Changes(int64_t max_x, int64_t max_y, int64_t below_x, int64_t below_y) {
  const auto at = [](int64_t value, int place) {
    return static_cast<uint64_t>(value & 0xffff) << (16 * place);
  };
  return at(max_x, 0) | at(max_y, 1) | at(below_x, 2) | at(below_y, 3);
}
using TwoWords = uint64_t __attribute__((vector_size(16)));
constexpr int64_t kUnits = GridCell::kUnits;
constexpr uint64_t kChangeX[] = {Changes(kUnits, 0, -kUnits, 0), Changes(-kUnits, 0, kUnits, 0)};
constexpr uint64_t kChangeY[] = {Changes(0, kUnits, 0, -kUnits), Changes(0, -kUnits, 0, kUnits)};

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cells/grid_enter_one.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Writes all eight bounds of a `GridWalk`, four in each of the two words, by one store of 16 bytes,
// since a load of 16 bytes soon after two stores of 8 bytes would wait until both stores have
// reached the cache.
HWY_INLINE void Put(uint64_t first, uint64_t last, GridWalk::Bounds& to) {
  const TwoWords words{first, last};
  std::memcpy(to.data(), &words, sizeof words);
}

// Sets the bounds of a walk (a line that moves from cell to cell of the scene's grid) and the
// changes of these bounds at a step to an adjacent cell, as `EnterLanes` (grid_entrance.cc) does.
// The walk is in the cell with the lower corner `from`; `within` is the walk's position relative to
// `from`, in sides of the cell.
HWY_INLINE void SetBounds(const Line& line, Lanes within, Lanes from, GridWalk& walk) {
  constexpr double kAll = kUnits * GridWalk::kParts;
  const GridBlock::Frame& frame = walk.block->frame();
  const double units = double{kUnits} * frame.cells_per_length;
  const Lanes far{32000, 32000};
  const Lanes max = Min((ToLanes(line.bounds.max) - from) * units + 1.5, far);
  const Lanes below = Min((from - ToLanes(line.bounds.min)) * units + (kUnits + 1.5), far);
  const Lanes reach = Max(max, -far);
  const Lanes reach_below = Max(below, -far);
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  const double scale = 32767 / std::max({std::abs(dx), std::abs(dy), 0x1p-1000});
  const auto whole_a = static_cast<int>(32768.5 - dy * scale) - 32768;
  const auto whole_b = static_cast<int>(32768.5 + dx * scale) - 32768;
  const Lanes n = Lanes{double(whole_a), double(whole_b)} * (kAll * 0x1p-15);
  const Lanes product = n * within;
  const double s = product[0] + product[1];
  const Lanes positive = Max(n, Lanes{});
  const Lanes negative = n - positive;
  const double slack = 1.25 * walk.block->cells_along() + 8;
  const auto whole = [](double value) { return static_cast<int64_t>(value); };
  const auto nearest = [](double value) { return static_cast<int>(value + 32768.5) - 32768; };
  // Packs a change of the bound kUpper, and its negation for kLower, side by side.
  const auto both = [](int change) { return Changes(change, -change, 0, 0); };
  Put(Changes(whole(reach[0]), whole(reach[1]), whole(reach_below[0]), whole(reach_below[1])),
      Changes(whole(positive[0] + positive[1] - s + slack),
              whole(s - (negative[0] + negative[1]) + slack), 0, 0),
      walk.bounds);
  Put(kChangeX[dx >= 0], both(nearest(dx >= 0 ? n[0] : -n[0])), walk.change[0]);
  Put(kChangeY[dy >= 0], both(nearest(dy >= 0 ? n[1] : -n[1])), walk.change[1]);
  walk.normal = {static_cast<int16_t>(std::abs(whole_a)), static_cast<int16_t>(std::abs(whole_b))};
  const uint32_t columns =
      0x08001810u ^ (whole_a < 0 ? 0x00100010u : 0) ^ (whole_b < 0 ? 0x10001000u : 0);
  std::memcpy(walk.upper.data(), &columns, sizeof columns);
}

// Puts the walk (a line that moves from cell to cell) at the first cell that the line enters in
// `walk.square`, a square of the scene's grid, which is divided into cells. Computes what
// `EnterLanes` (grid_entrance.cc) computes, with x and y in the lanes of a vector.
void EnterAlone(const Line& line, GridWalk& walk) {
  const GridBlock* const block = walk.block;
  walk.polygons = block->polygons();
  const GridBlock::Frame& frame = block->frame();
  const int along = block->cells_along();
  const double t = walk.at;
  const Lanes d{line.dx.high, line.dy.high};
  const Lanes corner{frame.corner_x, frame.corner_y};
  const Lanes most{double(along), double(along)};
  const Lanes place =
      Min(Max((ToLanes(line.origin) + d * t - corner) * frame.cells_per_length, Lanes{}), most);
  const int x = std::min(static_cast<int>(place[0]), along - 1);
  const int y = std::min(static_cast<int>(place[1]), along - 1);
  walk.first = walk.cell = block->cells() + ptrdiff_t{y} * along + x;
  __builtin_prefetch(walk.cell);
  const Lanes cell{double(x), double(y)};
  const Lanes within = place - cell;
  const Lanes rest = d >= 0.0 ? 1.0 - within : within;
  const Lanes pace = frame.cell_side / Abs(d);
  const Lanes next = d == 0.0 ? Lanes{HUGE_VAL, HUGE_VAL} : t + rest * pace;
  walk.next = {next[0], next[1]};
  walk.pace = {pace[0], pace[1]};
  const bool right = d[0] >= 0;
  const bool up = d[1] >= 0;
  const auto whole = [](auto value) { return static_cast<int16_t>(value); };
  walk.left = {whole(right ? along - 1 - x : x), whole(up ? along - 1 - y : y)};
  walk.stride = {whole(right ? 1 : -1), whole(up ? along : -along)};
  SetBounds(line, within, corner + cell * frame.cell_side, walk);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(EnterAlone);

}  // namespace

void GridEntrance::StartOne(const Line& line, GridWalk& walk) const {
  walk.end = line.t_max;
  walk.falls_back_to_trees = false;
  walk.cell = nullptr;
  walk.at = line.t_min;
  const Lanes origin = ToLanes(line.origin);
  const Lanes d{line.dx.high, line.dy.high};
  const Lanes place = (origin + d * walk.at - ToLanes(grid_.corner())) * grid_.squares_per_length();
  const Lanes size = ToLanes(grid_.size());
  const uint32_t inside =
      SignBits(Abs(origin) <= grid_.farthest()) & SignBits(place >= 0.0) & SignBits(place < size);
  if (inside == 3) {
    walk.square = {static_cast<int32_t>(place[0]), static_cast<int32_t>(place[1])};
  } else if (!FindOutside(line, walk)) {
    return;
  }
  walk.block = nullptr;
  EnterOne(line, walk);
}

void GridEntrance::EnterOne(const Line& line, GridWalk& walk) const {
  if (SquareOf(walk) != nullptr) HWY_DYNAMIC_DISPATCH(EnterAlone)(line, walk);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
