// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a bullet hit?
//
// `CastSegments` casts closed segments against a scene and answers which polygons they hit, where,
// on which edge, and where they leave again. Verdicts and order are exact. For "is this point
// inside?" see carom/locate.h; for shapes with extent, carom/overlap.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// ANY: hit or not, nothing else (the cheapest). CLOSEST: the first hit in the total order.
// ALL: one hit per polygon, in the total order, up to `max_hits`.
enum class CastMode : uint8_t { kAny, kClosest, kAll };

// What a start in the closed polygon (its boundary included) means.
//   REPORT_START: a hit at fraction 0 with normal zero.
//   IGNORE: the passage that holds the start is skipped; a later re-entry counts.
//   EXIT: the end of that passage is the hit; at fraction 1 with normal zero if it reaches `b`.
enum class InsidePolicy : uint8_t { kReportStart, kIgnore, kExit };

// What the reported edge is to the segment, tested in this order: parallel to it (an edge of
// length zero, and every edge for a segment of length zero, counts as parallel); met at one of the
// edge's ends; met between them. NONE: no edge is reported.
enum class Feature : uint8_t { kNone, kEdge, kVertex, kCollinear };

struct CastOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_hits = 64;  // of ALL, per segment; in [1, 65536]
  uint64_t mask = kEveryCategory;
};

inline constexpr uint32_t kMaxMaxHits = 65536;

// One polygon met by one segment a->b. The passage is the largest interval of t in [0, 1] with
// a + t(b - a) in the polygon that holds the hit.
struct CastHit {
  uint64_t polygon_id = 0;
  // The least (ring, edge) through the hit point that is not parallel to the segment, else the
  // least of all. Meaningless when `feature` is NONE (the hit point is on no edge).
  EdgeRef edge;
  EdgeRef exit_edge;  // the same for the passage's end; see has_exit_edge
  Feature feature = Feature::kNone;
  bool starts_inside = false;  // the passage holds the start
  bool ends_inside = false;    // the passage reaches `b`
  bool has_exit_edge = false;  // the passage's end is on an edge
  // In [0, 1]: the exact value, rounded to nearest even.
  double fraction = 0;
  // The end of the passage, likewise; 1 when ends_inside. A segment of length zero has one
  // parameter, t = 0: its passage starts and ends inside, and both fractions are 0.
  double exit_fraction = 0;
  Vec2 point;  // errs by at most 2 ulp of the largest coordinate of the query
  // Unit normal of the reported edge on the side the segment comes from, normal . (b - a) < 0;
  // each component within 1 ulp of exact. {0, 0} for an edge parallel to the segment, for none,
  // and for a start inside under REPORT_START. Under EXIT it is that of the exit.
  Vec2 normal;
  // Likewise for the end, exit_normal . (b - a) > 0; {0, 0} when ends_inside.
  Vec2 exit_normal;
};

// Segments in columns: segment i runs from (ax[i], ay[i]) to (bx[i], by[i]).
struct SegmentColumns {
  std::span<const double> ax, ay, bx, by;

  size_t size() const { return ax.size(); }
};

// Answers of a batch. Reused from call to call, it stops allocating once it is warm.
struct CastAnswers {
  // Hits of segment i, summing to hits.size(); under ANY 1 or 0, and `hits` stays empty.
  std::vector<uint32_t> counts;
  std::vector<CastHit> hits;        // segment after segment, each in the total order
  std::vector<uint32_t> truncated;  // segments with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // ascending by index; those segments count 0 hits

  void Clear();
};

// Casts each segment and appends nothing to what `out` held: it is cleared first. The total order
// of hits is (exact fraction, polygon id, ring, edge). Returns false if `meter` stopped the work;
// `out` is then meaningless. Cost per segment: O(log n + edges near it); thread-safe.
bool CastSegments(const Scene& scene, const SegmentColumns& segments, const CastOptions& options,
                  CastAnswers& out, WorkMeter& meter);

}  // namespace carom
