// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a moving shape first touch one polygon, and when does it cease to touch it?
//
// `SweepPair` holds a shape on its path and finds, polygon by polygon, the first touch and the end
// of the passage that contains the start. A passage is a largest interval of times in which shape
// and polygon share a point: a union of contact intervals of pairs of edges (sweep_intervals.h) and
// of gaps between them in which one shape contains a ring of the other (base/passage_merge.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/passage_merge.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_intervals.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Returns a box that contains `box` displaced by t * d for all t in [low, high], a range within [0,
// 1]. The box is rounded outward by `slack`, 8 rounding units (2^-53) of the magnitudes: the two
// roundings of a sum and a product err by at most 2 units, and the rest also covers the rounding of
// the widening itself.
inline Box MovedBox(const Box& box, Vec2 d, double low, double high) {
  const Lanes min = ToLanes(box.min);
  const Lanes max = ToLanes(box.max);
  const Lanes by = ToLanes(d);
  const Lanes slack = (8 * kUnit) * (Abs(min) + Abs(max) + Abs(by));
  const Lanes first = low * by;
  const Lanes last = high * by;
  const Lanes from = min + Min(first, last) - slack;
  const Lanes to = max + Max(first, last) + slack;
  return {{from[0], from[1]}, {to[0], to[1]}};
}

// The region that `box` passes over when displaced by t * d, for t in [0, limit]. Rounded outward.
class SweptBox {
 public:
  SweptBox() = default;
  SweptBox(const Box& box, Vec2 d, double limit);
  // Constructs a box that does not move.
  explicit SweptBox(const Box& box) : reach_(box) {}

  // Returns false only if the region that the moving box passes over certainly misses `box`.
  bool MayMeet(const Box& box) const;
  // Returns a bounding box of the whole region.
  const Box& reach() const { return reach_; }
  // Returns whether, in x and in y, the displacement is at most as long as the moving box, so that
  // `reach()` is hardly larger than the region.
  bool is_short() const { return is_short_; }

 private:
  Box reach_;
  Vec2 d_;
  // Bounds of x * d.y - y * d.x over the points (x, y) of the moving box. They bound the strip,
  // parallel to d, that the moving box stays in.
  double low_ = 0;
  double high_ = 0;
  bool is_short_ = true;
};

// The number of pairs of features of two edges that may meet if a shape has a radius (2 moving
// vertices and the fixed edge, 2 fixed vertices and the moving edge, 4 pairs of vertices). Each may
// need exact arithmetic, so each counts as a unit of work.
inline constexpr uint64_t kRoundMeetings = 8;

// A shape displaced by t * d for t in [0, `limit`]. `bounds` is the bounding box of the shape at t
// = 0. A polygon that comes within `fixed_radius` of the shape counts as met.
struct SweptShape {
  const PlacedShape& mover;
  const Box& bounds;
  Vec2 d;
  double limit;
  double fixed_radius = 0;
};

// Calls visit(fixed index, fixed edge, moving index, moving edge) for each pair of an edge of the
// polygon `fixed` and an edge of the moving shape that may meet on the path, in ascending order of
// the indices, until `visit` returns false or `meter` stops.
template <class Visit>
void VisitSweptPairs(const SweptShape& swept, const IndexedPolygon& fixed, WorkMeter& meter,
                     const Visit& visit) {
  const PlacedShape& mover = swept.mover;
  const SweptBox path(Grown(swept.bounds, swept.fixed_radius), swept.d, swept.limit);
  const Vec2 back{-swept.d.x, -swept.d.y};
  const uint64_t meetings = swept.fixed_radius > 0 ? kRoundMeetings : 0;
  fixed.VisitEdges(
      meter, [&](const Box& box) { return path.MayMeet(box); },
      [&](size_t i, const Segment& edge) {
        if (mover.radius() > 0) {
          return meter.Spend(kRoundMeetings) && visit(i, edge, size_t{0}, mover.edge(0));
        }
        const SweptBox from(Grown(BoundsOf(edge), swept.fixed_radius), back, swept.limit);
        return mover.VisitEdges(
            meter, [&](const Box& box) { return from.MayMeet(box); },
            [&](size_t j, const Segment& moving) {
              return meter.Spend(meetings) && visit(i, edge, j, moving);
            });
      });
}

// The time at which an edge of a polygon and an edge of a moving shape touch, and the indices of
// the edges; the axis of a capsule has index 0.
struct SweepTouch {
  SweepTime time = SweepTime::Zero();
  uint32_t fixed_edge = 0;
  uint32_t moving_edge = 0;
};

// The touch of a moving shape and a polygon at one time, at which several pairs of edges may touch.
struct SweepEvent {
  // the pair of edges that defines the point and the normal
  SweepTouch touch;
  // the least index of a polygon's edge that touches at that time
  uint32_t first_edge = 0;
  bool has_edge = false;
};

// Finds the touches of one shape, moving by d on a straight path, with polygons. A touch is of an
// edge of the polygon `fixed` and an edge of the shape (or a capsule's axis, within its radius);
// its time is a fraction of the path. An object is reused for many polygons. Not thread-safe.
class SweepPair {
 public:
  // Sets the shape of later calls, to which it keeps a reference, and its motion. The radius of
  // `mover` must be `motion.radius`; `motion.d` may be 0.
  void Start(const PlacedShape& mover, const Motion& motion);

  // Returns the first touch of two edges, or nothing if it is after `limit`. If edges touch at the
  // start, returns any touch at the start, not necessarily the one with the least index of an edge.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit, WorkMeter& meter);
  // Returns the first touch of two edges, or nothing if it is after `limit`. No edges may touch
  // before `bounds.low`. Tests the pairs of edges that may touch by `bounds.high` first; for convex
  // polygons one of these pairs touches first.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit,
                                       const TouchBounds& bounds, WorkMeter& meter);
  // Returns whether one shape contains a ring (a connected outline) of the other at the start. No
  // edges may touch at the start.
  bool HoldsRingAtStart(const IndexedPolygon& fixed, WorkMeter& meter) const;

  // The end of the passage that contains the start, and the first touch after that end. A passage
  // is a largest interval of times in which the shapes share a point. The shapes must overlap at
  // the start, and the displacement must not be 0. If the passage reaches the end of the path,
  // `end` has the time `SweepTime::One()` and no edge. The passage is meaningless once `meter` has
  // stopped.
  struct Passage {
    SweepEvent end;
    std::optional<SweepEvent> re_entry;
  };
  Passage FirstPassage(const IndexedPolygon& fixed, WorkMeter& meter);

  // The place at which the shapes share a point at the start (`AtStart`) or at the end (`AtEnd`) of
  // a sweep; they must overlap then. `point` is such a point, and `edge`, at the start only, the
  // least index of an edge of the polygon that contains a point of the moving shape or of its
  // interior.
  struct Place {
    std::optional<uint32_t> edge;
    Vec2 point;
  };
  Place AtStart(const IndexedPolygon& fixed, WorkMeter& meter) const;
  Place AtEnd(const IndexedPolygon& fixed, WorkMeter& meter) const;

 private:
  // The time interval in which two edges touch.
  struct Contact {
    SweepTime begin;
    SweepTime end;
    uint32_t fixed_edge;
    uint32_t moving_edge;

    std::pair<uint32_t, uint32_t> source() const { return {fixed_edge, moving_edge}; }
  };
  class ContactPath;

  bool is_round() const { return motion_.is_round(); }
  template <class Visit>
  void VisitPairs(const IndexedPolygon& fixed, double limit, WorkMeter& meter,
                  const Visit& visit) const {
    VisitSweptPairs({*mover_, bounds_, motion_.d, limit}, fixed, meter, visit);
  }
  std::optional<SweepTime> Begin(const Segment& fixed, const Segment& moving, double limit) const;
  std::optional<SweepInterval> Interval(const Segment& fixed, const Segment& moving) const;
  bool DeterminesNormal(const SweepTouch& touch, const IndexedPolygon& fixed) const;
  void Gather(const SweepTouch& touch, IntervalEnd end, const IndexedPolygon& fixed,
              SweepEvent& event) const;
  std::optional<Vec2> StartPointOn(const Segment& edge, WorkMeter& meter) const;
  void CollectContacts(const IndexedPolygon& fixed, WorkMeter& meter);
  SweepEvent EndOf(const MergedPassage<SweepTime>& merged, const IndexedPolygon& fixed,
                   WorkMeter& meter) const;
  bool IsGapFilled(const IndexedPolygon& fixed, const SweepTime& begin, const SweepTime& end,
                   WorkMeter& meter) const;

  const PlacedShape* mover_ = nullptr;
  Box bounds_;  // bounding box of the moving shape at the start
  Motion motion_;
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
