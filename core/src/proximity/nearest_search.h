// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygon is nearest to a point, where a scene's cells and filters can decide?
//
// The own cell of the point first, then the cells within what is found so far. Polygons compare by
// the bounds of edge_bounds.h; where those overlap, where the point may touch something, for what
// these bounds are not for, and where cells do not help, it is left to `DistanceQuery`.
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

// A point, and what is found.
struct NearestItem {
  Vec2 point;      // NaN for what is no point
  Bounds2 reach2;  // of the square of how far it looks
  // Its cell.
  const GridBlock* block;  // null where cells do not help
  double x, y;             // in cells, from the corner of the block
  double in_x, in_y;       // from that of the cell
  int32_t cell;
  std::array<int32_t, 2> square;
  // The nearest polygon, unless the verdict says that there is none. Under kInside the point is
  // inside of it and apart from its edges.
  NearestVerdict verdict;
  Unowned<Polygon> polygon;
  uint64_t edges;  // bit i: edge i may be nearest
};

inline constexpr size_t kMostNearestItems = 32;

// Finds the polygons that are nearest to points, at most so many, of those that `mask` considers.
// Boxes and edges count as units.
void FindNearest(const SceneIndex& scene, uint64_t mask, std::span<NearestItem> items,
                 WorkMeter& meter);

}  // namespace carom::internal
