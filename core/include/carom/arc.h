// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a falling bullet hit?
//
// `CastArcs` casts points under constant acceleration, along the paths p + v t + a t^2 / 2 for t in
// [0, duration]. Without acceleration carom/cast.h is cheaper.
//
//   const double x[] = {2}, y[] = {8}, zero[] = {0}, ay[] = {-2}, duration[] = {5};
//   ArcAnswers out;
//   WorkMeter meter;
//   CastArcs(*scene, {x, y, zero, zero, zero, ay, duration}, {}, out, meter);
//   // out.hits[0]: polygon_id 7, time 2, point (2, 4), normal (0, 1)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as a hit. The unit normal
// points against the velocity. Error: times are the exact ones rounded up; each coordinate of a
// point is within 1 ulp of its exact value. Cost: O(log n + edges near the path) for each arc, n
// the edges of the scene. Thread-safe. Cheaper alternative: carom/cast.h without acceleration.
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

// Arcs have the modes and policies of casts (carom/cast.h). ALL_PASSAGES is not supported:
// `CastArcs` treats it as ALL, and `CheckGroup` (carom/group.h) refuses it.
struct ArcOptions {
  CastMode mode = CastMode::kClosest;
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  uint32_t max_hits = 64;  // limit of hits per arc, under ALL; in [1, 65536]
  uint64_t mask = kEveryCategory;
};

// Arcs in columns: arc i starts at (x[i], y[i]) with velocity (vx[i], vy[i]) and acceleration
// (ax[i], ay[i]), in the caller's unit of time. duration[i] is in [0, 2^53].
struct ArcColumns {
  std::span<const double> x, y, vx, vy, ax, ay, duration;
  Scope scope = {};  // arcs ignore bodies with a radius

  size_t size() const { return x.size(); }
};

// One hit: a polygon, or a body, that an arc meets. The total order of hits is (time, scene before
// bodies, polygon id or index of the body).
struct ArcHit {
  uint64_t polygon_id = 0;  // the index of the body if is_body
  // The exact time of the first touch, rounded up to a double. Hits on different polygons tie if
  // their doubles are equal; within a polygon, times are compared exactly. Under EXIT, the end of
  // the passage, rounded up.
  double time = 0;
  bool starts_inside = false;  // the passage contains the start
  // The least (ring, edge) through the point to which the velocity is not parallel, else the least
  // of all edges through the point (an edge of length zero counts as parallel). Meaningless without
  // has_edge: the point is then strictly inside.
  EdgeRef edge;
  bool has_edge = false;
  bool is_body = false;
  // The position on the arc at the exact time, not at the rounded time. Each coordinate is within 1
  // ulp of its exact value, however the terms cancel. A coordinate is exact if its exact value is a
  // double: at a vertex, for a start inside, and x on a vertical edge or y on a horizontal edge.
  Vec2 point;
  // The unit normal of the edge, against the velocity at the hit; under EXIT, in the direction of
  // the velocity. Each component is within 1 ulp. {0, 0} if the velocity is parallel to the edge,
  // for a start inside, and for a passage that reaches the end of the duration.
  Vec2 normal;
};

struct ArcAnswers {
  std::vector<uint32_t> counts;     // number of hits of arc i; under ANY 0 or 1, without `hits`
  std::vector<ArcHit> hits;         // for each arc in turn: its hits in the total order
  std::vector<uint32_t> truncated;  // arcs with more hits than max_hits, ascending
  std::vector<ItemError> errors;    // items in error, ascending by index

  void Clear();
};

// Casts each arc and replaces the contents of `out`. Verdicts are exact. Returns false if `meter`
// stopped the work; `out` is then meaningless. Thread-safe.
bool CastArcs(const World& world, const ArcColumns& arcs, const ArcOptions& options,
              ArcAnswers& out, WorkMeter& meter);

}  // namespace carom
