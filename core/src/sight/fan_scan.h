// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does each beam of many fans hit first? A fan consists of beams: segments from one point.
//
// Finds the polygons near a fan once for all its beams, and compares each polygon with several
// beams at a time (fan_lanes.h). Beams that would have to be compared with too many polygons are
// cast one by one instead (fast_batch.h), and beams about which floating-point filters cannot
// decide take the general path (general_batch.h). The answers are bit-identical to those of
// `CastSegments` in mode CLOSEST.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom::internal {

// The beams [begin, begin + count) of `FanSource`, which start at `from`.
struct FanBatch {
  Vec2 from;
  size_t begin;
  size_t count;
};

// Fans, and the ends of their beams. The numbers are accepted; `from` is normalized (`Normalized`),
// and the ends are read as `Normalized` does.
struct FanSource {
  std::span<const FanBatch> fans;
  std::span<const double> end_x, end_y;
};

// The first hit of each beam, in columns that the caller sets to 0, 1 and 0 before the call: these
// values stay for beams without a hit.
struct BeamHits {
  std::span<uint8_t> is_hit;
  std::span<double> fraction;
  std::span<uint64_t> polygon_id;
};

// Casts the beams of the fans against the scene, under options with mode CLOSEST, and sets element
// i of the columns of `out` for beam i of `source`. Counts the hits as rows of `meter`. Returns
// false once the meter stops the work.
bool CastFans(const Scene& scene, const CastOptions& options, const FanSource& source,
              const BeamHits& out, WorkMeter& meter);

}  // namespace carom::internal
