// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a shape that moves and turns run into, and when?
//
// `SweepRotating` follows each shape from pose to pose: the reference point moves in a straight
// line, the angle changes at a constant rate the shorter way (exactly opposite: counter-clockwise),
// and so does the length of (c, s), which may differ a little from 1. The answer is an interval
// with a proof, not a point. Without turning, carom/sweep.h is exact.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{-1, 0}, {1, 0}}, 0}).value()};
//   const double x[] = {-4}, y[] = {2}, to_x[] = {4}, turn[] = {1}, near[] = {0.01};
//   RotatingSweepAnswers out;
//   WorkMeter meter;
//   SweepRotating(*scene, {{shapes, {}, x, y}, to_x, y, {}, {}, turn, near}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, touches or nearly so at `high`, certainly not before `low`
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: a certified
// interval, as narrow as the tolerance asks. Cost: at most about 4 * path length / tolerance + 64
// distance queries a sweep (carom/distance.h). Thread-safe. Cheaper: carom/sweep.h without turning;
// richer: none.
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

// REPORT_START: contact at the start, an exact verdict, is a hit at [0, 0]; what is merely near by
// then does not matter. IGNORE: polygons in contact at the start are left out.
// (The end of a contact that turns is not certified, so there is no EXIT and no re-entry.)
enum class StartPolicy : uint8_t { kReportStart, kIgnore };

struct RotatingSweepOptions {
  StartPolicy start_policy = StartPolicy::kReportStart;
  uint64_t mask = kEveryCategory;
};

// Item i moves from its pose to (to_x[i], to_y[i]) with the rotation (to_c[i], to_s[i]) or,
// instead, to_angle[i]; both empty: no turn. tolerance[i] is a length above 0; see `errors` below.
struct RotatingSweepColumns {
  ShapeColumns movers;
  std::span<const double> to_x, to_y, to_c, to_s, to_angle, tolerance;

  size_t size() const { return movers.size(); }
};

// The first contact, certified: there is none before `low`; at `high` shape and polygon touch or
// are closer than the tolerance; no point of the shape moves more than the tolerance between the
// two. A shape that comes closer than half of the tolerance is stopped, though it might just pass;
// one that starts so close and moves away is not, if it is out of there within 64 steps, each of
// half its distance.
struct RotatingSweepHit {
  // Where polygons are in contact at the start under REPORT_START: the least of those in contact,
  // exactly. Else the least of those that are so close at `high`, as far as doubles can decide: a
  // polygon whose distance is above 6/7 of the tolerance may count or not.
  uint64_t polygon_id = 0;
  double low = 0;  // 0 <= low <= high <= 1
  double high = 0;
};

struct RotatingSweepAnswers {
  std::vector<uint32_t> counts;        // 1, or 0: proof that there is no contact at all
  std::vector<RotatingSweepHit> hits;  // item after item
  // Ascending by index. Let the extent be the greatest distance of a vertex from the reference
  // point. A tolerance below 2^-40 of (the largest coordinate of the two positions + the extent + a
  // capsule's radius), or below 2^-20 of (the distance of the two positions + the extent * the
  // angle turned), or below 2^-130, is TOLERANCE_TOO_SMALL; one below 0 NEGATIVE_LENGTH.
  std::vector<ItemError> errors;

  void Clear();
};

// Cost per item: at most about 4 * (way / tolerance) + 64 distance queries, few where the way is
// clear.
// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
bool SweepRotating(const Scene& scene, const RotatingSweepColumns& columns,
                   const RotatingSweepOptions& options, RotatingSweepAnswers& out,
                   WorkMeter& meter);

}  // namespace carom
