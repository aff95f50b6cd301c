// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The rows of points and the polygons nearest to them, which are apart: measured four at a time,
// where all roundings are certain, else as `Clearance` and `NearestPoint` do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/distance.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "index/unowned.h"
#include "numeric/double_column.h"

namespace carom::internal {

// A point, a polygon, and the edges that may be nearest.
struct NearestPair {
  Vec2 point;
  Unowned<Polygon> polygon;
  uint64_t edges;
  uint32_t row;
};

// Points p and what is nearest to them, by columns: the vertex a between b and c, or the line from
// a to b. And the results.
struct alignas(64) NearestColumns {
  static constexpr size_t kMost = kMostLanes;

  void Add(Vec2 a, Vec2 b, Vec2 c, const NearestPair& pair) {
    p_x[count] = pair.point.x;
    p_y[count] = pair.point.y;
    a_x[count] = a.x;
    a_y[count] = a.y;
    b_x[count] = b.x;
    b_y[count] = b.y;
    c_x[count] = c.x;
    c_y[count] = c.y;
    pairs[count++] = pair;
  }

  DoubleColumn p_x{}, p_y{}, a_x{}, a_y{}, b_x{}, b_y{}, c_x{}, c_y{};
  DoubleColumn distance, x, y;
  unsigned certain;  // bit i: those of lane i are the exact ones, rounded
  std::array<NearestPair, kMost> pairs;
  size_t count = 0;
};

class NearestRows {
 public:
  // Appends the row `pair.row`, which may be incomplete until `Flush`. Returns false, and adds
  // none, where the nearest edge is not decided: neither one alone nor two that share a vertex.
  bool Add(const NearestPair& pair, std::vector<DistanceRow>& rows);
  // Completes all rows.
  void Flush(std::vector<DistanceRow>& rows) {
    FlushVertices(rows);
    FlushLines(rows);
  }

 private:
  void FlushVertices(std::vector<DistanceRow>& rows);
  void FlushLines(std::vector<DistanceRow>& rows);

  NearestColumns vertices_;
  NearestColumns lines_;
};

}  // namespace carom::internal
