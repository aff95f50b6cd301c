// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is an answer as a line of JSON?
//
// Each function returns one line without its line break. `q` is the JSON text that the line begins
// with, or empty. Ids print as exact integers, numbers as the shortest text that reads back.
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

// The polygons of an answer and, of a question that considers bodies, the indices of bodies. A line
// lists the latter by themselves, as "bodies".
struct Rows {
  std::span<const uint64_t> polygon_ids;
  std::span<const uint8_t> is_body = {};  // beside polygon_ids, or empty: none is a body
  bool asks_bodies = false;

  bool names_body(size_t i) const { return !is_body.empty() && is_body[i] != 0; }
};

// The rows of hits.
class HitRows {
 public:
  HitRows(std::span<const SweepHit> hits, bool asks_bodies);
  // Points into the object.
  Rows rows() const { return {ids_, is_body_, asks_bodies_}; }

 private:
  std::vector<uint64_t> ids_;
  std::vector<uint8_t> is_body_;
  bool asks_bodies_;
};

// The polygons that hold one point: rows of `LocateAnswers`.
struct Holders {
  Rows rows;
  std::span<const Location> locations;
};

std::string PointLine(std::string_view q, const Holders& holders);

// `hits` in the total order; `holders` of the start.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders);

// The same for a cast in the mode ANY, which answers no hits.
std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders);

// `touching` beside `rows`.
std::string CircleLine(std::string_view q, const Rows& rows, std::span<const uint8_t> touching);

std::string PolygonLine(std::string_view q, const Rows& rows);

// `distances` beside `rows`; both empty where nothing is considered.
std::string DistanceLine(std::string_view q, const Rows& rows,
                         std::span<const DistanceRow> distances);

// `hits` in the total order.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits, bool asks_bodies);

// A sweep from a pose: its first hit, what it overlaps at its start, and under a blocking policy
// its safe pose, else null.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits, const Rows& start_in,
                           const Vec2* safe);

std::string SlideLine(std::string_view q, const SlideRow& row, std::span<const SlideLeg> legs);

std::string BounceLine(std::string_view q, std::span<const BounceLeg> legs, bool is_stuck);

std::string RayBounceLine(std::string_view q, std::span<const RayBounceLeg> legs, bool is_stuck);

// The contacts of convex polygons; `contacts` beside `rows`.
std::string ContactLine(std::string_view q, const Rows& rows, std::span<const Contact> contacts);

// `edge_counts` beside `polygon_ids`; `edges` of all of them.
std::string MoveLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                     std::span<const uint32_t> edge_counts, std::span<const EdgeRef> edges);

// The field is that of the first violation.
std::string ErrorLine(std::string_view q, const absl::Status& status);

// An item error, as a status whose violation names a member of the query's line. `columns` are the
// line's word for the columns x and y: "p" or "c", empty for "x" and "y" themselves; segments have
// their own.
absl::Status ItemStatus(const ItemError& error, std::string_view columns);
// The same for sweeps from a pose and slides.
absl::Status MotionStatus(const ItemError& error);

}  // namespace carom::cli
