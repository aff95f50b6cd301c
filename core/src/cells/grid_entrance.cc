// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cells/grid_entrance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Highway compiles this file once for each instruction set; the part up to `#endif` only once.
#ifndef CAROM_CORE_SRC_GRID_ENTRANCE_CC_
#define CAROM_CORE_SRC_GRID_ENTRANCE_CC_
namespace carom::internal {
namespace {

constexpr size_t kMost = GridEntrants::kMost;

static_assert(offsetof(GridCell, min_x) == 0 && offsetof(GridCell, min_y) == 8 &&
              offsetof(GridCell, below_x) == 16 && offsetof(GridCell, below_y) == 24);
static_assert(GridBlock::kMostCells * GridBlock::kMostCells < INT16_MAX);

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cells/grid_entrance.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

using I = hn::Rebind<int32_t, D>;
using S = hn::Rebind<int16_t, D>;
using Short = hn::Vec<S>;

// Truncates numbers in the range of 32 bits, and saturates the result to 16 bits.
HWY_INLINE Short ToShort(V value) { return hn::DemoteTo(S(), hn::DemoteTo(I(), value)); }
// Rounds numbers in the range of 16 bits to the nearest integer.
HWY_INLINE hn::Vec<I> ToNearest(V value) {
  return hn::Sub(hn::DemoteTo(I(), Add(value, All(32768.5))), hn::Set(I(), 32768));
}
HWY_INLINE V Signed(Mask is_positive, V value) {
  return IfThenElse(is_positive, value, hn::Neg(value));
}

// Sets, for each line, the square of the grid where the line begins, or the nearest square if the
// line begins outside of the grid.
void PlaceAll(const SceneGrid& grid, GridEntrants& entrants) {
  entrants.inside = 0;
  const V far = All(grid.farthest());
  const V zero = All(0);
  for (size_t i = 0; i < kMost; i += hn::Lanes(D())) {
    const auto place = [&](V from, V d, double corner) {
      const V p = Sub(Add(from, Mul(d, At(entrants.at, i))), All(corner));
      return Mul(p, All(grid.squares_per_length()));
    };
    const auto square = [&](V v, int count) {
      return hn::DemoteTo(I(), Min(Max(v, zero), All(count - 1)));
    };
    const V x = place(At(entrants.x, i), At(entrants.dx, i), grid.corner().x);
    const V y = place(At(entrants.y, i), At(entrants.dy, i), grid.corner().y);
    const auto above = hn::Ge(Min(x, y), zero);
    const auto below = hn::And(hn::Lt(x, All(grid.width())), hn::Lt(y, All(grid.height())));
    const auto near = hn::Le(Max(Abs(At(entrants.x, i)), Abs(At(entrants.y, i))), far);
    entrants.inside |= BitsOf(And(near, And(above, below))) << i;
    hn::StoreU(square(x, grid.width()), I(), &entrants.square_x[i]);
    hn::StoreU(square(y, grid.height()), I(), &entrants.square_y[i]);
  }
}

// Values of one coordinate (x or y) of walks (lines that move from cell to cell) that enter squares
// of the scene's grid, which are divided into cells: the index `cell` of the first cell; `next`,
// the line's parameter at its next step to another cell; `pace`, the difference of the parameter
// between two steps; `left`, the number of steps that remain within the square; `bound` and
// `below`, the bounds that the columns `min_x` and `below_x` (for y, `min_y` and `below_y`) of a
// cell must not exceed; `is_up`, whether the line runs towards greater coordinates.
struct Axis {
  V cell;
  V within;  // position in the cell, in sides of the cell
  V next, pace;
  Short left, bound, below;
  Mask is_up;
};

// One coordinate (x or y) of lines: origin, direction, and the bounding box.
struct AxisOfLines {
  V from, d, min, max;
};

// Values of squares of the grid, which are divided into cells, that are equal for x and y: the
// length of a cell's side, the number of cells per length, and the index of the last cell along a
// side of the square.
struct Squares {
  V side, per_length, last;
};

// Computes the values of one coordinate (x or y) of the walks of lines that enter squares of the
// grid at the line parameter t; `corner` is that coordinate of the lower left corners of the
// squares. `bound` and `below`, the limits of the lines' bounding boxes in units of the cell, are
// rounded up: adding 1.5 before the truncation makes each at least 0.5 greater than the exact
// value.
HWY_INLINE Axis EnterAlong(const AxisOfLines& lines, V corner, const Squares& squares, V t) {
  const V zero = All(0);
  const V from_corner = Sub(Add(lines.from, Mul(lines.d, t)), corner);
  const V place = Min(Max(Mul(from_corner, squares.per_length), zero), Add(squares.last, All(1)));
  const V cell = Min(hn::Floor(place), squares.last);
  const V within = Sub(place, cell);
  const V pace = hn::Div(squares.side, Abs(lines.d));
  const Mask is_up = hn::Ge(lines.d, zero);
  const V next = Add(t, Mul(IfThenElse(is_up, Sub(All(1), within), within), pace));
  const V units = Mul(squares.per_length, All(GridCell::kUnits));
  const V begin = Add(corner, Mul(cell, squares.side));
  return {.cell = cell,
          .within = within,
          .next = IfThenElse(hn::Eq(lines.d, zero), All(HUGE_VAL), next),
          .pace = pace,
          .left = ToShort(IfThenElse(is_up, Sub(squares.last, cell), cell)),
          .bound = ToShort(Add(Mul(Sub(lines.max, begin), units), All(1.5))),
          .below = ToShort(Sub(All(GridCell::kUnits + 1.5), Mul(Sub(lines.min, begin), units))),
          .is_up = is_up};
}

// Values of up to kMost walks (lines that move from cell to cell of the scene's grid). Each array
// has, walk after walk, values that `GridWalk` stores side by side, so that `EnterAll` copies them
// to a walk by one memcpy.
struct alignas(64) WalkColumns {
  std::array<int16_t, 4 * kMost> reach, line, by_x, line_by_x, by_y, line_by_y, steps, normal;
  std::array<double, 4 * kMost> times;
  std::array<int32_t, kMost> columns, cell;
};

// Sets those bounds of walks (lines that move from cell to cell of the grid) that depend on the
// normals of the lines (`GridWalk::kUpper` and `kLower`), and the changes of these bounds at a step
// along x and y. `slack` covers the rounding errors of the bounds; the comment of `GridWalk`
// derives both.
HWY_INLINE void EnterNormal(const GridEntrants& entrants, size_t i, const Axis& x, const Axis& y,
                            WalkColumns& to) {
  constexpr double kAll = GridCell::kUnits * GridWalk::kParts;
  const V zero = All(0);
  const V dx = At(entrants.dx, i);
  const V dy = At(entrants.dy, i);
  const V scale = hn::Div(All(0x1p15 - 1), Max(Max(Abs(dx), Abs(dy)), All(0x1p-1000)));
  const auto whole_a = ToNearest(hn::Neg(Mul(dy, scale)));
  const auto whole_b = ToNearest(Mul(dx, scale));
  const V a = Mul(hn::PromoteTo(D(), whole_a), All(0x1p-15 * kAll));
  const V b = Mul(hn::PromoteTo(D(), whole_b), All(0x1p-15 * kAll));
  const V s = Add(Mul(a, x.within), Mul(b, y.within));
  const V slack = Add(Mul(At(entrants.cells_along, i), All(1.25)), All(8));
  const Short none = hn::Zero(S());
  const Short upper = ToShort(Add(Sub(Add(Max(a, zero), Max(b, zero)), s), slack));
  const Short lower = ToShort(Add(Sub(s, Add(Min(a, zero), Min(b, zero))), slack));
  hn::StoreInterleaved4(upper, lower, none, none, S(), &to.line[4 * i]);
  const Short by_x = hn::DemoteTo(S(), ToNearest(Signed(x.is_up, a)));
  const Short by_y = hn::DemoteTo(S(), ToNearest(Signed(y.is_up, b)));
  hn::StoreInterleaved4(by_x, hn::Neg(by_x), none, none, S(), &to.line_by_x[4 * i]);
  hn::StoreInterleaved4(by_y, hn::Neg(by_y), none, none, S(), &to.line_by_y[4 * i]);
  const Short short_a = hn::DemoteTo(S(), whole_a);
  const Short short_b = hn::DemoteTo(S(), whole_b);
  hn::StoreInterleaved2(hn::Abs(short_a), hn::Abs(short_b), S(), &to.normal[2 * i]);
  // The four bytes of an element of `to.columns` are `GridWalk::upper` and `lower`, offsets of
  // columns in a `GridCell`. If both components of the normal are positive, `upper` has the columns
  // of maxima at bytes 16 and 24, and `lower` the columns of minima at bytes 0 and 8. A negative
  // component exchanges its two columns.
  const auto negative_a = hn::And(hn::ShiftRight<31>(whole_a), hn::Set(I(), 0x00100010));
  const auto negative_b = hn::And(hn::ShiftRight<31>(whole_b), hn::Set(I(), 0x10001000));
  const auto columns = hn::Xor(hn::Set(I(), 0x08001810), hn::Xor(negative_a, negative_b));
  hn::StoreU(columns, I(), &to.columns[i]);
}

// Computes the values of as many `GridWalk`s (lines that move from cell to cell) as a vector has
// lanes, from walk i on, at the first cells that the lines enter in their squares of the grid.
// Stores the values in `to`.
HWY_INLINE void EnterLanes(const GridEntrants& entrants, size_t i, WalkColumns& to) {
  V corner_x, corner_y, side, per_length;
  hn::LoadInterleaved4(D(), &entrants.squares[i].corner_x, corner_x, corner_y, side, per_length);
  const V row = At(entrants.cells_along, i);
  const Squares squares{side, per_length, Sub(row, All(1))};
  const V t = At(entrants.at, i);
  const Axis x = EnterAlong(
      {At(entrants.x, i), At(entrants.dx, i), At(entrants.min_x, i), At(entrants.max_x, i)},
      corner_x, squares, t);
  const Axis y = EnterAlong(
      {At(entrants.y, i), At(entrants.dy, i), At(entrants.min_y, i), At(entrants.max_y, i)},
      corner_y, squares, t);
  EnterNormal(entrants, i, x, y, to);
  const Short none = hn::Zero(S());
  hn::StoreInterleaved4(x.bound, y.bound, x.below, y.below, S(), &to.reach[4 * i]);
  const Short step_x = ToShort(Signed(x.is_up, All(GridCell::kUnits)));
  const Short step_y = ToShort(Signed(y.is_up, All(GridCell::kUnits)));
  hn::StoreInterleaved4(hn::Neg(step_x), none, step_x, none, S(), &to.by_x[4 * i]);
  hn::StoreInterleaved4(none, hn::Neg(step_y), none, step_y, S(), &to.by_y[4 * i]);
  const Short stride_x = ToShort(Signed(x.is_up, All(1)));
  const Short stride_y = ToShort(Signed(y.is_up, row));
  hn::StoreInterleaved4(x.left, y.left, stride_x, stride_y, S(), &to.steps[4 * i]);
  hn::StoreInterleaved4(x.next, y.next, x.pace, y.pace, D(), &to.times[4 * i]);
  hn::StoreU(hn::DemoteTo(I(), Add(Mul(y.cell, row), x.cell)), I(), &to.cell[i]);
}

// Puts each `GridWalk` (a line that moves from cell to cell within a square of the scene's grid) at
// the cell of its square that the line enters first.
void EnterAll(GridEntrants& entrants) {
  WalkColumns from;
  for (size_t i = 0; i < kMost; i += hn::Lanes(D())) EnterLanes(entrants, i, from);
  for (size_t i = 0; i < kMost; ++i) {
    if (entrants.walks[i] == nullptr) continue;
    GridWalk& walk = *entrants.walks[i];
    const auto copy = [i](const auto& columns, auto* to, size_t count) {
      std::memcpy(to, &columns[count * i], count * sizeof(columns[0]));
    };
    copy(from.reach, &walk.bounds[0], 4);
    copy(from.line, &walk.bounds[4], 4);
    copy(from.by_x, &walk.change[0][0], 4);
    copy(from.line_by_x, &walk.change[0][4], 4);
    copy(from.by_y, &walk.change[1][0], 4);
    copy(from.line_by_y, &walk.change[1][4], 4);
    copy(from.times, walk.next.data(), 4);
    copy(from.steps, walk.left.data(), 4);
    copy(from.normal, walk.normal.data(), 2);
    copy(from.columns, walk.upper.data(), 1);
    walk.at = entrants.at[i];
    walk.first = walk.cell = walk.block->cells() + from.cell[i];
    __builtin_prefetch(walk.cell);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(PlaceAll);
HWY_EXPORT(EnterAll);

}  // namespace

void GridEntrants::Set(size_t i, const Line& line, double t) {
  x[i] = line.origin.x;
  y[i] = line.origin.y;
  dx[i] = line.dx.high;
  dy[i] = line.dy.high;
  min_x[i] = line.bounds.min.x;
  min_y[i] = line.bounds.min.y;
  max_x[i] = line.bounds.max.x;
  max_y[i] = line.bounds.max.y;
  at[i] = t;
  end[i] = line.t_max;
}

Line GridEntrants::LineAt(size_t i) const {
  Line line{Segment{{x[i], y[i]}, {x[i], y[i]}}};
  line.dx.high = dx[i];
  line.dy.high = dy[i];
  line.t_min = at[i];
  line.t_max = end[i];
  return line;
}

// Advances `at`, the parameter of the start of a line that begins outside of the grid, to where the
// line enters the grid. Returns false if the line misses the grid. Rounding may let the line enter
// slightly too late, but no polygon is missed, since all polygons are inside of the grid, at least
// a quarter of the side of a square away from its border.
bool GridEntrance::Clip(const Line& line, double& at) const {
  double end = line.t_max;
  const auto pass = [&](double from, double d, double min, double max) {
    if (d == 0) return from >= min && from <= max;
    at = std::max(at, ((d > 0 ? min : max) - from) / d);
    end = std::min(end, ((d > 0 ? max : min) - from) / d);
    return true;
  };
  const Vec2 min = grid_.corner();
  const Vec2 max = grid_.CornerOf(grid_.width(), grid_.height());
  return pass(line.origin.x, line.dx.high, min.x, max.x) &&
         pass(line.origin.y, line.dy.high, min.y, max.y) && at <= end;
}

// Sets `walk.square` to the square of the scene's grid where a line that begins outside of the grid
// enters the grid. (A square is divided into cells.) Returns false if the line misses the grid, or
// if the line begins so far away that doubles are too coarse for a walk over cells; the line then
// falls back to the bounding-box trees.
bool GridEntrance::FindOutside(const Line& line, GridWalk& walk) const {
  const double far = grid_.farthest();
  if (!(std::abs(line.origin.x) <= far && std::abs(line.origin.y) <= far)) {
    walk.falls_back_to_trees = true;
    return false;
  }
  if (!Clip(line, walk.at)) return false;
  const auto square = [&](double from, double d, double corner, int count) {
    const double p = (from + d * walk.at - corner) * grid_.squares_per_length();
    return static_cast<int32_t>(std::clamp(p, 0.0, count - 1.0));
  };
  walk.square = {square(line.origin.x, line.dx.high, grid_.corner().x, grid_.width()),
                 square(line.origin.y, line.dy.high, grid_.corner().y, grid_.height())};
  return true;
}

void GridEntrance::Place(GridEntrants& entrants) const {
  HWY_DYNAMIC_DISPATCH(PlaceAll)(grid_, entrants);
  for (size_t i = 0; i < kMost; ++i) {
    if (entrants.walks[i] == nullptr) continue;
    GridWalk& walk = *entrants.walks[i];
    walk.end = entrants.end[i];
    walk.falls_back_to_trees = false;
    walk.cell = nullptr;
    walk.square = {entrants.square_x[i], entrants.square_y[i]};
    if ((entrants.inside >> i & 1) == 0) {
      walk.at = entrants.at[i];
      const bool enters = FindOutside(entrants.LineAt(i), walk);
      entrants.at[i] = walk.at;
      if (!enters) entrants.walks[i] = nullptr;
    }
    walk.block = grid_.Fetch(walk.square[0], walk.square[1]);
  }
}

void GridEntrance::NextSquare(GridWalk& walk) const {
  const size_t axis = walk.left[0] < 0 ? 0 : 1;
  walk.square[axis] += walk.stride[axis] > 0 ? 1 : -1;
  walk.block = HasSquare(walk) ? grid_.Fetch(walk.square[0], walk.square[1]) : nullptr;
}

void GridEntrance::Enter(GridEntrants& entrants) const {
  for (size_t i = 0; i < kMost; ++i) {
    GridWalk* const walk = entrants.walks[i];
    const GridBlock* const block = walk == nullptr ? nullptr : SquareOf(*walk);
    if (block == nullptr) {
      entrants.walks[i] = nullptr;
      entrants.squares[i] = {0, 0, 1, 1};
      entrants.cells_along[i] = 1;
      continue;
    }
    walk->polygons = block->polygons();
    entrants.squares[i] = block->frame();
    entrants.cells_along[i] = block->cells_along();
  }
  HWY_DYNAMIC_DISPATCH(EnterAll)(entrants);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
