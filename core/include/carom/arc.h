// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a bullet that falls hit?
//
// `CastArcs` follows points under constant acceleration, p + v t + a t^2 / 2, for t in
// [0, duration]. Without acceleration carom/cast.h is cheaper.
//
//   const double x[] = {2}, y[] = {8}, zero[] = {0}, ay[] = {-2}, duration[] = {5};
//   ArcAnswers out;
//   WorkMeter meter;
//   CastArcs(*scene, {x, y, zero, zero, zero, ay, duration}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, time 2, point (2, 4), normal (0, 1)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: the unit normal is
// against the velocity. Error: times are the exact ones rounded up, points within 1 ulp of
// themselves. Cost: O(log n + edges near the path) an arc, n the edges of the scene. Thread-safe.
// Cheaper: carom/cast.h without acceleration; richer: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// Modes and policies are those of casts (carom/cast.h). ALL_PASSAGES is not offered: here it reads
// as ALL, a group (carom/group.h) refuses it.
struct ArcOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_hits = 64;  // of ALL, per arc; in [1, 65536]
  uint64_t mask = kEveryCategory;
};

// Arc i starts at (x[i], y[i]) with velocity (vx[i], vy[i]) and acceleration (ax[i], ay[i]); units
// of time are the caller's. duration[i] is in [0, 2^53].
struct ArcColumns {
  std::span<const double> x, y, vx, vy, ax, ay, duration;
  Scope scope = {};  // bodies with a radius are passed over

  size_t size() const { return x.size(); }
};

// One polygon met by one arc. The total order of hits is (time, polygon id).
struct ArcHit {
  uint64_t polygon_id = 0;  // of a body its index, see is_body
  // The exact first touch, rounded up to a double; equal doubles of different polygons tie. Within
  // a polygon times are compared exactly. Under EXIT the passage's end, rounded up likewise.
  double time = 0;
  bool starts_inside = false;  // the passage holds the start
  // The least (ring, edge) through the point along which the velocity does not run, else the least
  // of all (an edge of length zero counts as run along); meaningless without has_edge (the point is
  // strictly inside).
  EdgeRef edge;
  bool has_edge = false;
  bool is_body = false;
  // Where the arc is at the exact time, not at the rounded one: each coordinate within 1 ulp of
  // itself, however the terms cancel, and exact where it is a double (at a vertex, for a start
  // inside, and along its axis on an edge parallel to one).
  Vec2 point;
  // Unit normal of the edge against the velocity there, each component within 1 ulp; under EXIT
  // with the velocity. {0, 0} where the velocity runs along the edge, for a start inside, and for a
  // passage that reaches the end of the duration.
  Vec2 normal;
};

struct ArcAnswers {
  std::vector<uint32_t> counts;     // hits of arc i; under ANY 1 or 0, and `hits` stays empty
  std::vector<ArcHit> hits;         // arc after arc, each in the total order
  std::vector<uint32_t> truncated;  // arcs with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // ascending by index

  void Clear();
};

// Verdicts are exact. Returns false if `meter` stopped the work; `out` is then meaningless.
// Thread-safe.
bool CastArcs(const World& world, const ArcColumns& arcs, const ArcOptions& options,
              ArcAnswers& out, WorkMeter& meter);

}  // namespace carom
