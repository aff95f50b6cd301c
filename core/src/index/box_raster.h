// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which lines may be near one of many boxes? A bitmap marks where the boxes are, and four lines at
// a time are tested against it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// The end points a and b of lines, one column per coordinate.
struct EndColumns {
  std::span<const double> ax, ay, bx, by;
};

// Marks 64 x 64 squares of a frame, one bit each. The square of a coordinate is computed in floats
// by monotonic operations only, so squares ascend with coordinates, and boxes that meet share a
// square. Thread-safe once the bitmap is filled.
class BoxRaster {
 public:
  // Clears the bitmap and sets its frame.
  void Start(const Box& frame);
  // Marks the squares of a box within the frame.
  void Add(const Box& box);
  // Returns one bit for each of the lines [begin, begin + count), at most 64. The bit is set if the
  // box of the line meets a box that was added, and possibly if it comes near one. The bit is
  // arbitrary for a line with coordinates that are not accepted.
  uint64_t Meeting(const EndColumns& lines, size_t begin, size_t count) const;

 private:
  static constexpr int kSide = 64;
  // The ranges of squares of four boxes.
  struct Squares {
    Int4 min_x, min_y, max_x, max_y;
  };

  Squares SquaresOf(Float4 min_x, Float4 min_y, Float4 max_x, Float4 max_y) const;

  Float4 min_x_{}, min_y_{}, max_x_{}, max_y_{};  // the frame, repeated in each lane
  Float4 per_length_x_{}, per_length_y_{};        // squares per unit of length
  std::array<uint64_t, kSide> rows_{};
};

}  // namespace carom::internal
