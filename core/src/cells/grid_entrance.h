// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do lines enter the squares of a scene's grid?
//
// A `GridWalk` (grid_walk.h) moves a line from cell to cell within a square of the grid. The
// functions here put a walk at its first cell when its line enters the grid or the next square:
// four lines at a time, in the lanes of a vector, or a single line.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cells/grid_walk.h"
#include "index/scene_index.h"
#include "numeric/double_column.h"
#include "shape/line.h"

namespace carom::internal {

// Up to `kMost` lines that enter squares of the scene's grid, which are divided into cells. A walk
// (`GridWalk`) moves a line from cell to cell within a square. Each value is a column (an array
// with one element for each line), so that a vector loads the value of several lines at once.
struct alignas(64) GridEntrants {
  static constexpr size_t kMost = kMaxLanes;
  using Column = DoubleColumn;
  using Words = std::array<int32_t, kMost>;

  // Sets element i of the columns to the values of `line`, which enters its square at parameter t.
  void Set(size_t i, const Line& line, double t);
  // Returns a line with the origin, direction and parameter range of line i, which suffice to
  // compute where line i enters the grid.
  Line LineAt(size_t i) const;

  // The values of the lines: origin, direction and bounding box as in `Line`; `at` is the parameter
  // where a line enters its square, and `end` the `t_max` of the line.
  Column x, y, dx, dy, min_x, min_y, max_x, max_y;
  Column at, end;
  // The squares of the grid that the lines enter: corner and cell size; the number of cells along a
  // side; and the indices of the square along x and y in the grid.
  alignas(32) std::array<GridBlock::Frame, kMost> squares;
  Column cells_along;
  Words square_x, square_y;
  std::array<GridWalk*, kMost> walks;  // the walk of each line; null: the element has no line
  unsigned inside;                     // bit i: line i begins inside the grid
};

// Finds the squares of a scene's grid that lines enter, and puts the walks of the lines at their
// first cells in these squares. A square is divided into cells, which list polygons, and a walk
// (`GridWalk`) moves its line from cell to cell within a square. The grid must not be empty.
class GridEntrance {
 public:
  // `meter` must outlive the `GridEntrance`.
  GridEntrance(const SceneIndex& scene, WorkMeter& meter)
      : scene_(scene), grid_(scene.grid()), meter_(meter) {}

  // Sets, for each line with a walk, the square of the grid where the line begins or enters the
  // grid, and prefetches the square. The caller must have set all elements of `entrants` by
  // `GridEntrants::Set`; an element whose walk is null may have any line.
  void Place(GridEntrants& entrants) const;
  // Puts the walks at their first cells in the squares that `Place` or `NextSquare` has set. A walk
  // is over (`GridWalk::is_over`) if its square is outside of the grid or has no cells, or if the
  // meter stops the work before the cells are built.
  void Enter(GridEntrants& entrants) const;
  // Sets the square of a walk to the adjacent square, beyond the side where the line of the walk
  // leaves its square. `walk.block` becomes null if the adjacent square is outside of the grid, or
  // if no query has built the cells of that square yet.
  void NextSquare(GridWalk& walk) const;
  // Puts `count` walks, at most `GridEntrants::kMost`, at their first cells in the squares that
  // `NextSquare` has set. `which` has the indices of these walks in `walks`, and line_of(i) returns
  // the line of walk i.
  template <class LineOf>
  void EnterNext(GridWalk* walks, const uint16_t* which, size_t count,
                 const LineOf& line_of) const {
    GridEntrants entrants;
    for (size_t i = 0; i < GridEntrants::kMost; ++i) {
      const uint16_t at = which[i < count ? i : 0];
      entrants.Set(i, line_of(at), walks[at].at);
      entrants.walks[i] = i < count ? &walks[at] : nullptr;
    }
    Enter(entrants);
  }
  // Finds the square where a single line begins or enters the grid, and puts its walk at the first
  // cell.
  void StartOne(const Line& line, GridWalk& walk) const;
  void EnterNextSquare(const Line& line, GridWalk& walk) const {
    NextSquare(walk);
    EnterOne(line, walk);
  }

 private:
  bool Clip(const Line& line, double& at) const;
  bool FindOutside(const Line& line, GridWalk& walk) const;
  bool HasSquare(const GridWalk& walk) const {
    const auto [x, y] = walk.square;
    return x >= 0 && y >= 0 && x < grid_.width() && y < grid_.height();
  }
  const GridBlock* SquareOf(GridWalk& walk) const;
  void EnterOne(const Line& line, GridWalk& walk) const;

  const SceneIndex& scene_;
  const SceneGrid& grid_;
  WorkMeter& meter_;
};

// A walk moves a line from cell to cell of the grid's squares. Returns the block (the cells and
// polygons) of the walk's square: `walk.block` if it is set, else the block of the grid, which is
// built if necessary. Returns null, which ends the walk, if the square is outside of the grid, if
// it has no cells and the line must search the bounding-box trees, or if the block is not built
// because the meter has stopped the work.
inline const GridBlock* GridEntrance::SquareOf(GridWalk& walk) const {
  walk.cell = nullptr;
  if (walk.block == nullptr && HasSquare(walk)) {
    walk.block = grid_.block(scene_, walk.square[0], walk.square[1], meter_);
  }
  if (walk.block == nullptr || walk.block->has_cells()) return walk.block;
  walk.falls_back_to_trees = true;
  return nullptr;
}

}  // namespace carom::internal
