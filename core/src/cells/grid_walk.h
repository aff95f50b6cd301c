// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which cells of a scene's grid does a line pass, one after the other?
//
// A `GridWalk` is a line at a cell. `StepWalks` lists, for many walks at once, the polygons of the
// cell that the line may meet by their boxes, and moves each walk by one cell. The caller tests
// these polygons, shortens the lines that hit, and steps again. A step uses no stack, and branches
// only where a square ends.
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

// A line at a cell, before the polygons of the cell are listed.
//
// The line and its bounding box are kept in units of the cell. Let a and b be the components of the
// line's normal, scaled so that the larger one is 1 in magnitude, and s = a x + b y for the points
// of the line. A box meets the line only if the least a x + b y over its corners is at most s and
// the greatest is at least s; the signs of a and b decide which corners these are. For boxes as
// cells store them, both conditions become: |a| times one column plus |b| times another column is
// at most a bound. The bounds of both conditions are `kUpper` and `kLower`, in 1/16 of a unit. All
// six bounds change by constants from cell to cell.
//
// What rounding adds to the bounds, in 1/16 of a unit, in a square of n cells along a side: a and b
// are within 2^-16, so that 255 n units add n / 8 for both. The constants are within 1/2 and are
// added at most 2 n times, which adds n. A bound is truncated to a whole number, which adds 1.
// Products are truncated downwards, which only lets more boxes pass. The place of a line in its
// square is within 0.01 of a unit, for which the margin of cells has room. So 5/4 n + 8 is enough.
struct alignas(64) GridWalk {
  enum : size_t { kMaxX, kMaxY, kBelowX, kBelowY, kUpper, kLower, kBoundCount = 8 };
  using Bounds = std::array<int16_t, kBoundCount>;
  static constexpr double kParts = 16;  // `kUpper` and `kLower` are in these parts of a unit

  // Returns whether the line has no more cells.
  bool is_over() const { return cell == nullptr; }
  bool leaves_square() const { return (left[0] | left[1]) < 0; }

  alignas(16) Bounds bounds;
  // the change of `bounds` at a step along x, and along y
  alignas(16) std::array<Bounds, 2> change;
  std::array<double, 2> next;   // the parameters of the line at its next step along x, and along y
  std::array<double, 2> pace;   // the parameter from one such step to the next
  std::array<int16_t, 2> left;  // steps along x and y that are left within the square
  std::array<int16_t, 2> stride;  // the change of `first` at a step along x, and along y
  std::array<int16_t, 2> normal;  // 2^15 |a|, 2^15 |b|
  std::array<uint8_t, 2> upper;   // offsets of the cell's columns for the upper corner, in bytes
  std::array<uint8_t, 2> lower;
  double at;              // the parameter where the line enters the cell
  double end;             // the parameter beyond which hits do not matter
  const GridCell* cell;   // the current cell; null if the walk is over
  const GridCell* first;  // `cell`, or the cell whose links lead to it
  const GridBlock* block;
  CellPolygons polygons;  // the polygons of `block`
  std::array<int32_t, 2> square;
  bool falls_back_to_trees;  // whether the walk is over because a square has no cells
};

// Pairs of a walk and the number of a polygon in the walk's square.
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

// Walks in progress. `active` has the indices of the walks that are not over.
struct GridWalks {
  GridWalk* walks;
  size_t count = 0;  // number of active walks
  std::array<uint16_t, GridPairs::kMostWalks> active;
};

// Lists the polygons that the active walks may meet in their cells, and moves each walk to its next
// cell, which may be outside of its square.
void StepWalks(GridWalks& walks, GridPairs& pairs);

}  // namespace carom::internal
