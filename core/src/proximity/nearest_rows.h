// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the answer rows (distance, nearest point, nearest edge) of points and their nearest
// polygons, for points that are apart from the polygons. Computes several rows at a time, in
// vectors; a row whose rounding is uncertain is computed alone, by `Clearance` and `NearestPoint`.
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

// A point, its nearest polygon, the edges that may be nearest to the point (bit i: edge i), and the
// index of the answer row.
struct NearestPair {
  Vec2 point;
  Unowned<Polygon> polygon;
  uint64_t edges;
  uint32_t row;
};

// Several points p and the vertex or line of a polygon nearest to each, in columns: a vertex a
// between its neighbours b and c, or the line from a to b. Also the columns of the results: the
// distance and the nearest point (x, y).
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
  unsigned certain;  // bit i: the results in lane i are certainly rounded correctly
  std::array<NearestPair, kMost> pairs;
  size_t count = 0;
};

// Collects pairs of a point and its nearest polygon, and computes their answer rows several at a
// time.
class NearestRows {
 public:
  // Appends to `rows` the row with the index `pair.row`, which may be incomplete until `Flush`.
  // Returns false and appends nothing if `pair.edges` is neither one edge nor two edges with a
  // common vertex: then this class cannot decide which edge is nearest.
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
