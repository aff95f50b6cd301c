// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats the answers of `carom eval` as lines of JSON.
//
// Each `…Line` function returns one line without a line break. `q` is the JSON text of the line's
// first member "q", or empty for a line without it. Ids are printed as exact integers, other
// numbers as the shortest text that reads back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "carom/batch.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/slide.h"
#include "carom/sweep.h"

namespace carom::cli {

// The polygons of an answer, by id, and the bodies, by index. A line lists the bodies in a member
// of their own, "bodies".
struct Rows {
  std::span<const uint64_t> polygon_ids;  // id of a polygon, or index of a body
  std::span<const uint8_t> is_body = {};  // parallel to polygon_ids; empty: no row is a body
  bool includes_bodies = false;           // the question considers bodies

  bool names_body(size_t i) const { return !is_body.empty() && is_body[i] != 0; }
};

// Holds the polygons and bodies of sweep hits in the columns of `Rows`.
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

// The polygons and bodies that contain one point: rows of `LocateAnswers`.
struct Holders {
  Rows rows;
  std::span<const Location> locations;
};

// Returns the answer to a point query.
std::string PointLine(std::string_view q, const Holders& holders);

// Returns the answer to a segment query. `hits` are in the total order; `holders` contain the
// start.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders);

// Returns the answer to a segment query in the mode ANY, which has no list of hits.
std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders);

// Returns the answer to a circle query. `touching` is parallel to `rows`.
std::string CircleLine(std::string_view q, const Rows& rows, std::span<const uint8_t> touching);

// Returns the answer to a polygon query.
std::string PolygonLine(std::string_view q, const Rows& rows);

// Returns the answer to a distance query. `distances` is parallel to `rows`; both are empty if the
// query considers no polygon and no body.
std::string DistanceLine(std::string_view q, const Rows& rows,
                         std::span<const DistanceRow> distances);

// Returns the answer to a `SweepQuery`. `hits` are in the total order.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits, bool includes_bodies);

// Returns the answer to a `PosedSweepQuery`: the first hit, the polygons and bodies that the shape
// overlaps at the start, and under a blocking policy the safe position, else null.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits, const Rows& start_in,
                           const Vec2* safe);

// Returns the answer to a slide query.
std::string SlideLine(std::string_view q, const SlideRow& row, std::span<const SlideLeg> legs);

// Returns the answer to a query for the bounces of a segment.
std::string BounceLine(std::string_view q, std::span<const BounceLeg> legs, bool is_stuck);

// Returns the answer to a query for the bounces of a ray.
std::string RayBounceLine(std::string_view q, std::span<const RayBounceLeg> legs, bool is_stuck);

// Returns the answer to a contact query, which lists the contacts with convex polygons. `contacts`
// is parallel to `rows`.
std::string ContactLine(std::string_view q, const Rows& rows, std::span<const Contact> contacts);

// Returns the answer to a move of a tracker. `edge_counts` is parallel to `polygon_ids`; `edges`
// has the edges of all polygons, one polygon after the other.
std::string MoveLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                     std::span<const uint32_t> edge_counts, std::span<const EdgeRef> edges);

// Returns an error line, which has the code, and the field and description of the first violation.
std::string ErrorLine(std::string_view q, const absl::Status& status);

// Returns an item error as a status whose violation names a member of the query's line. `columns`
// is the member that has the columns x and y: "p" or "c", or "" if the line has members "x" and
// "y". For segments the members are "a" and "b".
absl::Status ItemStatus(const ItemError& error, std::string_view columns);
// Returns an item error of a `PosedSweepQuery` or `SlideQuery` in the manner of `ItemStatus`.
absl::Status MotionStatus(const ItemError& error);

}  // namespace carom::cli
