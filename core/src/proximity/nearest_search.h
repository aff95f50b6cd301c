// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon is nearest to a point, found by the cells of the scene's grid?
//
// A scene's grid has squares, most of which are divided into cells that list the polygons in them
// (index/grid_block.h). Searches the point's own cell first, then the cells within the least
// distance found so far. Compares polygons by bounds of their distances (edge_bounds.h), computed
// in doubles. A point is undecided, and the caller falls back to `DistanceQuery`, if the bounds of
// the two nearest polygons overlap, if the point may touch a polygon, if a polygon near the point
// is not one closed ring of at most 64 vertices, if the nearest polygon is about as far as the
// search distance, if the search reaches too many cells, or if a square that the search reaches has
// no cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "index/grid_block.h"
#include "index/scene_index.h"
#include "index/unowned.h"
#include "proximity/edge_bounds.h"
#include "shape/approach.h"

namespace carom::internal {

// What the search for the nearest polygon of a point found: no polygon within the search distance,
// the nearest polygon, with the point inside or outside, or no certain result.
enum class NearestVerdict : uint8_t { kNone, kInside, kOutside, kUndecided };

// A point, and its nearest polygon.
struct NearestItem {
  Vec2 point;      // NaN for an item that is no point
  Bounds2 reach2;  // bounds of the squared search distance
  // The next five members are the cell of the scene's grid that contains the point: the grid has
  // squares, and a square is divided into cells.
  const GridBlock* block;  // cells of the point's square; null if the square has no cells
  double x, y;             // position in the square, from its lower left corner, in sides of a cell
  double in_x, in_y;       // position in the cell, from its lower left corner, in sides of a cell
  int32_t cell;            // index in `block->cells()`
  std::array<int32_t, 2> square;  // column and row of the square in the grid
  // The nearest polygon, unless the verdict is kNone or kUndecided. Under kInside the point is
  // inside the polygon and apart from its edges.
  NearestVerdict verdict;
  Unowned<Polygon> polygon;
  uint64_t edges;  // bit i: edge i of `polygon` may be nearest
};

inline constexpr size_t kMostNearestItems = 32;

// Finds the nearest polygon of each of at most kMostNearestItems points, among the polygons with a
// category bit in `mask`. Counts one unit on `meter` for each compared box and edge.
void FindNearest(const SceneIndex& scene, uint64_t mask, std::span<NearestItem> items,
                 WorkMeter& meter);

}  // namespace carom::internal
