// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What path does a bullet take that bounces off what it hits?
//
// `BounceSegments` casts a segment, reflects its rest where it hits, casts the reflected segment,
// and so on: the answer is a chain of legs, each with the answer of `CastSegments` (carom/cast.h)
// to its segment. `BounceRays` bounces rays, which may be infinite: lasers.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   BounceAnswers out;
//   WorkMeter meter;
//   BounceSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
//   // out.legs[0].hit: polygon_id 7, fraction 0.25; out.legs[1]: from about (0, 1) to (-6, 1)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as a hit. Normals are as for
// casts. Error: a leg starts within 4 ulp of the exact hit before it. Cost: two casts for each leg.
// Thread-safe. Cheaper alternative: carom/cast.h with reflections, which a program can follow by
// itself.
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

// One leg: the segment from `a` to `b`, and the answer to its cast under CLOSEST and REPORT_START,
// in the detail EDGE.
struct BounceLeg {
  Vec2 a;
  Vec2 b;
  bool has_hit = false;
  CastHit hit;  // meaningless without has_hit
};

// The chains of segments. After a hit at fraction t on the leg a->b, the next leg starts at a point
// of doubles within 4 ulp of the exact hit such that the segment from `a` to this point meets
// nothing that the mask considers; an ulp means the ulp of the largest coordinate of a->b. The
// displacement of the next leg is (1 - t) times the reflection of b - a about the reported edge,
// each operation rounded once; at a vertex, about the least edge through the vertex that is not
// parallel to the segment and has an unfilled side towards `a`. A chain ends after `max_bounces` +
// 1 legs, when a leg hits nothing, at a normal of zero, when the next end is not accepted, and, as
// stuck, when no point is a valid start of the next leg.
struct BounceAnswers {
  std::vector<uint32_t> counts;   // number of legs of item i: at least 1, or 0 for an item in error
  std::vector<BounceLeg> legs;    // for each item in turn: its legs
  std::vector<uint32_t> stuck;    // items with a chain that ended as stuck, ascending
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Bounces each segment and replaces the contents of `out`. Item errors are as for `CastSegments`.
// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
bool BounceSegments(const Scene& scene, const SegmentColumns& segments,
                    const BounceOptions& options, BounceAnswers& out, WorkMeter& meter);

// Rays in columns: ray i has the origin (x[i], y[i]), the direction (dx[i], dy[i]), of any length
// but 0, and the range [0, t_max[i]]; an empty t_max means infinity. Ray i bounces at most
// max_bounces[i] times, in [1, kMaxBounces]; an empty column means kDefaultBounces.
struct RayBounceColumns {
  std::span<const double> x, y, dx, dy;
  std::span<const double> t_max = {};
  std::span<const uint32_t> max_bounces = {};

  size_t size() const { return x.size(); }
};

inline constexpr uint32_t kDefaultBounces = 4;

// One leg: the ray over [0, t_max], and the answer to its cast under CLOSEST and REPORT_START, in
// the detail EDGE.
struct RayBounceLeg {
  Vec2 origin;
  Vec2 direction;
  double t_max = std::numeric_limits<double>::infinity();
  bool has_hit = false;
  CastHit hit;  // meaningless without has_hit
};

// The chains of rays. The start of a leg is chosen as in `BounceAnswers`, but with the ulps of the
// largest coordinate of the origin of the leg before it and of the hit. After a hit at t, the
// direction is the reflection of the direction before, each operation rounded once, and the range
// ends at t_max - t, rounded once. A finite range therefore keeps its whole length, and an infinite
// range stays infinite. A chain ends as in `BounceAnswers`, and when nothing of the range is left.
struct RayBounceAnswers {
  std::vector<uint32_t> counts;  // number of legs of item i: at least 1, or 0 for an item in error
  std::vector<RayBounceLeg> legs;  // for each item in turn: its legs
  std::vector<uint32_t> stuck;     // items with a chain that ended as stuck, ascending
  std::vector<ItemError> errors;   // items in error, ascending by index

  void Clear();
};

// Bounces each ray and replaces the contents of `out`. Item errors are as for `CastRays`, and
// TOO_MANY_BOUNCES. Considers the polygons with category & mask != 0. Returns false if `meter`
// stopped the work; `out` is then meaningless. Thread-safe.
bool BounceRays(const Scene& scene, const RayBounceColumns& rays, uint64_t mask,
                RayBounceAnswers& out, WorkMeter& meter);

}  // namespace carom
