// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which cells of a scene's grid does a line pass, one after the other?
//
// A `GridWalk` is a line at a cell. `StepWalks` takes many of them one cell further each and names
// the polygons whose boxes there their lines may meet: whoever looks at these narrows the lines
// that hit, and steps again. No stack, and no branch for a cell but where a square ends.
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

// A line at a cell that it has not looked at yet.
//
// The line and the box that holds it are kept in units of the cell. With a and b the components of
// the line's normal, the larger of which is 1 in magnitude, and s = a x + b y for the points of the
// line, a box meets the line only if the least of a x + b y over its corners is at most s and the
// greatest at least s: one corner for each, which the signs of a and b say. With boxes as cells
// have them both become: |a| of one column and |b| of another one are at most a bound. These two
// bounds are `upper` and `lower`, in 1/16 of a unit; all six change by constants from cell to cell.
//
// What rounding adds to the bounds, in 1/16 of a unit, in a square of n cells along a side: a and b
// are within 2^-16, so that 255 n units make n / 8 for both; the constants are within 1/2, at most
// 2 n times, which makes n; a bound is cut off to a whole number, 1. Products are cut off to less,
// which lets more pass. The place of a line in its square is within 0.01 of a unit, which the
// margin of cells has room for. So 5/4 n + 8 is enough.
struct alignas(64) GridWalk {
  enum : size_t { kMaxX, kMaxY, kBelowX, kBelowY, kUpper, kLower, kBoundCount = 8 };
  using Bounds = std::array<int16_t, kBoundCount>;
  static constexpr double kParts = 16;  // of a unit, in `kUpper` and `kLower`

  // Whether the line has no more cells.
  bool is_over() const { return cell == nullptr; }
  bool leaves_square() const { return (left[0] | left[1]) < 0; }

  alignas(16) Bounds bounds;
  alignas(16) std::array<Bounds, 2> change;  // at a step along x, respectively y
  std::array<double, 2> next;                // the parameter of the line where it takes that step
  std::array<double, 2> pace;                // from one such step to the next
  std::array<int16_t, 2> left;               // steps within the square
  std::array<int16_t, 2> stride;             // of cells
  std::array<int16_t, 2> normal;             // 2^15 |a|, 2^15 |b|
  std::array<uint8_t, 2> upper;  // where a cell has the columns of the upper corner, in bytes
  std::array<uint8_t, 2> lower;
  double at;              // where it enters the cell
  double end;             // beyond this nothing matters
  const GridCell* cell;   // null for none
  const GridCell* first;  // the same, or the one whose links lead to it
  const GridBlock* block;
  CellPolygons polygons;  // of the block
  std::array<int32_t, 2> square;
  bool leaves_to_trees;  // whether it is over for a square that has no cells
};

// Pairs of a line and the number of a polygon, in the square that the line's walk is in.
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

// Walks under way, by their numbers.
struct GridWalks {
  GridWalk* walks;
  size_t count = 0;  // of those that are not over
  std::array<uint16_t, GridPairs::kMostWalks> live;
};

// Names the polygons that the live walks may meet in their cells, and takes each walk on to its
// next cell, which may be outside of its square.
void StepWalks(GridWalks& walks, GridPairs& pairs);

}  // namespace carom::internal
