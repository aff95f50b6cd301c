// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a moving shape touch of one polygon, and until when?
//
// `SweepPair` holds a shape on its path and finds, polygon by polygon, the first touch and the end
// of the passage that contains the start. The passage is the union of the contact intervals of all
// pairs of edges (sweep_intervals.h) and of the gaps in which one shape contains a ring of the
// other (base/passage_merge.h).
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

// Returns a box that holds what `box` passes over on its path for t in [low, high], a range within
// [0, 1]. Rounded outward: two roundings err by 2u of the magnitudes, and 8u also cover the
// rounding of the widening.
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

// The region that a box passes over on its path, for t in [0, limit]. Rounded outward.
class SweptBox {
 public:
  SweptBox() = default;
  SweptBox(const Box& box, Vec2 d, double limit);
  // Constructs a box that does not move.
  explicit SweptBox(const Box& box) : reach_(box) {}

  // Returns false only if the swept box misses `box`.
  bool MayMeet(const Box& box) const;
  // Returns a box that contains the whole region.
  const Box& reach() const { return reach_; }
  // Returns whether the path is no longer than the box in either coordinate, so that `reach` is
  // hardly larger than the region.
  bool is_short() const { return is_short_; }

 private:
  Box reach_;
  Vec2 d_;
  double low_ = 0;  // range of x * d.y - y * d.x over the moving box
  double high_ = 0;
  bool is_short_ = true;
};

// The number of ways in which a round shape may meet an edge; each may need exact arithmetic.
inline constexpr uint64_t kRoundMeetings = 8;

// A shape on its path from the start up to `limit`. `bounds` is the box of the mover at the start.
// Polygons that come within `fixed_radius` of the mover count as met.
struct SweptShape {
  const PlacedShape& mover;
  const Box& bounds;
  Vec2 d;
  double limit;
  double fixed_radius = 0;
};

// Calls visit(fixed index, fixed edge, moving index, moving edge) for the pairs of edges that may
// meet on the path, in order, while `visit` returns true.
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

// A meeting of two edges, by their indices; an axis has index 0.
struct SweepTouch {
  SweepTime time = SweepTime::Zero();
  uint32_t fixed_edge = 0;
  uint32_t moving_edge = 0;
};

// The touch of a shape and a polygon at one time, at which several edges may touch.
struct SweepEvent {
  SweepTouch touch;         // the touch that defines point and normal
  uint32_t first_edge = 0;  // the least fixed edge that touches at that time
  bool has_edge = false;
};

// Finds touches of one moving shape with polygons. Reused from polygon to polygon. Not thread-safe.
class SweepPair {
 public:
  // Sets the shape of later calls and keeps a reference to it. Its radius must be that of `motion`;
  // `motion.d` may be 0.
  void Start(const PlacedShape& mover, const Motion& motion);

  // Returns the first touch of edges, if it is at most `limit`. Of touches at the start it returns
  // any one, not the one with the least edge.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit, WorkMeter& meter);
  // Returns the first touch where no edges touch before `bounds.low`. Tests first the pairs that
  // may touch by `bounds.high`, which suffices for convex polygons.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit,
                                       const TouchBounds& bounds, WorkMeter& meter);
  // Returns whether one shape contains a ring of the other at the start, at which no edges may
  // touch.
  bool HoldsRingAtStart(const IndexedPolygon& fixed, WorkMeter& meter) const;

  // The passage that contains the start, for shapes that overlap at the start and d other than 0:
  // its end, and the first touch after it. The end is `SweepTime::One()`, without an edge, if the
  // passage reaches the end of the path. Meaningless once `meter` has stopped.
  struct Passage {
    SweepEvent end;
    std::optional<SweepEvent> re_entry;
  };
  Passage FirstPassage(const IndexedPolygon& fixed, WorkMeter& meter);

  // Where the shapes share a point at the start, or at the end, of a sweep that overlaps at that
  // time: the least fixed edge that holds a point of the solid shape (at the start only), and a
  // shared point.
  struct Place {
    std::optional<uint32_t> edge;
    Vec2 point;
  };
  Place AtStart(const IndexedPolygon& fixed, WorkMeter& meter) const;
  Place AtEnd(const IndexedPolygon& fixed, WorkMeter& meter) const;

 private:
  // The contact interval of a pair of edges.
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
  Box bounds_;  // box of the mover at the start
  Motion motion_;
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
