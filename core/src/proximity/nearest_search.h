// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon is nearest to a point, where a scene's cells and filters can decide?
//
// Searches the point's own cell first, then the cells within the least distance found so far.
// Polygons compare by the bounds of edge_bounds.h. A point is undecided, and falls back to
// `DistanceQuery`, if these bounds overlap, if the point may touch a polygon, if a polygon is
// unsuited to these bounds, or if the square has no cells.
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

enum class NearestVerdict : uint8_t { kNone, kInside, kOutside, kUndecided };

// A point, and its nearest polygon.
struct NearestItem {
  Vec2 point;      // NaN for an item that is no point
  Bounds2 reach2;  // bounds of the squared search distance
  // The point's cell.
  const GridBlock* block;  // null if the point is in no square with cells
  double x, y;             // position in cells, from the corner of the block
  double in_x, in_y;       // position in cells, from the corner of the cell
  int32_t cell;
  std::array<int32_t, 2> square;
  // The nearest polygon, unless the verdict is kNone or kUndecided. Under kInside the point is
  // inside the polygon and apart from its edges.
  NearestVerdict verdict;
  Unowned<Polygon> polygon;
  uint64_t edges;  // bit i: edge i may be nearest
};

inline constexpr size_t kMostNearestItems = 32;

// Finds the nearest polygon of each of at most kMostNearestItems points, among the polygons that
// pass `mask`. Each box and edge counts as one unit.
void FindNearest(const SceneIndex& scene, uint64_t mask, std::span<NearestItem> items,
                 WorkMeter& meter);

}  // namespace carom::internal
