// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which lines may be near one of many boxes? A bitmap of where the boxes are, asked for four lines
// at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "numeric/lanes.h"

namespace carom::internal {

// The two ends of lines, a column each.
struct EndColumns {
  std::span<const double> ax, ay, bx, by;
};

// 64 x 64 squares of a frame, a bit each. Which square a coordinate is in is computed in floats, of
// which each operation is monotonic: squares ascend with coordinates, and boxes that meet share
// one. Thread-safe once it is filled.
class BoxRaster {
 public:
  // Replaces all that was added.
  void Start(const Box& frame);
  // A box within the frame.
  void Add(const Box& box);
  // Which of the lines [begin, begin + count), 64 at most, have a box that meets one that was
  // added: a bit each, at least those that do, any for coordinates that are not accepted.
  uint64_t Meeting(const EndColumns& lines, size_t begin, size_t count) const;

 private:
  static constexpr int kSide = 64;
  // Of four boxes.
  struct Squares {
    Int4 min_x, min_y, max_x, max_y;
  };

  Squares SquaresOf(Float4 min_x, Float4 min_y, Float4 max_x, Float4 max_y) const;

  Float4 min_x_{}, min_y_{}, max_x_{}, max_y_{};  // of the frame, in each lane
  Float4 per_length_x_{}, per_length_y_{};        // squares
  std::array<uint64_t, kSide> rows_{};
};

}  // namespace carom::internal
