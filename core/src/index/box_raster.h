// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which lines may be near one of many boxes? A bitmap marks where the boxes are, and four lines at
// a time are tested against the bitmap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// The end points a = (ax, ay) and b = (bx, by) of lines, one column per coordinate.
struct EndColumns {
  std::span<const double> ax, ay, bx, by;
};

// Divides a frame, the bounds of all boxes, into 64 x 64 squares and has one bit for each square:
// whether a box that was added meets the square. The square of a coordinate is computed in floats
// by monotonic operations only, so squares ascend with coordinates, and boxes that meet share a
// square. Thread-safe once all boxes are added.
class BoxRaster {
 public:
  // Clears the bitmap and sets the frame that the 64 x 64 squares divide.
  void Start(const Box& frame);
  // Sets the bits of the squares that `box` meets. `box` must lie in the frame.
  void Add(const Box& box);
  // Returns one bit for each of the lines [begin, begin + count), at most 64. The bit is set if the
  // bounding box of the line meets a box that was added, and possibly if it only comes near one.
  // The bit is arbitrary for a line with a coordinate that `IsAccepted` rejects (NaN, or a
  // magnitude above 2^53).
  uint64_t Meeting(const EndColumns& lines, size_t begin, size_t count) const;

 private:
  static constexpr int kSide = 64;
  // The squares that each of four boxes meets, one box per lane: the least and greatest column (x)
  // and row (y) of the squares.
  struct Squares {
    Int4 min_x, min_y, max_x, max_y;
  };

  Squares SquaresOf(Float4 min_x, Float4 min_y, Float4 max_x, Float4 max_y) const;

  Float4 min_x_{}, min_y_{}, max_x_{}, max_y_{};  // the frame, repeated in each lane
  Float4 per_length_x_{}, per_length_y_{};        // number of squares per unit of length
  std::array<uint64_t, kSide> rows_{};
};

}  // namespace carom::internal
