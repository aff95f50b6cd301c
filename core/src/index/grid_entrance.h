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

#include "index/grid_walk.h"
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

  // Puts the walks of lines where they enter the grid. They are over if they do not, or if they
  // leave it to the trees. All lanes are set, of those without a walk to anything.
  void Start(GridEntrants& of) const;
  // Puts walks that leave their squares, at most kMost, into the next ones; `lines` are by the
  // numbers of walks. Likewise over if there is none.
  template <class LineOf>
  void Leave(GridWalk* walks, const uint16_t* which, size_t count, const LineOf& line_of) const {
    GridEntrants of;
    for (size_t i = 0; i < GridEntrants::kMost; ++i) {
      const uint16_t at = which[i < count ? i : 0];
      of.Set(i, line_of(at), walks[at].at);
      of.walks[i] = i < count ? &walks[at] : nullptr;
      if (i < count) NextSquare(*of.walks[i]);
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
  void NextSquare(GridWalk& walk) const;
  const GridBlock* FindSquare(GridWalk& walk) const;
  void Enter(GridEntrants& of) const;
  void EnterOne(const Line& line, GridWalk& walk) const;

  const SceneIndex& scene_;
  const SceneGrid& grid_;
  WorkMeter& meter_;
};

// Null where there is none, or one without cells, or the work has stopped: then the walk is over.
inline const GridBlock* GridEntrance::FindSquare(GridWalk& walk) const {
  const auto [x, y] = walk.square;
  walk.cell = nullptr;
  if (x < 0 || y < 0 || x >= grid_.width() || y >= grid_.height()) return nullptr;
  const GridBlock* const block = grid_.block(scene_, x, y, meter_);
  if (block == nullptr || block->is_even()) return block;
  walk.leaves_to_trees = true;
  return nullptr;
}

}  // namespace carom::internal
