// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a bullet go that bounces off what it hits?
//
// `BounceSegments` casts a segment, reflects what is left of it where it hits, and so on: a chain
// of legs, each a segment that `CastSegments` of carom/cast.h answers the same. `BounceRays` does
// so with rays, which may have no end: lasers.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   BounceAnswers out;
//   WorkMeter meter;
//   BounceSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
//   // out.legs[0].hit: polygon_id 7, fraction 0.25; out.legs[1]: from about (0, 1) to (-6, 1)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: as casts report it.
// Error: a leg starts within 4 ulp of the exact hit before it. Cost: that of two casts a leg.
// Thread-safe. Cheaper: carom/cast.h, whose reflections a program can follow by itself; richer:
// none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

inline constexpr uint32_t kMaxBounces = 16;

struct BounceOptions {
  uint32_t max_bounces = 4;  // in [1, kMaxBounces]
  uint64_t mask = kEveryCategory;
};

// One leg: the segment from `a` to `b`, and what a cast of it answers under CLOSEST and
// REPORT_START, in the detail EDGE.
struct BounceLeg {
  Vec2 a;
  Vec2 b;
  bool has_hit = false;
  CastHit hit;  // meaningless without has_hit
};

// The chain of segment i. The next leg starts at a point of doubles within 4 ulp of the largest
// coordinate of the exact hit such that the segment from the start of the leg to it meets nothing
// that the mask considers; ulps are those of the largest coordinate of the leg. It goes (1 - t) of
// the reflection of b - a about the reported edge, each operation rounded once; at a vertex, about
// the least edge there that is not parallel to the segment and whose side towards the start is not
// filled. The chain ends after `max_bounces` + 1 legs, where nothing is hit, at a normal of zero,
// where the next end is not accepted, and `stuck` where there is no such point.
struct BounceAnswers {
  std::vector<uint32_t> counts;   // legs of item i: at least one, 0 of an item in error
  std::vector<BounceLeg> legs;    // item after item
  std::vector<uint32_t> stuck;    // items whose chain ended so, ascending
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Item errors are those of `CastSegments`. Returns false if `meter` stopped the work; `out` is then
// meaningless. Thread-safe.
bool BounceSegments(const Scene& scene, const SegmentColumns& segments,
                    const BounceOptions& options, BounceAnswers& out, WorkMeter& meter);

// Rays in columns: ray i is origin (x[i], y[i]), direction (dx[i], dy[i]), of any length but 0, and
// the range [0, t_max[i]]; an empty t_max means no end. It bounces max_bounces[i] times at most, in
// [1, kMaxBounces]; an empty column means kDefaultBounces.
struct RayBounceColumns {
  std::span<const double> x, y, dx, dy;
  std::span<const double> t_max = {};
  std::span<const uint32_t> max_bounces = {};

  size_t size() const { return x.size(); }
};

inline constexpr uint32_t kDefaultBounces = 4;

// One leg: the ray over [0, t_max], and what a cast of it answers under CLOSEST and REPORT_START,
// in the detail EDGE.
struct RayBounceLeg {
  Vec2 origin;
  Vec2 direction;
  double t_max = std::numeric_limits<double>::infinity();
  bool has_hit = false;
  CastHit hit;  // meaningless without has_hit
};

// The chain of ray i. The next leg starts as that of a segment does, but that ulps are those of the
// largest coordinate of the leg's origin and the hit. Its direction is the reflection of the leg's
// direction, each operation rounded once, and its range ends at t_max - t, rounded once, for a hit
// at t. So no length is lost where there is an end, and none is counted where there is none. The
// chain ends as that of a segment, and where nothing is left of the range.
struct RayBounceAnswers {
  std::vector<uint32_t> counts;    // legs of item i: at least one, 0 of an item in error
  std::vector<RayBounceLeg> legs;  // item after item
  std::vector<uint32_t> stuck;     // items whose chain ended so, ascending
  std::vector<ItemError> errors;   // ascending by index

  void Clear();
};

// Item errors are those of `CastRays`, and TOO_MANY_BOUNCES. Considers the polygons with
// category & mask != 0. Returns false if `meter` stopped the work; `out` is then meaningless.
// Thread-safe.
bool BounceRays(const Scene& scene, const RayBounceColumns& rays, uint64_t mask,
                RayBounceAnswers& out, WorkMeter& meter);

}  // namespace carom
