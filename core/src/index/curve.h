// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which order do polygons that are near each other lie? Along a Hilbert curve over the scene.
#pragma once

#include <cstdint>

#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::internal {

// A place along the curve. The id orders polygons at one place.
struct CurveKey {
  uint64_t place = 0;
  uint64_t id = 0;

  friend constexpr bool operator<(const CurveKey& a, const CurveKey& b) {
    return a.place != b.place ? a.place < b.place : a.id < b.id;
  }
};

// A Hilbert curve over a box. A polygon outside of the box has the key of the nearest cell at the
// border.
class Curve {
 public:
  static constexpr int kBits = 31;  // bits of a cell's coordinate along each side

  Curve() = default;
  explicit Curve(const Box& frame) : frame_(frame) {}

  const Box& frame() const { return frame_; }
  CurveKey KeyOf(const Polygon& polygon) const;

 private:
  Box frame_;
};

}  // namespace carom::internal
