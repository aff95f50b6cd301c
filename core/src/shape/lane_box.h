// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A box with x and y of each corner in one SIMD vector, so that loops over edges compare both
// coordinates at once.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// A `LaneBox` has the same bits as a `Box`. The default constructor does not initialise the
// corners, so that arrays of boxes cost nothing.
struct LaneBox {
  Double2 min, max;

  LaneBox() = default;
  LaneBox(Double2 its_min, Double2 its_max) : min(its_min), max(its_max) {}
  explicit LaneBox(const Box& box) : min{box.min.x, box.min.y}, max{box.max.x, box.max.y} {}
  explicit LaneBox(const Segment& edge) : LaneBox(Of(LoadLanes(&edge.a.x), LoadLanes(&edge.b.x))) {}

  static LaneBox Empty() { return LaneBox(Box{}); }
  // Returns the smallest box that contains both points.
  static LaneBox Of(Double2 a, Double2 b) { return {Min(a, b), Max(a, b)}; }

  void Extend(const LaneBox& other) {
    min = Min(other.min, min);
    max = Max(other.max, max);
  }
  // Returns true if the boxes share a point; touching counts.
  bool Meets(const LaneBox& other) const { return Both((min <= other.max) & (max >= other.min)); }
  Box box() const { return {{min[0], min[1]}, {max[0], max[1]}}; }
};

}  // namespace carom::internal
