// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is the last verdict on each neighbor of a tracker, and until which reading of the odometer
// does it hold?
//
// Most queries end here and read neither the neighbors nor their polygons, which are in no cache
// where trackers are many. So the readings are columns of floats, compared four at a time and
// without a branch on any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "numeric/lanes.h"

namespace carom::internal {

// The readings of the odometer are rounded down and exclusive, and hold at any rotation.
struct Verdict {
  float touch_until = 0;  // until this reading, `touches` holds
  float clear_until = 0;  // until this reading, no edge of the polygon meets the shape
  bool touches = false;   // whether shape and polygon share a point
  // whether both readings come from the polygon's box, so that its edges may allow more
  bool is_by_box = false;
};

// Return a float not above (`ReadingDown`) or not below (`ReadingUp`) a reading, which is 0 or more
// and far below the largest float. The factor covers the rounding to nearest, the difference the
// rounding of subnormal floats.
inline float ReadingDown(double reading) {
  return static_cast<float>(reading * (1 - 0x1p-23) - 0x1p-149);
}
inline float ReadingUp(double reading) {
  return static_cast<float>(reading * (1 + 0x1p-23) + 0x1p-149);
}

// Returns how many floats a column of `count` floats takes: whole groups of four, padded with +inf.
constexpr size_t ColumnSize(size_t count) { return (count + 3) / 4 * 4; }

// Returns which of `size` floats, at most 64, are at most `reading`: bit i for float i.
inline uint64_t UpTo(const float* column, size_t size, float reading) {
  const Float4 most{reading, reading, reading, reading};
  uint64_t bits = 0;
  for (size_t i = 0; i < size; i += 4) {
    bits |= uint64_t{Bits(LoadLanes(column + i) <= most, Int4{})} << i;
  }
  return bits;
}

// Returns the least of four lanes.
inline float LeastOf(Float4 lanes) {
  lanes = Min(lanes, Float4{lanes[2], lanes[3], lanes[0], lanes[1]});
  return Min(lanes, Float4{lanes[1], lanes[0], lanes[3], lanes[2]})[0];
}

// Returns the least float of a column; +inf if the column is empty.
inline float LeastOf(const float* column, size_t size) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  Float4 least{kNone, kNone, kNone, kNone};
  for (size_t i = 0; i < size; i += 4) least = Min(least, LoadLanes(column + i));
  return LeastOf(least);
}

// Which verdicts of up to 64 neighbors have ended at a reading, and when the first of the rest
// ends.
struct VerdictEnds {
  uint64_t due = 0;  // `touch_until` has passed: bit i for neighbor i
  float touch = std::numeric_limits<float>::infinity();  // the least `touch_until` of the rest
  float clear = std::numeric_limits<float>::infinity();  // the least `clear_until` of the rest
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
