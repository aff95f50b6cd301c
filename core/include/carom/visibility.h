// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can be seen from here?
//
// `TestLinesOfSight` tests for pairs of points whether one sees the other; `ScanFans` casts fans of
// beams and answers distances, as a lidar does. What blocks the way is in carom/cast.h.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   SightAnswers out;
//   WorkMeter meter;
//   TestLinesOfSight(*scene, {ax, ay, bx, by}, kEveryCategory, out, meter);
//   // out.visible[0] == 0: polygon 7 is between
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: lines of sight are
// exact, distances of beams within 1 ulp of that of the segment cast. Cost: that of a segment cast
// a pair or a beam: O(log n + edges near it), n the edges of the scene. Thread-safe. Cheaper: none;
// richer: carom/cast.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/cast.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

struct SightAnswers {
  // 1 where the closed segment from a to b shares no point with any polygon or body considered,
  // else 0: touching blocks, and so does a polygon that holds an end. Symmetric in a and b. 0 for
  // an error.
  std::vector<uint8_t> visible;
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Considers the polygons with category & mask != 0: give the viewer and what is viewed
// categories of their own. Exact. Cost per pair: that of a cast with ANY. Returns false if `meter`
// stopped the work; `out` is then meaningless. Thread-safe.
bool TestLinesOfSight(const World& world, const SegmentColumns& sights, uint64_t mask,
                      SightAnswers& out, WorkMeter& meter);

// The beams of a fan at most.
inline constexpr uint32_t kMaxBeams = 65536;

// Fans: beam k of fan i, k in [0, beams[i]), starts at (x[i], y[i]) and points to the angle
// angle[i] + k * step[i] (radians, counter-clockwise from +x, each operation rounded once, at most
// 2^20 in magnitude). It ends at (x + range * cos, y + range * sin) with `SinCos` of
// carom/sincos.h, each operation rounded once. A magnitude below 2^-140 is read as 0 first, of x, y
// and range before that, then of the end's two coordinates; the segment is exact from there on. So
// a beam of range 2^-100 along the y axis ends on that axis, though the cosine of the double
// nearest to pi / 2 is not 0. range[i] is in [0, 2^53]; read as 0, it makes every beam a point.
struct FanColumns {
  std::span<const double> x, y, angle, step, range;
  std::span<const uint32_t> beams;
  Scope scope = {};

  size_t size() const { return x.size(); }
};

struct FanOptions {
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint64_t mask = kEveryCategory;
};

// Rows are beams, fan after fan.
struct FanAnswers {
  std::vector<uint32_t> counts;       // beams[i], or 0 for an error
  std::vector<uint8_t> hits;          // 1 where the beam hits a polygon or a body
  std::vector<double> distances;      // fraction * range, rounded once; the range where it does not
  std::vector<uint64_t> polygon_ids;  // the first in the total order of hits; 0 where it does not
  // Beside polygon_ids where bodies are considered, else empty: 1 where it is the index of a body.
  std::vector<uint8_t> is_body;
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Each beam is a cast with CLOSEST, and a row of `meter`. Returns false if `meter` stopped the
// work; `out` is then meaningless. Thread-safe.
//
// Item errors, the first in this order: x or y that is not accepted; ANGLE_OUT_OF_RANGE on angle or
// step, each in [-2^20, 2^20]; a range that is not accepted, or NEGATIVE_LENGTH; TOO_MANY_BEAMS
// outside [1, 65536]; ANGLE_OUT_OF_RANGE on step where the last beam's angle is; a range of which
// some beam's end is not accepted.
bool ScanFans(const World& world, const FanColumns& fans, const FanOptions& options,
              FanAnswers& out, WorkMeter& meter);

}  // namespace carom
