// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which cells of a scene's grid does a line pass, one after the other?
//
// The squares of the grid are divided into cells, and each cell lists the bounding boxes of the
// polygons near it (index/grid_block.h). A `GridWalk` is a line together with the cell that the
// line passes currently. `StepWalks` lists, for many walks at once, the polygons of the cell with
// boxes that the line may meet, and moves each walk by one cell. The caller tests these polygons,
// shortens the lines that hit a polygon, and steps again. A step uses no stack, and branches only
// where a square ends.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "carom/polygon.h"
#include "index/grid_block.h"
#include "index/scene_index.h"
#include "shape/line.h"

namespace carom::internal {

// A line, and the cell of the scene's grid that the line passes currently. The grid consists of
// squares, each square is divided into cells, and a cell lists the boxes of the polygons in it
// (`GridCell`). A walk moves from cell to cell within a square; `GridEntrance` moves it to the next
// square.
//
// The line and its bounding box are kept in units of the cell: 1/255 of the cell's side. Let a and
// b be the components of the line's normal, scaled so that the larger one is 1 in magnitude, and s
// = a x + b y for the points of the line. A box meets the line only if the least a x + b y over its
// corners is at most s and the greatest is at least s; the signs of a and b decide which corners
// these are. Since a cell stores the maxima of boxes as 255 minus the maximum, both conditions
// become: |a| times one column plus |b| times another column is at most a bound. The bounds of both
// conditions are `kUpper` and `kLower`, in 1/16 of a unit. All six bounds (`kMaxX` to `kLower`)
// change by constants from cell to cell.
//
// Rounding errors of the bounds, in 1/16 of a unit, in a square of n cells along a side: the
// rounded a and b err by at most 2^-16 each, which amounts to n / 8 over 255 n units. The rounded
// constants err by at most 1/2 and are added at most 2 n times, which amounts to n. A bound is
// truncated to a whole number, which amounts to 1. Products are truncated downwards, which only
// lets more boxes pass. The computed position of a line in its square errs by at most 0.01 unit,
// which `GridBlock::kMargin`, the distance at which boxes are listed in a cell, covers. So the
// bounds are enlarged by 5/4 n + 8.
struct alignas(64) GridWalk {
  enum : size_t { kMaxX, kMaxY, kBelowX, kBelowY, kUpper, kLower, kBoundCount = 8 };
  using Bounds = std::array<int16_t, kBoundCount>;
  // The bounds `kUpper` and `kLower` are in 1/kParts of a unit (1/255 of a cell's side).
  static constexpr double kParts = 16;

  // Returns whether the walk is over, so that it has no current cell.
  bool is_over() const { return cell == nullptr; }
  bool leaves_square() const { return (left[0] | left[1]) < 0; }

  alignas(16) Bounds bounds;
  // the change of `bounds` at a step to the next cell along x, and along y
  alignas(16) std::array<Bounds, 2> change;
  // the parameters t of the line at its next step to another cell along x, and along y
  std::array<double, 2> next;
  std::array<double, 2> pace;     // the difference of t between two steps along x, and along y
  std::array<int16_t, 2> left;    // the steps along x and y that remain within the square
  std::array<int16_t, 2> stride;  // the change of `first`, in cells, at a step along x, and along y
  // 2^15 |a| and 2^15 |b| for the normal (a, b) of the line, of which the larger is 1 in magnitude
  std::array<int16_t, 2> normal;
  // The byte offsets in `GridCell` of the columns x and y that |a| and |b| multiply: `upper` for
  // the bound `kUpper`, `lower` for `kLower`.
  std::array<uint8_t, 2> upper;
  std::array<uint8_t, 2> lower;
  double at;              // the parameter t where the line enters the cell
  double end;             // the parameter t of the line beyond which the caller needs no hits
  const GridCell* cell;   // the current cell; null if the walk is over
  const GridCell* first;  // first cell of the chain (`GridCell::next`) that has `cell`
  const GridBlock* block;
  CellPolygons polygons;  // finds polygons of `block` by their numbers in cells
  std::array<int32_t, 2> square;
  // Whether the walk is over because a square of the grid has no cells, so that the line must
  // search the bounding-box trees.
  bool falls_back_to_trees;
};

// Pairs of a walk (a line that moves over the cells of the scene's grid, given by its index in
// `GridWalks::walks`) and a polygon that the line may meet (given by its number in
// `GridWalk::polygons`).
struct GridPairs {
  static constexpr size_t kMostWalks = 128;
  static constexpr size_t kCapacity =
      kMostWalks * (GridCell::kWidth + GridBlock::kMostWide) + GridCell::kWidth;

  void Add(uint32_t item, uint16_t walk) {
    items[count] = item;
    walks[count++] = walk;
  }

  size_t count = 0;
  alignas(64) std::array<uint32_t, kCapacity> items;
  alignas(64) std::array<uint16_t, kCapacity> walks;
};

// Walks: lines that move from cell to cell of the scene's grid. The first `count` elements of
// `active` are the indices, in `walks`, of the active walks: those that have further cells.
struct GridWalks {
  GridWalk* walks;
  size_t count = 0;  // number of active walks
  std::array<uint16_t, GridPairs::kMostWalks> active;
};

// A walk is a line that moves from cell to cell of a square of the scene's grid. For each active
// walk, appends to `pairs` the polygons in the walk's current cell with bounding boxes that the
// walk's line may meet. Then moves the walk to its next cell. If that cell would be outside of the
// walk's square, `leaves_square()` of the walk becomes true.
void StepWalks(GridWalks& walks, GridPairs& pairs);

}  // namespace carom::internal
