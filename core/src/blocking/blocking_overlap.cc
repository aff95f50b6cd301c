// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_overlap.h"

#include <cmath>
#include <cstdint>

#include "carom/predicates.h"
#include "numeric/exact.h"
#include "shape/meets_box.h"
#include "sweep/sweep_intervals.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {
namespace {

// Predicates for a shape at rest, at the pose at which it is placed. `p` is a point of the shape,
// `q` a point of the obstacle.
class AtRest {
 public:
  static constexpr bool kAtRest = true;

  AtRest(double radius, double fixed_radius) : radius_(radius), fixed_radius_(fixed_radius) {}

  bool is_round() const { return radius_ > 0 || fixed_radius_ > 0; }
  double fixed_radius() const { return fixed_radius_; }
  Box Moved(const Box& box) const { return box; }
  // `Side` returns the side of a fixed edge on which p lies, `SideOfMoving` the side of a moving
  // edge on which q lies: 1 for left, -1 for right, 0 for a point on the edge's line.
  int Side(const Segment& fixed, Vec2 p) const { return Orientation(fixed.a, fixed.b, p); }
  int SideOfMoving(const Segment& moving, Vec2 q) const {
    return Orientation(moving.a, moving.b, q);
  }
  bool IsAt(Vec2 p, Vec2 q) const { return p == q; }
  // Returns whether a point is on the edge, given that the point is on the line through the edge.
  // For an edge of length 0, every point counts as on its line.
  bool IsWithin(const Segment& fixed, Vec2 p) const { return IsOnSegment(p, fixed); }
  bool IsWithinMoving(const Segment& moving, Vec2 q) const { return IsOnSegment(q, moving); }
  // Returns whether the y coordinate of q is greater than that of p.
  bool IsAbove(Vec2 q, Vec2 p) const { return q.y > p.y; }
  bool IsCloser(const Segment& fixed, const Segment& moving) const {
    return AreCloser(fixed, moving, radius_, fixed_radius_);
  }

 private:
  double radius_;
  double fixed_radius_;
};

// The predicates of `AtRest` for the shape displaced by t * d (d is the displacement of the
// motion). Each predicate is the sign of a number that is linear in t.
class AtTime {
 public:
  static constexpr bool kAtRest = false;

  AtTime(const Motion& motion, const SweepTime& t)
      : d_(motion.d),
        is_round_(motion.is_round()),
        fixed_radius_(motion.fixed_radius),
        t_(t.Exact(motion)),
        low_(std::fmax(t.low(), 0)),
        high_(std::fmin(t.high(), 1)) {
    if (is_round_) low_ = std::nextafter(low_, -HUGE_VAL);
  }

  bool is_round() const { return is_round_; }
  double fixed_radius() const { return fixed_radius_; }
  Box Moved(const Box& box) const { return MovedBox(box, d_, low_, high_); }
  int Side(const Segment& fixed, Vec2 p) const {
    const Dyadic ex = Dyadic(fixed.b.x) - fixed.a.x;
    const Dyadic ey = Dyadic(fixed.b.y) - fixed.a.y;
    const Dyadic start = ex * (Dyadic(p.y) - fixed.a.y) - ey * (Dyadic(p.x) - fixed.a.x);
    return SignOfLinear(start, ex * d_.y - ey * d_.x, t_);
  }
  int SideOfMoving(const Segment& moving, Vec2 q) const {
    const Dyadic fx = Dyadic(moving.b.x) - moving.a.x;
    const Dyadic fy = Dyadic(moving.b.y) - moving.a.y;
    const Dyadic start = fx * (Dyadic(q.y) - moving.a.y) - fy * (Dyadic(q.x) - moving.a.x);
    return SignOfLinear(start, fy * d_.x - fx * d_.y, t_);
  }
  bool IsAt(Vec2 p, Vec2 q) const {
    return SignOfLinear(Dyadic(p.x) - q.x, d_.x, t_) == 0 &&
           SignOfLinear(Dyadic(p.y) - q.y, d_.y, t_) == 0;
  }
  bool IsWithin(const Segment& fixed, Vec2 p) const {
    if (fixed.a == fixed.b) return IsAt(p, fixed.a);
    return Along(fixed.a, fixed.b, fixed.a, p) >= 0 && Along(fixed.b, fixed.a, fixed.b, p) >= 0;
  }
  bool IsWithinMoving(const Segment& moving, Vec2 q) const {
    if (moving.a == moving.b) return IsAt(moving.a, q);
    return Along(moving.b, moving.a, q, moving.a) >= 0 &&
           Along(moving.a, moving.b, q, moving.b) >= 0;
  }
  bool IsAbove(Vec2 q, Vec2 p) const { return SignOfLinear(Dyadic(q.y) - p.y, -d_.y, t_) > 0; }
  // Always returns false: callers pass times at which no edge of the shape is closer to an edge of
  // the obstacle than the sum of the radii.
  bool IsCloser(const Segment&, const Segment&) const { return false; }

 private:
  // Returns the sign of the dot product (b - a) . (p + t d - q), with d the displacement of the
  // motion.
  int Along(Vec2 a, Vec2 b, Vec2 q, Vec2 p) const {
    const Dyadic ex = Dyadic(b.x) - a.x;
    const Dyadic ey = Dyadic(b.y) - a.y;
    const Dyadic start = ex * (Dyadic(p.x) - q.x) + ey * (Dyadic(p.y) - q.y);
    return SignOfLinear(start, ex * d_.x + ey * d_.y, t_);
  }

  Vec2 d_;
  bool is_round_;
  double fixed_radius_;
  ExactRoot t_;
  double low_;
  double high_;
};

// Returns whether the direction `ray` is within the turn from the positive x axis (excluded)
// counter-clockwise to the direction `to` (included).
bool IsUpTo(const Direction& ray, const Direction& to) {
  const auto is_lower = [](const Direction& u) {
    return u.to.y < u.from.y || (u.to.y == u.from.y && u.to.x < u.from.x);
  };
  if (ray.to.y == ray.from.y && ray.to.x > ray.from.x) return false;
  if (is_lower(ray) != is_lower(to)) return is_lower(to);
  return CrossSign(ray, to) >= 0;
}

// Tests whether a shape overlaps an obstacle (a polygon, or the axis of a round body) in more than
// touch: whether the interior of one meets the other. `where` (`AtRest` or `AtTime`) has the
// predicates for the shape at its pose, or displaced to its place at a time of its motion.
template <class Where>
class OverlapTest {
 public:
  OverlapTest(const Where& where, const BlockingMover& mover, const IndexedPolygon& fixed,
              WorkMeter& meter)
      : where_(where), mover_(mover), shape_(mover.shape()), fixed_(fixed), meter_(meter) {}

  bool Overlaps() const {
    const Box reach = where_.Moved(Grown(shape_.bounds(), where_.fixed_radius()));
    if (!reach.Intersects(fixed_.polygon().bounds())) return false;
    if (where_.is_round()) return ComesCloser(reach) || HoldsOther();
    if (EntersFromEdge(reach) || HoldsRing()) return true;
    return IsBesideFilled(mover_.vertex(0), mover_.SectorAt(0).first);
  }

 private:
  // Returns whether an edge of the obstacle is closer to an edge of the shape (or to the axis of a
  // capsule) than the sum of the radii of obstacle and shape.
  bool ComesCloser(const Box& reach) const {
    bool closer = false;
    const auto compare = [&](const Segment& edge, const Segment& moving) {
      closer = where_.IsCloser(edge, moving);
      return !closer;
    };
    fixed_.VisitEdges(
        meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](size_t, const Segment& edge) {
          if (mover_.is_round()) return compare(edge, shape_.edge(0));
          const Box near = Grown(BoundsOf(edge), where_.fixed_radius());
          return shape_.VisitEdges(
              meter_, [&](const Box& box) { return where_.Moved(box).Intersects(near); },
              [&](size_t, const Segment& moving) { return compare(edge, moving); });
        });
    return closer;
  }

  // Returns whether the obstacle contains the axis of the shape (a capsule), or the shape's ring
  // contains the axis of the obstacle (a round body). No edge of the obstacle may be closer to an
  // edge of the shape (or to its axis) than the sum of the radii, so testing one point suffices.
  bool HoldsOther() const {
    return mover_.is_round() ? IsBesideFilled(shape_.ring_start(0), {}) : HoldsRing();
  }

  // Returns whether any edge of the obstacle, a polygon, enters the interior of the shape's ring.
  // Tests all pairs of edges with intersecting boxes.
  bool EntersFromEdge(const Box& reach) const {
    bool enters = false;
    fixed_.VisitEdges(
        meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](size_t, const Segment& edge) {
          const Box edge_box = BoundsOf(edge);
          return shape_.VisitEdges(
              meter_, [&](const Box& box) { return where_.Moved(box).Intersects(edge_box); },
              [&](size_t j, const Segment& moving) {
                enters = Enters(edge, moving, j);
                return !enters;
              });
        });
    return enters;
  }

  // Returns whether the fixed edge e enters the interior of the ring at a point that it shares with
  // edge f (edge j of the ring): at the first vertex of f, or at an inner point of f.
  bool Enters(const Segment& e, const Segment& f, size_t j) const {
    const int a = where_.Side(e, f.a);
    const int b = where_.Side(e, f.b);
    const int from = where_.SideOfMoving(f, e.a);
    const int to = where_.SideOfMoving(f, e.b);
    if (a * b < 0) {
      if (from * to < 0) return true;
      const int inner = mover_.inner_side(j);
      if (from == 0 && to == inner) return true;
      if (to == 0 && from == inner) return true;
    }
    if (a != 0 || !where_.IsWithin(e, f.a)) return false;
    const Sector sector = mover_.SectorAt(j);
    return (!where_.IsAt(f.a, e.b) && sector.Contains({e.a, e.b})) ||
           (!where_.IsAt(f.a, e.a) && sector.Contains({e.b, e.a}));
  }

  // Returns whether the interior of the shape contains a ring of the polygon. No edge of the
  // polygon may enter the interior, so the interior contains all of a ring or none of it, and
  // testing the first vertex of the ring suffices.
  bool HoldsRing() const {
    const PlacedShape placed(fixed_);
    for (size_t ring = 0; ring < placed.ring_count() && meter_.Spend(1); ++ring) {
      if (HoldsPoint(placed.ring_start(ring))) return true;
    }
    return false;
  }

  // Returns whether the interior of the shape's ring contains q: whether a ray from q to the right
  // crosses the simple ring an odd number of times. A point on the ring counts as outside.
  bool HoldsPoint(Vec2 q) const {
    if (!where_.Moved(shape_.bounds()).Contains(q)) return false;
    bool is_inside = false;
    for (size_t j = 0; j < mover_.vertex_count() && meter_.Spend(1); ++j) {
      const Segment f = shape_.edge(j);
      const bool above_a = where_.IsAbove(q, f.a);
      const bool above_b = where_.IsAbove(q, f.b);
      const int side = where_.SideOfMoving(f, q);
      if (side == 0 && where_.IsWithinMoving(f, q)) return false;
      if (above_a != above_b && side == (above_a ? 1 : -1)) is_inside = !is_inside;
    }
    return is_inside;
  }

  // Returns whether the polygon is filled next to p, just counter-clockwise of `direction`; if p is
  // on no edge, whether the polygon is filled at p. Computes the winding number by a ray from p to
  // the right. An edge that contains p counts by its direction: it adds 1 if it leaves p within the
  // counter-clockwise turn from the positive x axis to `direction`, and subtracts 1 if it arrives
  // at p from within that turn.
  bool IsBesideFilled(Vec2 p, const Direction& direction) const {
    const Polygon& polygon = fixed_.polygon();
    if constexpr (Where::kAtRest) {
      const Location location = LocateInPolygon(fixed_, p, meter_).location;
      if (location != Location::kBoundary) return location == Location::kInside;
    }
    const Box where = where_.Moved({p, p});
    if (polygon.solidity() == Solidity::kBoundary || !polygon.bounds().Intersects(where)) {
      return false;
    }
    const auto meets = [&](const Box& box) {
      return box.min.y <= where.max.y && where.min.y <= box.max.y && where.min.x <= box.max.x;
    };
    int64_t winding = 0;
    fixed_.VisitEdges(meter_, meets, [&](size_t, const Segment& e) {
      const int side = where_.Side(e, p);
      if (side == 0 && where_.IsWithin(e, p)) {
        if (!where_.IsAt(p, e.b) && IsUpTo({e.a, e.b}, direction)) ++winding;
        if (!where_.IsAt(p, e.a) && IsUpTo({e.b, e.a}, direction)) --winding;
        return true;
      }
      const bool above_a = where_.IsAbove(e.a, p);
      if (above_a == where_.IsAbove(e.b, p)) return true;
      if (side == (above_a ? -1 : 1)) winding += side;
      return true;
    });
    return polygon.IsFilled(winding);
  }

  const Where& where_;
  const BlockingMover& mover_;
  const PlacedShape& shape_;
  const IndexedPolygon& fixed_;
  WorkMeter& meter_;
};

}  // namespace

bool OverlapsInMoreThanTouch(const BlockingMover& mover, const IndexedPolygon& fixed,
                             WorkMeter& meter, double fixed_radius) {
  const AtRest where(mover.shape().radius(), fixed_radius);
  return OverlapTest(where, mover, fixed, meter).Overlaps();
}

bool ComesCloser(const BlockingMover& mover, const IndexedPolygon& fixed, const SweepAxes& axes,
                 WorkMeter& meter) {
  const Box reach = mover.shape().bounds();
  const Capsule capsule{mover.shape().edge(0), mover.shape().radius()};
  bool closer = false;
  fixed.VisitEdges(meter, MeetsBox{reach}, [&](size_t, const Segment& edge) {
    closer = !axes.IsClear(edge) && CompareDistance(edge, capsule) < 0;
    return !closer;
  });
  return closer;
}

bool OverlapsInMoreThanTouchAt(const BlockingMover& mover, const Motion& motion, const SweepTime& t,
                               const IndexedPolygon& fixed, WorkMeter& meter) {
  const AtTime where(motion, t);
  return OverlapTest(where, mover, fixed, meter).Overlaps();
}

}  // namespace carom::internal
