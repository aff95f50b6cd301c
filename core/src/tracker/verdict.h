// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is the last verdict on each neighbor of a tracker (each polygon near its shape), and until
// which reading of the odometer (the length of all moves since the influence mask was made) does it
// hold?
//
// Most queries of a tracker read only these verdicts, and neither the neighbors nor their polygons,
// which are in no cache if there are many trackers. So the readings are stored as columns of
// floats, which are compared four at a time and without a branch on any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "numeric/lanes.h"

namespace carom::internal {

// Whether a tracked shape touches a neighbor (a polygon near it), and how long this verdict holds:
// two readings of the odometer, the length of all moves of the shape since the influence mask was
// made. Both readings are rounded down and exclusive, and hold at any rotation.
struct Verdict {
  float touch_until = 0;  // `touches` holds while the odometer is less
  float clear_until = 0;  // while the odometer is less, no edge of the polygon meets the shape
  bool touches = false;   // whether the shape touches the polygon
  // Whether both readings come from the distance of the polygon's bounding box, so that its edges,
  // which are at least as far away, may allow larger readings.
  bool is_by_box = false;
};

// `ReadingDown` returns a float that is not above a reading of the odometer (the length of all
// moves of a tracked shape), `ReadingUp` one that is not below it. The reading is 0 or more and far
// below the largest float. The factor covers the rounding to the nearest float, the term 2^-149 the
// rounding to a subnormal float.
inline float ReadingDown(double reading) {
  return static_cast<float>(reading * (1 - 0x1p-23) - 0x1p-149);
}
inline float ReadingUp(double reading) {
  return static_cast<float>(reading * (1 + 0x1p-23) + 0x1p-149);
}

// Returns the size of a column for `count` floats: a multiple of four, since columns are padded
// with +inf to whole groups of four floats.
constexpr size_t ColumnSize(size_t count) { return (count + 3) / 4 * 4; }

// Returns which of the `size` floats of `column`, at most 64, are at most `reading`: bit i for
// float i. `size` is a multiple of four.
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

// Returns the least of the `size` floats of `column`; +inf if the column is empty. `size` must be a
// multiple of four.
inline float LeastOf(const float* column, size_t size) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  Float4 least{kNone, kNone, kNone, kNone};
  for (size_t i = 0; i < size; i += 4) least = Min(least, LoadLanes(column + i));
  return LeastOf(least);
}

// Which verdicts of a tracker on up to 64 neighbors (near polygons) have ended at a reading of the
// odometer (the length of all moves), and at which reading the first of the other verdicts ends.
struct VerdictEnds {
  uint64_t due = 0;  // bit i: `touch_until` of neighbor i is at most the reading
  // The least `touch_until` of the neighbors that are not in `due`.
  float touch = std::numeric_limits<float>::infinity();
  // The least `clear_until` of the neighbors that are not in `due`.
  float clear = std::numeric_limits<float>::infinity();
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
