// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a shape that moves and turns run into, and when?
//
// `SweepRotating` follows each shape from pose to pose: the reference point moves in a straight
// line, and the angle changes at a constant rate, the shorter way (counter-clockwise if the poses
// are exactly opposite). The length of (c, s), which may differ a little from 1, changes at a
// constant rate, too. The answer is an interval with a proof, not a point. Without turning,
// carom/sweep.h is exact.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{-1, 0}, {1, 0}}, 0}).value()};
//   const double x[] = {-4}, y[] = {2}, to_x[] = {4}, turn[] = {1}, near[] = {0.01};
//   RotatingSweepAnswers out;
//   WorkMeter meter;
//   SweepRotating(*scene, {{shapes, {}, x, y}, to_x, y, {}, {}, turn, near}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, touches or nearly so at `high`, certainly not before `low`
//
// Lengths are in the unit of the caller's coordinates. Touching counts as contact. Error: a
// certified interval, as narrow as the tolerance requires. Cost: at most about 4 * path length /
// tolerance + 64 distance queries (carom/distance.h) for each sweep. Thread-safe. Cheaper
// alternative: carom/sweep.h without turning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

// What contact at the start means. REPORT_START: contact at the start, an exact verdict, is a hit
// at [0, 0], and polygons that are merely near the start do not matter. IGNORE: polygons in contact
// at the start are left out. (There is no EXIT and no re-entry, because the end of a contact of a
// turning shape is not certified.)
enum class StartPolicy : uint8_t { kReportStart, kIgnore };

struct RotatingSweepOptions {
  StartPolicy start_policy = StartPolicy::kReportStart;
  uint64_t mask = kEveryCategory;
};

// Item i moves from its pose to the position (to_x[i], to_y[i]) and to the rotation (to_c[i],
// to_s[i]) or, instead, to_angle[i]. If the columns of both rotations are empty, the shape does not
// turn. tolerance[i] is a length above 0; `RotatingSweepAnswers::errors` gives its least value.
struct RotatingSweepColumns {
  ShapeColumns movers;
  std::span<const double> to_x, to_y, to_c, to_s, to_angle, tolerance;

  size_t size() const { return movers.size(); }
};

// The certified first contact: there is no contact before `low`; at `high` shape and polygon touch
// or are closer than the tolerance; between `low` and `high` no point of the shape moves more than
// the tolerance. The sweep stops when the shape comes closer than half of the tolerance, though the
// shape might just pass. A shape that starts so close and moves away is not stopped, if it gets
// farther away than that within 64 steps, each of half its distance.
struct RotatingSweepHit {
  // Under REPORT_START, if polygons are in contact at the start: the least id of the polygons in
  // contact, exactly. Otherwise: the least id of the polygons that touch the shape or are closer
  // than the tolerance at `high`, as far as doubles can decide: a polygon at a distance above 6/7
  // of the tolerance may count or not.
  uint64_t polygon_id = 0;
  double low = 0;  // 0 <= low <= high <= 1
  double high = 0;
};

struct RotatingSweepAnswers {
  std::vector<uint32_t> counts;        // 1, or 0: it is proven that there is no contact
  std::vector<RotatingSweepHit> hits;  // for each item in turn: its hit, if any
  // Ascending by index. A tolerance is TOLERANCE_TOO_SMALL if it is below 2^-40 of (the largest
  // coordinate of the two positions + the extent + a capsule's radius), or below 2^-20 of (the
  // distance of the two positions + the extent * the angle turned), or below 2^-130; the extent is
  // the greatest distance of a vertex from the reference point. A tolerance below 0 is
  // NEGATIVE_LENGTH.
  std::vector<ItemError> errors;

  void Clear();
};

// Sweeps each item and replaces the contents of `out`. Returns false if `meter` stopped the work;
// `out` is then meaningless. Cost per item: at most about 4 * (path length / tolerance) + 64
// distance queries, few if the path is clear. Thread-safe.
bool SweepRotating(const Scene& scene, const RotatingSweepColumns& columns,
                   const RotatingSweepOptions& options, RotatingSweepAnswers& out,
                   WorkMeter& meter);

}  // namespace carom
