// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a bullet hit?
//
// `CastSegments` casts closed segments against a scene and returns which polygons they hit, where,
// on which edge, and where they leave again; `CastRays` casts rays, finite or not. Verdicts and
// order are exact. For points see carom/locate.h; for lines of sight, carom/visibility.h; for
// moving shapes with extent, carom/sweep.h; for bullets that fall, carom/arc.h.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   CastAnswers out;
//   WorkMeter meter;
//   CastSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, fraction 0.25, point (0, 1), normal (-1, 0)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as a hit. The unit normal is
// on the side that the segment comes from. Error: fractions are correctly rounded, points within 2
// ulp (for rays 3). Cost: O(log n + edges near the path) for each segment, n the edges of the
// scene. Thread-safe. Cheaper alternative: carom/locate.h for a point. More powerful:
// carom/sweep.h.
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

// Which hits of a segment are reported. ANY: whether there is a hit, nothing else (the cheapest
// mode). CLOSEST: the first hit in the total order. ALL: one hit per polygon, in the total order,
// up to `max_hits`. ALL_PASSAGES: one hit per passage of every polygon, in the total order, up to
// `max_hits`: for bullets that go through walls.
enum class CastMode : uint8_t { kAny, kClosest, kAll, kAllPassages };

// What is reported for a polygon that contains the start of the segment (its boundary included).
//   REPORT_START: a hit at fraction 0 with normal zero.
//   IGNORE: nothing for the passage that contains the start; a later re-entry is a hit.
//   EXIT: a hit at the end of the passage that contains the start; at fraction 1 with normal zero
//     if the passage reaches `b`.
// Two policies are for translating sweeps and slides (carom/sweep.h); `CheckGroup` refuses them for
// casts:
//   BLOCKING: shapes that only touch do not hit. Shapes that overlap in more than touch at the
//     start hit at fraction 0.
//   BLOCKING_LEAVE: like BLOCKING, but a polygon that overlaps the shape in more than touch at the
//     start is ignored until the shape has left it.
enum class InsidePolicy : uint8_t { kReportStart, kIgnore, kExit, kBlocking, kBlockingLeave };

constexpr bool IsBlocking(InsidePolicy policy) {
  return policy == InsidePolicy::kBlocking || policy == InsidePolicy::kBlockingLeave;
}

// How the segment meets the reported edge; the first of these that applies. COLLINEAR: the edge is
// parallel to the segment (an edge of length zero counts as parallel, and so does every edge for a
// segment of length zero). VERTEX: the segment meets an end of the edge. EDGE: the segment meets
// the edge between its ends. NONE: no edge is reported.
enum class Feature : uint8_t { kNone, kEdge, kVertex, kCollinear };

// What a segment is cast against: the polygons, or the bounding box of each polygon as if the box
// were a solid polygon of edges 0 (bottom), 1 (right), 2 (top) and 3 (left). The box of a round
// body is rounded outward and clipped to coordinates of at most 2^53 in magnitude.
enum class CastTarget : uint8_t { kPolygons, kBounds };

// How much of a hit is computed; each detail includes the details before it. A member that is not
// computed has its value in a default `CastHit`.
//   FRACTION: the polygon, the fraction, and whether the passage contains the start and the end.
//   NORMAL: the point and the normal.
//   EDGE: the edge and the feature.
//   EXIT: the end of the passage: its fraction, normal and edge.
enum class CastDetail : uint8_t { kFraction, kNormal, kEdge, kExit };

struct CastOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  CastTarget target = CastTarget::kPolygons;
  CastDetail detail = CastDetail::kExit;
  bool reflect = false;    // fills `CastAnswers::reflections`; needs detail NORMAL at least
  uint32_t max_hits = 64;  // limit of hits per segment, under ALL and ALL_PASSAGES; in [1, 65536]
  uint64_t mask = kEveryCategory;
  // Soft walls, under CLOSEST and ANY: a polygon or body with category & soft_mask != 0 is soft.
  // The line passes `soft_count` passages of soft polygons, in the total order of their begins; the
  // next one, or the first passage of another polygon, is the hit.
  uint64_t soft_mask = 0;
  uint32_t soft_count = 0;   // in [0, 16]
  bool soft_length = false;  // fills `CastAnswers::soft_lengths`; needs CLOSEST

  friend bool operator==(const CastOptions&, const CastOptions&) = default;
};

inline constexpr uint32_t kMaxMaxHits = 65536;
inline constexpr uint32_t kMaxSoftCount = 16;

// One hit: a polygon, or a body, that a segment a->b meets. The *passage* is the largest interval
// of t in [0, 1] that contains the hit and in which a + t(b - a) is in the polygon.
struct CastHit {
  uint64_t polygon_id = 0;  // the index of the body if is_body
  // The least (ring, edge) through the hit point that is not parallel to the segment, else the
  // least of all edges through the hit point. Meaningless when `feature` is NONE: the hit point is
  // then on no edge.
  EdgeRef edge;
  EdgeRef exit_edge;  // edge at the end of the passage, chosen like `edge`; see has_exit_edge
  Feature feature = Feature::kNone;
  bool starts_inside = false;  // the passage contains the start
  bool ends_inside = false;    // the passage reaches `b`
  bool has_exit_edge = false;  // the passage's end is on an edge
  bool is_body = false;        // the hit is on a body; a round body has no edges
  // In [0, 1]: the exact value, rounded to nearest even; for the entry into a body with a radius,
  // rounded up.
  double fraction = 0;
  // The end of the passage, rounded to nearest even; 1 when ends_inside. A segment of length zero
  // has one parameter, t = 0: its passage starts and ends inside, and both fractions are 0. For a
  // body with a radius, the end is rounded down, but not below `fraction`.
  double exit_fraction = 0;
  // The hit point, within 2 ulp of the largest coordinate of the segment; for a ray, within 3 ulp
  // of the largest coordinate of its origin and the exact point. A hit at a vertex has the exact
  // vertex.
  Vec2 point;
  // Unit normal of the reported edge on the side that the segment comes from, normal . (b - a) < 0;
  // each component within 1 ulp of exact. {0, 0} for an edge parallel to the segment, for no edge,
  // and for a start inside under REPORT_START. For a start inside under EXIT, the normal of the
  // exit. For a body with a radius, the direction from its axis: within 1 ulp + 2^-94, or 2^-45 if
  // the line almost grazes the body.
  Vec2 normal;
  // Unit normal at the end of the passage, with the error bounds of `normal`; {0, 0} when
  // ends_inside. exit_normal . (b - a) > 0.
  Vec2 exit_normal;
};

// Segments in columns: segment i goes from (ax[i], ay[i]) to (bx[i], by[i]).
struct SegmentColumns {
  std::span<const double> ax, ay, bx, by;
  Scope scope = {};

  size_t size() const { return ax.size(); }
};

// Rays in columns: ray i has the origin (x[i], y[i]), the direction (dx[i], dy[i]), of any length
// but 0, and the range [t_min[i], t_max[i]]. An empty t_min means 0, an empty t_max means infinity.
struct RayColumns {
  std::span<const double> x, y, dx, dy, t_min = {}, t_max = {};
  Scope scope = {};

  size_t size() const { return x.size(); }
};

// Answers of a batch. An object that is used for many calls stops allocating once it is warm.
struct CastAnswers {
  // Number of hits of segment i; the counts sum to hits.size(). Under ANY a count is 1 or 0, and
  // `hits` stays empty.
  std::vector<uint32_t> counts;
  std::vector<CastHit> hits;  // for each segment in turn: its hits in the total order
  // One entry per hit if `CastOptions::reflect` is set, else empty: b - a reflected about the
  // normal n, b - a - 2 ((b - a) . n) n, each component within 1 ulp of |b - a|; {0, 0} if the
  // normal is zero.
  std::vector<Vec2> reflections;
  // One entry per segment if `soft_mask` is not 0 or `soft_length` is set, under CLOSEST, else
  // empty: the number of passages of soft polygons and bodies before the hit, or on the whole
  // segment if there is no hit; at most soft_count. Under IGNORE, the passage that contains the
  // start is not counted.
  std::vector<uint32_t> passed;
  // One entry per segment if `CastOptions::soft_length` is set, else empty: the length of the part
  // of the segment before the hit (of all of it if there is no hit) that is in soft polygons or
  // bodies. What is in several of them counts once; the passage that contains the start counts. For
  // a ray, a length along the direction as given. The error is at most 1 ulp, and 2^-90 of the
  // distance from the origin to the hit or the last exit.
  std::vector<double> soft_lengths;
  std::vector<uint32_t> truncated;  // segments with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // segments in error, ascending by index; their counts are 0

  void Clear();
};

// Casts each segment and replaces the contents of `out`. Soft walls take a general path,
// one line at a time; without a soft count and length, they cost nothing. The total
// order of hits is (exact fraction, polygon id, ring, edge); carom/bodies.h extends it to bodies.
// Bodies with a radius are ordered by their rounded fractions. Returns false if `meter` stopped the
// work; `out` is then meaningless. An item error is a coordinate that is not accepted. Cost per
// segment: O(log n + edges near the segment). Thread-safe.
bool CastSegments(const World& world, const SegmentColumns& segments, const CastOptions& options,
                  CastAnswers& out, WorkMeter& meter);

// Casts each ray and replaces the contents of `out`. A ray is the segment from t_min to t_max; the
// ends of this segment need not be doubles and are taken exactly. Fractions are in units of the
// direction, in [t_min, t_max]; a start is judged at t_min, and a hit at the start has the fraction
// t_min. A passage reaches the end of the ray (exit fraction t_max) only if t_max is finite.
// Reflections reflect the direction. The answer to a ray over [0, 1] with the direction b - a,
// exactly, equals the answer to the segment byte for byte. Returns false if `meter` stopped the
// work; `out` is then meaningless.
//
// Item errors: x, y, dx or dy that is not accepted; ZERO_DIRECTION on dx if dx and dy are read as
// 0; NOT_A_RANGE on t_min if t_min is not in [0, inf), else on t_max if t_max is not above t_min.
// Cost per ray: as for a segment; if t_min > 0, a polygon with a box that contains the start costs
// its edges near the whole line of the ray. Thread-safe.
bool CastRays(const World& world, const RayColumns& rays, const CastOptions& options,
              CastAnswers& out, WorkMeter& meter);

}  // namespace carom
