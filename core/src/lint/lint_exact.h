// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exact points and distances of the checks of carom/lint.h: where edges cross, which point of an
// edge is nearest to a place, and whether a disc between two points meets an edge.
#pragma once

#include <cmath>
#include <cstdint>

#include "carom/geometry.h"
#include "numeric/dyadic.h"
#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"

namespace carom::internal {

// The units of work (carom/work_meter.h) that a comparison of exact points is worth: about 1 µs.
inline constexpr uint64_t kExactUnits = 128;

// The exact point (x / w, y / w), w > 0.
struct ExactPoint {
  Dyadic x;
  Dyadic y;
  Dyadic w;

  // Returns the point with the nearest doubles as coordinates.
  Vec2 Rounded() const { return {NearestQuotient(x, w), NearestQuotient(y, w)}; }
};

inline ExactPoint ExactOf(Vec2 p) { return {p.x, p.y, 1.0}; }

// Returns the square root of the double nearest to n / d >= 0.
inline double RootOfQuotient(const Dyadic& n, const Dyadic& d) {
  return std::sqrt(NearestQuotient(n, d));
}

// Returns the distance of two points, rounded as by `RootOfQuotient`.
double RoundedDistance(Vec2 a, Vec2 b);

// Returns the point that two edges, which are not parallel and share a point, have in common.
ExactPoint CrossingPoint(const Segment& a, const Segment& b);

// The point q of an edge that is nearest to a point v: an end of the edge, or the foot of the
// perpendicular, which is strictly between the ends.
class Foot {
 public:
  Foot(Vec2 v, const Segment& edge);

  bool is_end() const { return is_end_; }
  // The end; meaningful if `is_end()`.
  Vec2 end() const { return end_; }
  Vec2 v() const { return v_; }
  const Segment& edge() const { return edge_; }

  // Returns q, exactly and rounded to the nearest doubles.
  ExactPoint Exact() const;
  Vec2 Rounded() const { return is_end_ ? end_ : Exact().Rounded(); }
  // Returns |vq|, rounded as by `RootOfQuotient`.
  double RoundedLength() const;
  // Returns q with an error of some roundings at the magnitude of the coordinates.
  Vec2 Near() const { return is_end_ ? end_ : near_; }

  // Returns the sign of (w - p) . (the other end of vq - p), for p = v or, if q is an end, p = q:
  // whether a segment from p to `w` begins in the direction of the other end.
  int TowardsFrom(bool from_v, Vec2 w) const;

  // Returns whether the open disc with the diameter vq meets the segment `g`.
  bool DiscMeets(const Segment& g) const;
  // Returns the middle of v and q.
  ExactPoint Middle() const;

 private:
  Vec2 v_;
  Segment edge_;
  bool is_end_;
  Vec2 end_;
  Vec2 near_;
};

// Returns the point of `edge` nearest to `v`, with an error of some roundings at the magnitude of
// the coordinates.
Vec2 NearestNear(Vec2 v, const Segment& edge);

// Returns the winding number of the edge's passage of the horizontal ray from `p` to the right, as
// PointScan (edges/point_scan.h) counts it; `p` is on no edge.
int ExactCrossing(const ExactPoint& p, const Segment& edge);

}  // namespace carom::internal
