// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which order should polygons be stored so that polygons that are close in the order are close
// in space, too? Along a Hilbert curve over the scene.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::internal {

// The position of a polygon in the order along a Hilbert curve: the place (the index along the
// curve of the cell with the center of the polygon's bounds), then the polygon's id, which orders
// polygons with equal places.
struct CurveKey {
  uint64_t place = 0;
  uint64_t id = 0;

  friend constexpr bool operator<(const CurveKey& a, const CurveKey& b) {
    return a.place != b.place ? a.place < b.place : a.id < b.id;
  }
};

// A Hilbert curve over a box, which it divides into 2^31 x 2^31 cells. The key of a polygon depends
// on the cell of the center of its bounds. A center outside of the box counts as in the nearest
// cell at the border.
class Curve {
 public:
  static constexpr int kBits = 31;  // number of bits of a cell's column (x), and of its row (y)

  Curve() = default;
  explicit Curve(const Box& frame) : frame_(frame) {}

  const Box& frame() const { return frame_; }
  CurveKey KeyOf(const Polygon& polygon) const;

 private:
  Box frame_;
};

}  // namespace carom::internal
