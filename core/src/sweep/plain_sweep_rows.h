// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What are the rows of touches that the fast path of sweeps finds, where filters can round them?
//
// Measured several at a time, in pairs of doubles with bounds of their errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/polygon.h"
#include "carom/sweep.h"
#include "sweep/plain_touch.h"

namespace carom::internal {

// Touches by columns, and what is measured of them.
struct alignas(64) TouchColumns {
  static constexpr size_t kMost = 32;
  using Column = std::array<double, kMost>;

  // Of the edge that is met: from a to b, where a moving one runs backward. Nothing where two
  // vertices meet.
  Column a_x{}, a_y{}, b_x{}, b_y{};
  Column fixed_x{}, fixed_y{}, moving_x{}, moving_y{};  // vertices of the edge or of both
  Column d_x{}, d_y{}, radius{};
  // The point follows the moving vertex, less the radius along the normal.
  Column fraction, normal_x, normal_y, point_x, point_y;
  uint32_t certain = 0;  // bit i: entry i is
  size_t count = 0;
};

// The touches of a window of items. Not thread-safe.
class PlainSweepRows {
 public:
  static constexpr size_t kMost = TouchColumns::kMost;

  void Clear() { edges_.count = vertices_.count = 0; }
  // Keeps the touch of item k in [0, kMost), which has none since `Clear`. All outlive the row.
  void Add(size_t k, const Polygon& polygon, const SweptMover& mover, const PlainTouch& touch);
  // Measures all that were added.
  void Measure();
  // Sets the row of item k. Returns false where a rounding is not certain.
  bool Row(size_t k, SweepHit& hit) const;

 private:
  struct Source {
    const Polygon* polygon;
    const SweptMover* mover;
    const PlainTouch* touch;
    size_t at;  // in its columns
  };

  std::array<Source, kMost> sources_;
  TouchColumns edges_;
  TouchColumns vertices_;
};

}  // namespace carom::internal
