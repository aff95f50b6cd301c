// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures the rows of points and their nearest polygons, which are apart from the points: four at
// a time where all roundings are certain, else as `Clearance` and `NearestPoint` do.
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

// A point, its nearest polygon, the edges that may be nearest, and the index of the row.
struct NearestPair {
  Vec2 point;
  Unowned<Polygon> polygon;
  uint64_t edges;
  uint32_t row;
};

// The columns of points p and their nearest features: the vertex a between b and c, or the line
// from a to b. Also the columns of the results.
struct alignas(64) NearestColumns {
  static constexpr size_t kMost = kMaxLanes;

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
  unsigned certain;  // bit i: the results of lane i are certainly correctly rounded
  std::array<NearestPair, kMost> pairs;
  size_t count = 0;
};

// Collects pairs and measures them in groups.
class NearestRows {
 public:
  // Appends the row `pair.row`, which may be incomplete until `Flush`. Returns false and appends
  // nothing if the nearest edge is undecided: if neither one edge nor two edges with a shared
  // vertex remain.
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
