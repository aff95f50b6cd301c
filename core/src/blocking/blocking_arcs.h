// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which directions of motion are blocked for a shape that touches obstacles?
//
// U denotes the set of directions u such that the shape, moved a little along u, overlaps an
// obstacle in more than touch (the interior of one meets the other). At a contact, let r be a ray
// along an edge of the obstacle from the point of contact, and S the part of the shape's interior
// at that point (a half-plane beside an edge, or a sector at a vertex). The contact adds to U the
// directions of the vectors r - s for all s in S: one open arc of at most half a turn, or two such
// arcs. U is the union of these arcs. The direction of a blocked motion lies in one connected
// component of U, an open arc or the whole circle; the ends of the arc are directions of edges, or
// tangents of a round shape or body.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocking/blocking_mover.h"
#include "blocking/blocking_pair.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "numeric/bounded.h"
#include "sweep/sweep_intervals.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// A direction at one time t of a motion by t * d (members `t_` and `motion_.d` of `BlockedArcs`):
// the vector `base` itself, or a tangent. A tangent is the vector `base + t d` turned a quarter
// counter-clockwise, where `base` runs from a fixed vertex to a vertex of the shape, or to an end
// of its axis, at the start of the motion.
struct ArcDirection {
  Direction base;
  bool is_tangent = false;
  bool is_reversed = false;  // the tangent is turned clockwise instead
  // the touch of two vertices that a tangent belongs to; a tangent without a touch is `base` turned
  // a quarter, without the term t d
  std::optional<RoundTouch> touch;

  ArcDirection operator-() const {
    if (is_tangent) return {base, true, !is_reversed, touch};
    return {-base, false, false, {}};
  }
};

// An edge or vertex of an obstacle and an edge or vertex of the moving shape that touch: their
// distance is exactly the sum of the radii of the shape and of the obstacle, where a polygon has
// the radius 0.
struct BlockingContact {
  enum class Kind : uint8_t { kVertexOnEdge, kEdgeOnVertex, kVertexOnVertex };

  Kind kind;
  // the obstacle's edge; where a vertex of the obstacle touches, the edge starts at that vertex
  Segment fixed;
  // index of the shape's edge or vertex; for a capsule, the end of its axis: 0 or 1
  uint32_t moving;
  // set if the shape or the obstacle has a radius, and the two features come to that distance, or
  // leave it, at the time of the contact
  std::optional<RoundTouch> touch;
  double fixed_radius = 0;  // radius of the obstacle: 0 for a polygon

  bool IsRound(const BlockingMover& mover) const { return mover.is_round() || fixed_radius > 0; }
  // `MovingEdge` returns the shape's edge of the contact (for a capsule its axis), and
  // `MovingVertex` the shape's vertex, both at the pose at which `mover` is placed.
  Segment MovingEdge(const BlockingMover& mover) const;
  Vec2 MovingVertex(const BlockingMover& mover) const;
};

// Appends the contacts, at time t, of the moving shape displaced by t * d (d is the displacement of
// `pair.motion()`) with the obstacle `fixed`: a polygon, or the axis of a round body with radius
// `pair.motion().fixed_radius`. The shape must not overlap the obstacle in more than touch at t.
// Exact.
void FindContacts(const BlockingPair& pair, const IndexedPolygon& fixed, const SweepTime& t,
                  WorkMeter& meter, std::vector<BlockingContact>& contacts);

// The set of blocked directions, called U, at one time of one motion by t * d: a direction is
// blocked if the shape, moved a little along it, overlaps an obstacle in more than touch (the
// interior of one meets the other). U is a union of arcs: each contact (an edge or vertex of the
// shape that touches an edge or vertex of an obstacle) blocks one or two arcs of directions. Not
// thread-safe.
class BlockedArcs {
 public:
  BlockedArcs(const Motion& motion, const SweepTime& t) : motion_(motion), t_(t) {}

  // Removes all blocked directions, and sets, for later calls, the motion and the time `t` of that
  // motion.
  void Start(const Motion& motion, const SweepTime& t) {
    motion_ = motion;
    t_ = t;
    pair_.reset();
    arcs_.clear();
  }

  // Adds the directions that a contact blocks at time `t_`. `is_still` means that `mover` is
  // already placed at the end of the motion, so that the displacement by t * d does not apply to
  // it.
  void Add(const BlockingContact& contact, const BlockingMover& mover, bool is_still = false);

  bool empty() const { return arcs_.empty(); }
  bool Contains(Vec2 u) const;

  // The two ends of the connected arc of blocked directions that contains the direction u, the
  // argument of `EndsAbout`: clockwise and counter-clockwise of u. `EndsAbout` returns nothing if
  // all directions are blocked, or u is not blocked.
  struct Ends {
    ArcDirection clockwise;
    ArcDirection counter_clockwise;
  };
  std::optional<Ends> EndsAbout(Vec2 u) const;

  // Returns the one of the two `ends` that is at the smaller angle from u, or
  // `ends.counter_clockwise` if both angles are equal.
  const ArcDirection& Nearer(const Ends& ends, Vec2 u) const;
  // Returns whether `direction` and u are at most a quarter turn apart.
  bool IsAlong(const ArcDirection& direction, Vec2 u) const;

  // Returns the unit normal of `direction` that has a negative dot product with u, or -u / |u| if u
  // is parallel to `direction`. The error of each component is at most 1 ulp, for a tangent 1 ulp +
  // 2^-94.
  Vec2 NormalAgainst(const ArcDirection& direction, Vec2 u) const;
  // Returns the unit vector along `direction`; the error of each component is at most 1 ulp.
  Vec2 Unit(const ArcDirection& direction) const;

 private:
  // The directions counter-clockwise of `begin` and clockwise of `end`, an arc of at most half a
  // turn.
  struct Arc {
    ArcDirection begin;
    ArcDirection end;
    bool is_half_turn = false;
  };

  // A direction in doubles and, for each component, the sum of the magnitudes of its terms.
  struct RoundedVector {
    Vec2 v;
    Vec2 magnitude;
  };

  RoundedVector Rounded(const ArcDirection& direction) const;
  BoundedPairVec2 InPairs(const ArcDirection& direction) const;
  void AddHalfTurn(const ArcDirection& begin) { arcs_.push_back({begin, -begin, true}); }
  void AddVertices(const BlockingContact& contact, const Sector& sector);
  void AddRound(const BlockingContact& contact, const BlockingMover& mover, bool is_still);
  bool Contains(const Arc& arc, const ArcDirection& u) const;
  int Turn(const ArcDirection& a, const ArcDirection& b) const;

  Motion motion_;
  SweepTime t_;
  // the time `t_` as a double, set when `AddRound` adds a tangent that depends on the time
  double rounded_ = 0;
  // the time `t_` as the unevaluated sum of two doubles, computed on demand
  mutable std::optional<BoundedPair> pair_;
  std::vector<Arc> arcs_;
};

}  // namespace carom::internal
