// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What are the rows of the touches that the fast path of sweeps finds, where filters can round
// them?
//
// Rows are measured several at a time, in pairs of doubles with error bounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/polygon.h"
#include "carom/sweep.h"
#include "sweep/fast_touch.h"

namespace carom::internal {

// Touches in columns, with the measures that are computed from them.
struct alignas(64) TouchColumns {
  static constexpr size_t kMost = 32;
  using Column = std::array<double, kMost>;

  // The edge that is met, from a to b; an edge of the mover runs backward. Unset where two vertices
  // meet.
  Column a_x{}, a_y{}, b_x{}, b_y{};
  // The vertices that meet; of the edge that is met, its first vertex.
  Column fixed_x{}, fixed_y{}, moving_x{}, moving_y{};
  Column d_x{}, d_y{}, radius{};
  // The touch point is the moving vertex displaced to `fraction`, less the radius along the normal.
  Column fraction, normal_x, normal_y, point_x, point_y;
  uint32_t certain = 0;  // bit i: the measures of entry i are certain
  size_t count = 0;
};

// Keeps and measures the touches of a window of items. Not thread-safe.
class FastSweepRows {
 public:
  static constexpr size_t kMost = TouchColumns::kMost;

  void Clear() { edges_.count = vertices_.count = 0; }
  // Adds the touch of item k in [0, kMost), once per item since `Clear`. Keeps references to
  // `polygon`, `mover` and `touch`.
  void Add(size_t k, const Polygon& polygon, const SweptMover& mover, const FastTouch& touch);
  // Measures all touches that were added since `Clear`.
  void Measure();
  // Sets the row of item k. Returns false where a rounding is not certain.
  bool Row(size_t k, SweepHit& hit) const;

 private:
  struct Source {
    const Polygon* polygon;
    const SweptMover* mover;
    const FastTouch* touch;
    size_t at;  // index in its `TouchColumns`
  };

  std::array<Source, kMost> sources_;
  TouchColumns edges_;
  TouchColumns vertices_;
};

}  // namespace carom::internal
