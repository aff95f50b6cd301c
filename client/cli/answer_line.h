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

// The polygons that hold one point: rows of `LocateAnswers`.
struct Holders {
  std::span<const uint64_t> polygon_ids;
  std::span<const Location> locations;
};

std::string PointLine(std::string_view q, const Holders& holders);

// `hits` in the total order; `holders` of the start.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders);

// The same for a cast in the mode ANY, which answers no hits.
std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders);

// `touching` beside `polygon_ids`.
std::string CircleLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                       std::span<const uint8_t> touching);

std::string PolygonLine(std::string_view q, std::span<const uint64_t> polygon_ids);

// `rows` beside `polygon_ids`; both empty in an empty scene.
std::string DistanceLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                         std::span<const DistanceRow> rows);

// `hits` in the total order.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits);

// A sweep from a pose: its first hit, the polygons that it overlaps at its start, and under a
// blocking policy its safe pose, else null.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits,
                           std::span<const uint64_t> start_in, const Vec2* safe);

std::string SlideLine(std::string_view q, const SlideRow& row, std::span<const SlideLeg> legs);

std::string BounceLine(std::string_view q, std::span<const BounceLeg> legs, bool is_stuck);

// The contacts of convex polygons; `contacts` beside `polygon_ids`.
std::string ContactLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                        std::span<const Contact> contacts);

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
