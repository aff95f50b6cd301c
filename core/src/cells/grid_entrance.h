// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do lines enter the squares of a scene's grid?
//
// Walks (grid_walk.h) begin here, and return here when they leave a square: four at a time, in the
// lanes of a vector, or alone.
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

// Lines that enter squares, by columns.
struct alignas(64) GridEntrants {
  static constexpr size_t kMost = kMaxLanes;
  using Column = DoubleColumn;
  using Words = std::array<int32_t, kMost>;

  // Sets line i, which enters at parameter t.
  void Set(size_t i, const Line& line, double t);
  // Returns a line with the values of line i that decide where line i enters.
  Line LineAt(size_t i) const;

  // The values of the lines, as in `Line`.
  Column x, y, dx, dy, min_x, min_y, max_x, max_y;
  Column at, end;
  // The squares that the lines enter.
  alignas(32) std::array<GridBlock::Frame, kMost> squares;
  Column cells_along;
  Words square_x, square_y;
  std::array<GridWalk*, kMost> walks;  // null: no line
  unsigned inside;                     // bit i: line i begins in the grid
};

// Puts walks into the squares of a scene with a grid that is not empty.
class GridEntrance {
 public:
  // `meter` must outlive the `GridEntrance`.
  GridEntrance(const SceneIndex& scene, WorkMeter& meter)
      : scene_(scene), grid_(scene.grid()), meter_(meter) {}

  // Finds the squares where lines enter the grid, and prefetches the squares. All lanes must be
  // set; a lane without a walk may have any values.
  void Place(GridEntrants& entrants) const;
  // Puts walks at their first cells. A walk is over if its square is not made, or has no cells.
  void Enter(GridEntrants& entrants) const;
  // Moves a walk to the square beyond the border where it leaves its square; the walk has no block
  // beyond the grid.
  void NextSquare(GridWalk& walk) const;
  // Puts `count` walks, at most kMost, into their next squares. line_of(i) returns the line of walk
  // i, and `which` has the indices of the walks.
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
  // Finds the square where one line enters the grid, and puts its walk at the first cell.
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

// Returns the block of the walk's square, which the walk may have already. Returns null, and the
// walk is over, if the square is outside of the grid, has no cells, or is not made because the
// meter has stopped.
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
