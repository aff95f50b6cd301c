// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats the answers of `carom eval` as lines of JSON.
//
// Each `…Line` function returns one line without a line break. `q` is the JSON text of the member
// "q" in the line of the query, which the answer repeats as its first member; empty for a line
// without "q". Ids are printed as exact integers, other numbers as the shortest text that is parsed
// to the same double.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "carom/area.h"
#include "carom/batch.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/sees.h"
#include "carom/slide.h"
#include "carom/sweep.h"

namespace carom::cli {

// The polygons and bodies (placed shapes besides the polygons of the scene) that an answer lists:
// polygons by id, bodies by index. A JSON line lists the bodies in a separate member, "bodies".
struct Rows {
  std::span<const uint64_t> polygon_ids;  // id of a polygon, or index of a body
  std::span<const uint8_t> is_body = {};  // whether row i is a body; empty: no row is
  bool includes_bodies = false;           // whether the query considers bodies

  bool names_body(size_t i) const { return !is_body.empty() && is_body[i] != 0; }
};

// Holds the polygons and bodies (placed shapes besides the scene) of the hits of a sweep as
// columns; the function `rows` returns views of the columns.
class HitRows {
 public:
  HitRows(std::span<const SweepHit> hits, bool includes_bodies);
  // Returns views of this object's columns.
  Rows rows() const { return {ids_, is_body_, includes_bodies_}; }

 private:
  std::vector<uint64_t> ids_;
  std::vector<uint8_t> is_body_;
  bool includes_bodies_;
};

// The polygons and bodies that contain one point. locations[i] is where the point is in row i:
// inside or on the boundary.
struct Holders {
  Rows rows;
  std::span<const Location> locations;
};

// Returns the answer to a point query: the polygons and bodies that contain the point.
std::string PointLine(std::string_view q, const Holders& holders);

// Returns the answer to a segment query. `hits` are ordered by fraction, then polygon id; `holders`
// are the polygons and bodies that contain the start of the segment.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders);

// What stops a segment past soft walls: its hit, or none; the number of passages that it passes
// before, and the length inside soft polygons and bodies.
struct SoftEnd {
  std::span<const CastHit> hit;
  uint32_t passed = 0;
  double soft_length = 0;
};
// Returns the answer to a segment query with soft walls. `all` and `holders` are as for
// `SegmentLine`.
std::string SoftSegmentLine(std::string_view q, const SoftEnd& end, std::span<const CastHit> all,
                            const Holders& holders);
// Returns the answer to a `SightQuery`.
std::string SightLine(std::string_view q, bool is_visible);

// Returns the answer to a segment query in the mode ANY, in which the server answers only whether
// there is a hit. `holders` are the polygons and bodies that contain the start of the segment.
std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders);

// Returns the answer to a circle query. `rows` has the polygons and bodies that the circle touches;
// touching[i] is 1 if the circle touches row i without overlapping it, and 0 if the two overlap.
std::string CircleLine(std::string_view q, const Rows& rows, std::span<const uint8_t> touching);

// Returns the answer to a `PolygonQuery`: the polygons and bodies that the shape touches.
std::string PolygonLine(std::string_view q, const Rows& rows);

// Returns the answer to a `DistanceQuery`: the nearest polygons and bodies. distances[i] belongs to
// row i of `rows`; both are empty if the query considers no polygon and no body.
std::string DistanceLine(std::string_view q, const Rows& rows,
                         std::span<const DistanceRow> distances);

// Returns the answer to a `NearestQuery`: the nearest polygons and bodies, nearest first.
// distances[i] belongs to row i of `rows`.
std::string NearestLine(std::string_view q, const Rows& rows,
                        std::span<const DistanceRow> distances);

// Returns the answer to a `SweepQuery`: what the moving shape touches first. `hits` are ordered by
// fraction, then polygon id.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits, bool includes_bodies);

// Returns the answer to a `PosedSweepQuery`: the first hit, the polygons and bodies that the shape
// overlaps at the start (`start_in`), and `*safe`, the position to which the shape can move before
// a polygon or body blocks it. `safe` is null unless the query has `inside` kBlocking or
// kBlockingLeave: overlap in more than touch then blocks the shape.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits, const Rows& start_in,
                           const Vec2* safe);

// Returns the answer to a `SlideQuery`: the end of the slide in `row`, and its legs (straight
// parts).
std::string SlideLine(std::string_view q, const SlideRow& row, std::span<const SlideLeg> legs);

// Returns the answer to a `BounceQuery`: the legs (straight parts) of the path of a segment that
// bounces. `is_stuck`: the path ends early, because no representable point near the last hit is a
// valid start of the next leg.
std::string BounceLine(std::string_view q, std::span<const BounceLeg> legs, bool is_stuck);

// Returns the answer to a `RayBounceQuery`: the legs (straight parts) of the path of a ray that
// bounces. `is_stuck`: the path ends early, because no representable point near the last hit is a
// valid start of the next leg.
std::string RayBounceLine(std::string_view q, std::span<const RayBounceLeg> legs, bool is_stuck);

// Returns the answer to an `AreaQuery`: the pieces of the boundary of the visible area, its size,
// and whether a polygon or body contains the eye.
std::string AreaLine(std::string_view q, std::span<const AreaPiece> pieces, double area,
                     bool starts_inside);

// Returns the answer to a `SeesQuery`: the indices of the bodies that the observer sees, and
// whether a polygon contains the eye.
std::string SeesLine(std::string_view q, const SeeAnswers& answers);

// Returns the answer to a `ContactQuery`: the contacts (normal and depth) of the shape with the
// convex polygons and bodies that it touches. contacts[i] is the contact with row i of `rows`.
std::string ContactLine(std::string_view q, const Rows& rows, std::span<const Contact> contacts);

// Returns the answer to a move of a tracker (a shape that earlier lines defined): the polygons and
// edges that it touches at its new pose. edge_counts[i] is the number of touched edges of polygon
// polygon_ids[i]; `edges` has the touched edges of all polygons, one polygon after the other.
std::string MoveLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                     std::span<const uint32_t> edge_counts, std::span<const EdgeRef> edges);

// Returns the line for a refused query. It has the code of `status`, and the field and description
// of its first violation.
std::string ErrorLine(std::string_view q, const absl::Status& status);

// Returns `error`, the error of one query, as a status whose violation names the faulty member of
// the query's JSON line. `columns` is the name of the member with the point [x, y] from which the
// columns x and y of the query were made: "p" or "c", or "" if the line has members "x" and "y".
// The columns of a segment are always named by the members "a" and "b".
absl::Status ItemStatus(const ItemError& error, std::string_view columns);
// Returns `error`, the error of one `PosedSweepQuery` or `SlideQuery`, as a status whose violation
// names the faulty member of the query's JSON line.
absl::Status MotionStatus(const ItemError& error);
// Returns `error`, the error of one `NearestQuery`, in the same way.
absl::Status NearestStatus(const ItemError& error);

}  // namespace carom::cli
