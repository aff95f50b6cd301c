// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can be seen from here?
//
// `TestLinesOfSight` tests for pairs of points whether one is visible from the other; `ScanFans`
// casts fans of beams and returns distances, as a lidar does. carom/cast.h returns what blocks a
// line of sight.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   SightAnswers out;
//   WorkMeter meter;
//   TestLinesOfSight(*scene, {ax, ay, bx, by}, {}, out, meter);
//   // out.visible[0] == 0: polygon 7 is between
//
// Lengths are in the unit of the caller's coordinates. Touching blocks a line of sight and stops a
// beam. Error: lines of sight are exact; the distance of a beam is within 1 ulp of the exact
// distance along the segment that is cast. Cost: at most one segment cast for each pair or beam,
// O(log n + edges near the segment), n the edges of the scene; the beams of one fan share the
// search for polygons. Thread-safe. More powerful: carom/cast.h.
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

struct SightOptions {
  uint64_t mask = kEveryCategory;
  // Soft walls, as in `CastOptions`: a sight passes at most `soft_count` passages of polygons and
  // bodies with category & soft_mask != 0.
  uint64_t soft_mask = 0;
  uint32_t soft_count = 0;  // in [0, 16]
};

struct SightAnswers {
  // 1 if the closed segment from a to b shares no point with any polygon or body considered, but
  // for the soft ones that it passes, else 0: touching blocks, and so does a polygon that contains
  // a or b. Symmetric in a and b. 0 for an item in error.
  std::vector<uint8_t> visible;
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Tests each pair and replaces the contents of `out`. Considers the polygons with category & mask
// != 0: give the viewer and its target categories that the mask leaves out. Exact. Cost per pair: a
// cast with ANY. Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
bool TestLinesOfSight(const World& world, const SegmentColumns& sights, const SightOptions& options,
                      SightAnswers& out, WorkMeter& meter);

// The largest number of beams of a fan.
inline constexpr uint32_t kMaxBeams = 65536;

// Fans in columns: beam k of fan i, k in [0, beams[i]), starts at (x[i], y[i]) and has the angle
// angle[i] + k * step[i] (radians, counter-clockwise from +x, each operation rounded once, at most
// 2^20 in magnitude). The beam ends at (x + range * cos, y + range * sin), by `SinCos` of
// carom/sincos.h, each operation rounded once. A magnitude below 2^-140 is read as 0: in x, y and
// range before the end is computed, in the coordinates of the end afterwards. The segment between
// the two points is taken exactly. A beam of range 2^-100 along the y axis therefore ends on the y
// axis, though the cosine of the double nearest to pi / 2 is not 0. range[i] is in [0, 2^53]; if it
// is read as 0, every beam is a point.
struct FanColumns {
  std::span<const double> x, y, angle, step, range;
  std::span<const uint32_t> beams;
  Scope scope = {};

  size_t size() const { return x.size(); }
};

struct FanOptions {
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint64_t mask = kEveryCategory;
  // Soft walls, as in `CastOptions`: a beam ends at the hit that a cast has with these options.
  uint64_t soft_mask = 0;
  uint32_t soft_count = 0;  // in [0, 16]
};

// Answers of a batch. Rows are beams, fan after fan.
struct FanAnswers {
  std::vector<uint32_t> counts;       // beams[i], or 0 for a fan in error
  std::vector<uint8_t> hits;          // 1 if the beam hits a polygon or a body, else 0
  std::vector<double> distances;      // fraction * range, rounded once; the range for a miss
  std::vector<uint64_t> polygon_ids;  // the first hit in the total order; 0 for a miss
  // One entry per polygon id if bodies are considered, else empty: 1 if the id is the index of a
  // body.
  std::vector<uint8_t> is_body;
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Casts each beam under CLOSEST and replaces the contents of `out`. Each beam counts as a row of
// `meter`. Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
//
// Item errors, the first that applies in this order: x or y that is not accepted;
// ANGLE_OUT_OF_RANGE on angle or step that is not in [-2^20, 2^20]; a range that is not accepted,
// or NEGATIVE_LENGTH; TOO_MANY_BEAMS for beams outside [1, 65536]; ANGLE_OUT_OF_RANGE on step if
// the angle of the last beam is out of range; NOT_ACCEPTED on range if the end of some beam is not
// accepted.
bool ScanFans(const World& world, const FanColumns& fans, const FanOptions& options,
              FanAnswers& out, WorkMeter& meter);

}  // namespace carom
