// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a bullet hit?
//
// `CastSegments` casts closed segments against a scene and answers which polygons they hit, where,
// on which edge, and where they leave again; `CastRays` does so for rays, finite or not. Verdicts
// and order are exact. For "is this point inside?" see carom/locate.h; for "do they see each
// other?", carom/visibility.h; for moving shapes with extent, carom/sweep.h; for bullets that fall,
// carom/arc.h.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   CastAnswers out;
//   WorkMeter meter;
//   CastSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, fraction 0.25, point (0, 1), normal (-1, 0)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: the unit normal is
// on the side that the segment comes from. Error: fractions are correctly rounded, points within 2
// ulp (rays 3). Cost: O(log n + edges near the path) a segment, n the edges of the scene.
// Thread-safe. Cheaper: carom/locate.h for a point; richer: carom/sweep.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// ANY: hit or not, nothing else (the cheapest). CLOSEST: the first hit in the total order.
// ALL: one hit per polygon, in the total order, up to `max_hits`. ALL_PASSAGES: every passage of
// every polygon is a hit of its own, likewise: what a bullet that goes through walls needs.
enum class CastMode : uint8_t { kAny, kClosest, kAll, kAllPassages };

// What a start in the closed polygon (its boundary included) means.
//   REPORT_START: a hit at fraction 0 with normal zero.
//   IGNORE: the passage that holds the start is skipped; a later re-entry counts.
//   EXIT: the end of that passage is the hit; at fraction 1 with normal zero if it reaches `b`.
// Of translating sweeps and slides alone (carom/sweep.h), casts refuse them:
//   BLOCKING: touching does not count, but what is more than touch; it is a hit at the start.
//   BLOCKING_LEAVE: the same, but what is overlapped at the start is passed over until it is left.
enum class InsidePolicy : uint8_t { kReportStart, kIgnore, kExit, kBlocking, kBlockingLeave };

constexpr bool IsBlocking(InsidePolicy policy) {
  return policy == InsidePolicy::kBlocking || policy == InsidePolicy::kBlockingLeave;
}

// What the reported edge is to the segment, tested in this order: parallel to it (an edge of
// length zero, and every edge for a segment of length zero, counts as parallel); met at one of the
// edge's ends; met between them. NONE: no edge is reported.
enum class Feature : uint8_t { kNone, kEdge, kVertex, kCollinear };

// What is hit: the polygons, or the bounding box of each as if it were a solid polygon of edges 0
// (bottom), 1 (right), 2 (top) and 3 (left). The box of a round body is rounded outward and cut off
// where coordinates are above 2^53 in magnitude.
enum class CastTarget : uint8_t { kPolygons, kBounds };

// How much of a hit is computed; each holds those before it. What is not computed is as in a
// default `CastHit`.
//   FRACTION: the polygon, the fraction, and whether the passage holds the start and the end.
//   NORMAL: the point and the normal.
//   EDGE: the edge and the feature.
//   EXIT: the passage's end: its fraction, normal and edge.
enum class CastDetail : uint8_t { kFraction, kNormal, kEdge, kExit };

struct CastOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  CastTarget target = CastTarget::kPolygons;
  CastDetail detail = CastDetail::kExit;
  bool reflect = false;    // whether `CastAnswers::reflections` are asked; needs the normal
  uint32_t max_hits = 64;  // of ALL and ALL_PASSAGES, per segment; in [1, 65536]
  uint64_t mask = kEveryCategory;

  friend bool operator==(const CastOptions&, const CastOptions&) = default;
};

inline constexpr uint32_t kMaxMaxHits = 65536;

// One polygon, or one body, met by one segment a->b. The passage is the largest interval of t in
// [0, 1] with a + t(b - a) in the polygon that holds the hit.
struct CastHit {
  uint64_t polygon_id = 0;  // of a body its index, see is_body
  // The least (ring, edge) through the hit point that is not parallel to the segment, else the
  // least of all. Meaningless when `feature` is NONE (the hit point is on no edge).
  EdgeRef edge;
  EdgeRef exit_edge;  // the same for the passage's end; see has_exit_edge
  Feature feature = Feature::kNone;
  bool starts_inside = false;  // the passage holds the start
  bool ends_inside = false;    // the passage reaches `b`
  bool has_exit_edge = false;  // the passage's end is on an edge
  bool is_body = false;        // a body was hit; a round one has no edges
  // In [0, 1]: the exact value, rounded to nearest even; where a body with a radius is entered,
  // rounded up.
  double fraction = 0;
  // The end of the passage, likewise; 1 when ends_inside. A segment of length zero has one
  // parameter, t = 0: its passage starts and ends inside, and both fractions are 0. Of a body with
  // a radius it is rounded down, but not below the fraction.
  double exit_fraction = 0;
  // Errs by at most 2 ulp of the largest coordinate of the segment; for a ray, 3 ulp of that of its
  // origin and the exact point. A vertex is met exactly.
  Vec2 point;
  // Unit normal of the reported edge on the side the segment comes from, normal . (b - a) < 0;
  // each component within 1 ulp of exact. {0, 0} for an edge parallel to the segment, for none,
  // and for a start inside under REPORT_START. Under EXIT it is that of the exit. Of a body with a
  // radius: from its axis, within 1 ulp + 2^-94, or 2^-45 where the line all but grazes it.
  Vec2 normal;
  // Likewise for the end, exit_normal . (b - a) > 0; {0, 0} when ends_inside.
  Vec2 exit_normal;
};

// Segments in columns: segment i runs from (ax[i], ay[i]) to (bx[i], by[i]).
struct SegmentColumns {
  std::span<const double> ax, ay, bx, by;
  Scope scope = {};

  size_t size() const { return ax.size(); }
};

// Rays in columns: ray i is origin (x[i], y[i]), direction (dx[i], dy[i]), of any length but 0, and
// the range [t_min[i], t_max[i]]. An empty t_min means 0, an empty t_max no end.
struct RayColumns {
  std::span<const double> x, y, dx, dy, t_min = {}, t_max = {};
  Scope scope = {};

  size_t size() const { return x.size(); }
};

// Answers of a batch. Reused from call to call, it stops allocating once it is warm.
struct CastAnswers {
  // Hits of segment i, summing to hits.size(); under ANY 1 or 0, and `hits` stays empty.
  std::vector<uint32_t> counts;
  std::vector<CastHit> hits;  // segment after segment, each in the total order
  // Beside `hits` if asked, else empty: b - a reflected about the normal, b - a - 2 ((b - a) . n)
  // n, each component within 1 ulp of |b - a|; {0, 0} where the normal is zero.
  std::vector<Vec2> reflections;
  std::vector<uint32_t> truncated;  // segments with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // ascending by index; those segments count 0 hits

  void Clear();
};

// Casts each segment and appends nothing to what `out` held: it is cleared first. The total order
// of hits is (exact fraction, polygon id, ring, edge), with bodies as carom/bodies.h has it. A body
// with a radius counts by its rounded fraction. Returns false if `meter` stopped the work;
// `out` is then meaningless. An item error is a coordinate that is not accepted. Cost per segment:
// O(log n + edges near it); thread-safe.
bool CastSegments(const World& world, const SegmentColumns& segments, const CastOptions& options,
                  CastAnswers& out, WorkMeter& meter);

// The same for rays: each is the segment from t_min to t_max, whose ends need not be doubles, taken
// exactly. Fractions are in units of the direction, in [t_min, t_max]: a start is judged at t_min,
// which then is the fraction. The passage's end is the ray's (exit fraction t_max) only where t_max
// is finite. Reflections are those of the direction. Over [0, 1] with a direction that is exactly
// b - a, a ray answers the bytes that the segment does.
//
// Item errors: x, y, dx or dy that is not accepted; ZERO_DIRECTION on dx where dx and dy are read
// as 0; NOT_A_RANGE on t_min where it is not in [0, inf), else on t_max where it is not above it.
// Where t_min > 0, a polygon whose box holds the start costs its edges near all of the ray's line.
bool CastRays(const World& world, const RayColumns& rays, const CastOptions& options,
              CastAnswers& out, WorkMeter& meter);

}  // namespace carom
