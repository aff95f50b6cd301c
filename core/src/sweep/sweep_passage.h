// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a moving shape touch of one polygon, and until when?
//
// `SweepPair` holds a shape on its path and answers, polygon by polygon, where it first touches,
// and where the passage that holds the start ends: the union of the contact intervals of all pairs
// of edges (sweep_intervals.h), with the gaps in which one shape holds a ring of the other
// (base/passage_merge.h).
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

// What a box passes over on its path for t in [low, high], a range within [0, 1]. Rounded outward.
// Two roundings, 2u of the magnitudes; 8u also cover the rounding of the widening.
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

// Where a box is on its path, for t in [0, limit]. Rounded outward.
class SweptBox {
 public:
  SweptBox() = default;
  SweptBox(const Box& box, Vec2 d, double limit);
  // One that does not move.
  explicit SweptBox(const Box& box) : reach_(box) {}

  // False only if the swept box misses `box`.
  bool MayMeet(const Box& box) const;
  // Holds it all.
  const Box& reach() const { return reach_; }
  // Whether the path is not longer than the box, so that `reach` is hardly larger than what the box
  // passes over.
  bool is_short() const { return is_short_; }

 private:
  Box reach_;
  Vec2 d_;
  double low_ = 0;  // the range of x * d.y - y * d.x over the moving box
  double high_ = 0;
  bool is_short_ = true;
};

// A round shape meets an edge in up to eight ways, each of which may need exact arithmetic.
inline constexpr uint64_t kRoundMeetings = 8;

// A shape on its path from the start, up to `limit`. `bounds` are its own at the start. What is
// nearer to it than `fixed_radius` is met, too.
struct SweptShape {
  const PlacedShape& mover;
  const Box& bounds;
  Vec2 d;
  double limit;
  double fixed_radius = 0;
};

// Calls visit(fixed index, fixed edge, moving index, moving edge) for pairs that may meet on the
// path, in order, while it returns true.
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

// A meeting of two edges: by their index, 0 for an axis.
struct SweepTouch {
  SweepTime time = SweepTime::Zero();
  uint32_t fixed_edge = 0;
  uint32_t moving_edge = 0;
};

// What happens at one time.
struct SweepEvent {
  SweepTouch touch;         // the one that defines point and normal
  uint32_t first_edge = 0;  // the least fixed edge that touches
  bool has_edge = false;
};

// Reused from polygon to polygon. Not thread-safe.
class SweepPair {
 public:
  // The shape of the calls that follow, whose radius is that of `motion`; `motion.d` may be 0.
  // Keeps a reference.
  void Start(const PlacedShape& mover, const Motion& motion);

  // The first touch of edges, if it is not above `limit`. At the start any one, not the least.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit, WorkMeter& meter);
  // The same where no edges touch before `bounds.low`. Looks first at what may touch by
  // `bounds.high`, which for convex polygons is all that matters.
  std::optional<SweepEvent> FirstTouch(const IndexedPolygon& fixed, double limit,
                                       const TouchBounds& bounds, WorkMeter& meter);
  // Whether one shape holds a ring of the other at the start, where no edges touch.
  bool HoldsRingAtStart(const IndexedPolygon& fixed, WorkMeter& meter) const;

  // For shapes that overlap at the start, d not 0: the end of that passage, which is one if it
  // reaches it (then without an edge), and the first touch after it. Meaningless once `meter` has
  // stopped.
  struct Passage {
    SweepEvent end;
    std::optional<SweepEvent> re_entry;
  };
  Passage FirstPassage(const IndexedPolygon& fixed, WorkMeter& meter);

  // Where the shapes share a point at the start, or at the end, of a sweep that overlaps there: the
  // least fixed edge that holds a point of the solid shape (at the start only), and a point.
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
  bool TellsNormal(const SweepTouch& touch, const IndexedPolygon& fixed) const;
  void Gather(const SweepTouch& touch, IntervalEnd end, const IndexedPolygon& fixed,
              SweepEvent& event) const;
  std::optional<Vec2> StartPointOn(const Segment& edge, WorkMeter& meter) const;
  void CollectContacts(const IndexedPolygon& fixed, WorkMeter& meter);
  SweepEvent EndOf(const MergedPassage<SweepTime>& merged, const IndexedPolygon& fixed,
                   WorkMeter& meter) const;
  bool IsGapFilled(const IndexedPolygon& fixed, const SweepTime& begin, const SweepTime& end,
                   WorkMeter& meter) const;

  const PlacedShape* mover_ = nullptr;
  Box bounds_;  // of the mover at the start
  Motion motion_;
  std::vector<Contact> contacts_;
};

}  // namespace carom::internal
