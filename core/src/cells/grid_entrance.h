// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do lines enter the squares of a scene's grid?
//
// Walks (grid_walk.h) begin here, and come back where they leave a square: four at a time, in the
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
  static constexpr size_t kMost = kMostLanes;
  using Column = DoubleColumn;
  using Words = std::array<int32_t, kMost>;

  // Line i, which enters at parameter t.
  void Set(size_t i, const Line& line, double t);
  // What of line i matters to where it enters.
  Line LineAt(size_t i) const;

  // What lines are, as `Line` has it.
  Column x, y, dx, dy, min_x, min_y, max_x, max_y;
  Column at, end;
  // The squares that they enter.
  alignas(32) std::array<GridBlock::Frame, kMost> squares;
  Column cells_along;
  Words square_x, square_y;
  std::array<GridWalk*, kMost> walks;  // null for none
  unsigned inside;                     // bit i: begins in the grid
};

// Of a scene whose grid is not empty.
class GridEntrance {
 public:
  // `meter` outlives it.
  GridEntrance(const SceneIndex& scene, WorkMeter& meter)
      : scene_(scene), grid_(scene.grid()), meter_(meter) {}

  // Finds the squares where lines enter the grid, and asks for their memory. All lanes are set, of
  // those without a walk to anything.
  void Place(GridEntrants& of) const;
  // Puts walks into their squares. They are over if there is none, or if it is left to the trees.
  void Enter(GridEntrants& of) const;
  // Steps over the border of the square that a walk leaves. Behind the last one there is none.
  void NextSquare(GridWalk& walk) const;
  // Puts walks, at most kMost, into the next squares; `lines` are by the numbers of walks.
  template <class LineOf>
  void EnterNext(GridWalk* walks, const uint16_t* which, size_t count,
                 const LineOf& line_of) const {
    GridEntrants of;
    for (size_t i = 0; i < GridEntrants::kMost; ++i) {
      const uint16_t at = which[i < count ? i : 0];
      of.Set(i, line_of(at), walks[at].at);
      of.walks[i] = i < count ? &walks[at] : nullptr;
    }
    Enter(of);
  }
  // The same for one line.
  void StartOne(const Line& line, GridWalk& walk) const;
  void LeaveOne(const Line& line, GridWalk& walk) const {
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

// The block of a walk, which may be found already. Null where there is none, or one without cells,
// or the work has stopped: then the walk is over.
inline const GridBlock* GridEntrance::SquareOf(GridWalk& walk) const {
  walk.cell = nullptr;
  if (walk.block == nullptr && HasSquare(walk)) {
    walk.block = grid_.block(scene_, walk.square[0], walk.square[1], meter_);
  }
  if (walk.block == nullptr || walk.block->is_even()) return walk.block;
  walk.leaves_to_trees = true;
  return nullptr;
}

}  // namespace carom::internal
