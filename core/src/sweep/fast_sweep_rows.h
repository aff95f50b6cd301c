// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the answer rows (fraction, point, normal) of the touches that the fast path of sweeps
// finds computed?
//
// Rows are computed several at a time in SIMD lanes, in pairs of doubles with error bounds. If the
// rounding of a value is not certain, the exact search computes the row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/polygon.h"
#include "carom/sweep.h"
#include "sweep/fast_touch.h"

namespace carom::internal {

// Touches of moving shapes and polygons in columns, for SIMD: entry i of each column belongs to
// touch i. Each moving shape is displaced by (d_x, d_y) and has the radius `radius`. The fraction
// of the path, the normal and the point of each touch are computed results.
struct alignas(64) TouchColumns {
  static constexpr size_t kMost = 32;
  using Column = std::array<double, kMost>;

  // The edge that the touching vertex meets, from a to b; an edge of the moving shape is reversed.
  // Unset if two vertices touch.
  Column a_x{}, a_y{}, b_x{}, b_y{};
  // The two vertices that touch. If a vertex touches an edge, that vertex and the edge's first
  // vertex.
  Column fixed_x{}, fixed_y{}, moving_x{}, moving_y{};
  Column d_x{}, d_y{}, radius{};
  // The point is the moving vertex displaced by `fraction` times the displacement (d_x, d_y), minus
  // the radius times the normal.
  Column fraction, normal_x, normal_y, point_x, point_y;
  // bit i is set if the rounding of all results of touch i is certain
  uint32_t certain = 0;
  size_t count = 0;
};

// Stores the touches of up to `kMost` items (sweeps of a batch) and computes their answer rows: the
// fraction of the path, the point and the normal of each touch. Not thread-safe.
class FastSweepRows {
 public:
  static constexpr size_t kMost = TouchColumns::kMost;

  void Clear() { edges_.count = vertices_.count = 0; }
  // Adds the touch of item k in [0, kMost); at most once per item after `Clear`. Keeps references
  // to `polygon`, `mover` and `touch`.
  void Add(size_t k, const Polygon& polygon, const SweptMover& mover, const FastTouch& touch);
  // Computes fraction, normal and point of all touches added since `Clear`.
  void Measure();
  // Sets the answer row of item k. Returns false if the rounding of a result is not certain.
  bool Row(size_t k, SweepHit& hit) const;

 private:
  struct Source {
    const Polygon* polygon;
    const SweptMover* mover;
    const FastTouch* touch;
    size_t at;  // index of the touch in `edges_` or `vertices_`
  };

  std::array<Source, kMost> sources_;
  TouchColumns edges_;
  TouchColumns vertices_;
};

}  // namespace carom::internal
