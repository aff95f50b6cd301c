// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/box_raster.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace carom::internal {
namespace {

// Returns the floats with magnitudes of at most 2^-140 replaced by 0, since the queries read a
// coordinate by `Normalized`, which replaces magnitudes below 2^-140 by 0. The function is
// monotonic.
Float4 Read(Float4 values) {
  constexpr float kNothing = 0x1p-140F;
  const Int4 is_something = (values > kNothing) | (values < -kNothing);
  return reinterpret_cast<Float4>(reinterpret_cast<Int4>(values) & is_something);
}

Float4 InEachLane(double value) { return Float4{} + static_cast<float>(value); }

// Loads the elements [begin, begin + count) of the column `from`, at most four, one in each lane of
// a vector. The last of these elements also fills the lanes beyond `count`.
Float4 Load(std::span<const double> from, size_t begin, size_t count) {
  const double* const at = &from[begin];
  if (count >= 4) {
    return Float4{static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2]),
                  static_cast<float>(at[3])};
  }
  Float4 lanes = InEachLane(at[count - 1]);
  for (size_t lane = 0; lane + 1 < count; ++lane) lanes[lane] = static_cast<float>(at[lane]);
  return lanes;
}

// Returns the column (or row) of the bitmap's 64 x 64 squares that contains the coordinate `at`, in
// [0, most], where column 0 begins at the coordinate `from` and a unit of length has `per_length`
// columns; 0 for NaN.
Int4 SquareOf(Float4 at, Float4 from, Float4 per_length, float most) {
  const Float4 zero{};
  return __builtin_convertvector(Min(Max((at - from) * per_length, zero), zero + most), Int4);
}

// Returns a word in which the bits `min` to `max` are set. The bitmap marks which of 64 x 64
// squares the boxes of the raster meet; a row of the bitmap is such a word, with one bit for each
// of 64 columns.
uint64_t ColumnsOf(int min, int max) { return ~uint64_t{0} >> (63 - max + min) << min; }

}  // namespace

// Sets the number of squares per length to 0 along an axis in which the frame (the bounds of all
// boxes) has no extent, or one too small for a finite quotient: all boxes are then in one column or
// row of squares.
void BoxRaster::Start(const Box& frame) {
  const auto per_length = [](double low, double high) {
    const auto squares = static_cast<float>(kSide / (high - low));
    return InEachLane(high > low && std::isfinite(squares) ? squares : 0);
  };
  min_x_ = Read(InEachLane(frame.min.x));
  min_y_ = Read(InEachLane(frame.min.y));
  max_x_ = Read(InEachLane(frame.max.x));
  max_y_ = Read(InEachLane(frame.max.y));
  per_length_x_ = per_length(frame.min.x, frame.max.x);
  per_length_y_ = per_length(frame.min.y, frame.max.y);
  rows_.fill(0);
}

inline BoxRaster::Squares BoxRaster::SquaresOf(Float4 min_x, Float4 min_y, Float4 max_x,
                                               Float4 max_y) const {
  constexpr float kMost = kSide - 1;
  return {
      SquareOf(min_x, min_x_, per_length_x_, kMost), SquareOf(min_y, min_y_, per_length_y_, kMost),
      SquareOf(max_x, min_x_, per_length_x_, kMost), SquareOf(max_y, min_y_, per_length_y_, kMost)};
}

void BoxRaster::Add(const Box& box) {
  const Squares squares = SquaresOf(Read(InEachLane(box.min.x)), Read(InEachLane(box.min.y)),
                                    Read(InEachLane(box.max.x)), Read(InEachLane(box.max.y)));
  const uint64_t columns = ColumnsOf(squares.min_x[0], squares.max_x[0]);
  for (int y = squares.min_y[0]; y <= squares.max_y[0]; ++y) {
    rows_[static_cast<size_t>(y)] |= columns;
  }
}

uint64_t BoxRaster::Meeting(const EndColumns& lines, size_t begin, size_t count) const {
  uint64_t meeting = 0;
  for (size_t k = 0; k < count; k += 4) {
    const auto load = [&](std::span<const double> column) {
      return Read(Load(column, begin + k, count - k));
    };
    const Float4 ax = load(lines.ax), ay = load(lines.ay), bx = load(lines.bx), by = load(lines.by);
    const Float4 min_x = Min(ax, bx), min_y = Min(ay, by), max_x = Max(ax, bx), max_y = Max(ay, by);
    const LaneBits in_frame =
        Bits((min_x <= max_x_) & (max_x >= min_x_) & (min_y <= max_y_) & (max_y >= min_y_), Int4{});
    if (in_frame == 0) continue;
    const Squares squares = SquaresOf(min_x, min_y, max_x, max_y);
    for (LaneBits bits = in_frame; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(bits));
      const uint64_t columns = ColumnsOf(squares.min_x[lane], squares.max_x[lane]);
      uint64_t common = 0;
      for (int y = squares.min_y[lane]; y <= squares.max_y[lane]; ++y) {
        common |= rows_[static_cast<size_t>(y)] & columns;
      }
      meeting |= static_cast<uint64_t>(common != 0) << (k + lane);
    }
  }
  return count < 64 ? meeting & ((uint64_t{1} << count) - 1) : meeting;
}

}  // namespace carom::internal
