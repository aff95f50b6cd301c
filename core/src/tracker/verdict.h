// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did each neighbor of a tracker last say, and up to which reading of the odometer is it so?
//
// Most queries end here and do not read the neighbors, let alone their polygons, which are in no
// cache where trackers are many. So the readings are columns of floats, compared four at a time and
// without a branch on any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "numeric/lanes.h"

namespace carom::internal {

// Readings of the odometer, rounded down, exclusive. Until these, at any rotation:
struct Verdict {
  float touch_until = 0;   // `touches` holds
  float clear_until = 0;   // no edge of the polygon meets the shape
  bool touches = false;    // shape and polygon share a point
  bool is_by_box = false;  // both come from the polygon's box, so its edges may allow more
};

// A float not above a reading, which is 0 or more and far below the largest float, respectively not
// below it: the factor covers the rounding to nearest, the difference that of subnormal floats.
inline float ReadingDown(double reading) {
  return static_cast<float>(reading * (1 - 0x1p-23) - 0x1p-149);
}
inline float ReadingUp(double reading) {
  return static_cast<float>(reading * (1 + 0x1p-23) + 0x1p-149);
}

// So many floats has a column of `count`: whole groups of four, filled up with +inf.
constexpr size_t ColumnSize(size_t count) { return (count + 3) / 4 * 4; }

// Which of a column of `size` floats, at most 64, are at most `reading`: bit i for float i.
inline uint64_t UpTo(const float* column, size_t size, float reading) {
  const Float4 most{reading, reading, reading, reading};
  uint64_t bits = 0;
  for (size_t i = 0; i < size; i += 4) {
    bits |= uint64_t{Bits(LoadLanes(column + i) <= most, Int4{})} << i;
  }
  return bits;
}

// The least of four.
inline float LeastOf(Float4 lanes) {
  lanes = Min(lanes, Float4{lanes[2], lanes[3], lanes[0], lanes[1]});
  return Min(lanes, Float4{lanes[1], lanes[0], lanes[3], lanes[2]})[0];
}

// The least of a column, +inf of none.
inline float LeastOf(const float* column, size_t size) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  Float4 least{kNone, kNone, kNone, kNone};
  for (size_t i = 0; i < size; i += 4) least = Min(least, LoadLanes(column + i));
  return LeastOf(least);
}

// The verdicts of up to 64 neighbors at a reading of the odometer.
struct VerdictEnds {
  uint64_t due = 0;                                      // `touch_until` has passed: bit i for i
  float touch = std::numeric_limits<float>::infinity();  // the least of the others' `touch_until`
  float clear = std::numeric_limits<float>::infinity();  // and `clear_until`
};
inline VerdictEnds EndsAt(const float* touch, const float* clear, size_t size, float reading) {
  VerdictEnds ends;
  const Float4 none{ends.touch, ends.touch, ends.touch, ends.touch};
  const Float4 most{reading, reading, reading, reading};
  Float4 least_touch = none;
  Float4 least_clear = none;
  for (size_t i = 0; i < size; i += 4) {
    const Float4 lanes = LoadLanes(touch + i);
    const Int4 is_due = lanes <= most;
    ends.due |= uint64_t{Bits(is_due, Int4{})} << i;
    least_touch = Min(least_touch, is_due ? none : lanes);
    least_clear = Min(least_clear, is_due ? none : LoadLanes(clear + i));
  }
  ends.touch = LeastOf(least_touch);
  ends.clear = LeastOf(least_clear);
  return ends;
}

}  // namespace carom::internal
