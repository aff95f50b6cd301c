// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which way is a shape blocked?
//
// U is the set of directions u such that the shape, moved a little along u, overlaps an obstacle in
// more than touch. Where the shape touches a ray r of an edge with a part S of its interior (the
// half-plane beside an edge, or the sector at a vertex), U has the directions of r - S: one open
// arc of at most half a turn, or two. U is the union of all such arcs. A motion in U lies in one
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

// The direction `base`, or a tangent: `base + t d` turned a quarter counter-clockwise, where `base
// + t d` is the vector from a fixed vertex to a vertex of the shape, or to an end of its axis.
struct ArcDirection {
  Direction base;
  bool is_tangent = false;
  bool is_reversed = false;         // the tangent is turned clockwise
  std::optional<RoundTouch> touch;  // the touch of a tangent; without one, d counts as 0

  ArcDirection operator-() const {
    if (is_tangent) return {base, true, !is_reversed, touch};
    return {-base, false, false, {}};
  }
};

// An edge or vertex of a polygon and an edge or vertex of the shape that touch, or are exactly the
// sum of their radii apart.
struct BlockingContact {
  enum class Kind : uint8_t { kVertexOnEdge, kEdgeOnVertex, kVertexOnVertex };

  Kind kind;
  Segment fixed;    // the fixed edge, from the vertex that touches, if one does
  uint32_t moving;  // index of the shape's edge or vertex; of an axis vertex 0 or 1
  std::optional<RoundTouch> touch;
  double fixed_radius = 0;  // the radius of a round body

  bool IsRound(const BlockingMover& mover) const { return mover.is_round() || fixed_radius > 0; }
  // Returns the shape's edge of the contact, or its axis, as the shape of `mover` stands;
  // `MovingVertex` returns the shape's vertex.
  Segment MovingEdge(const BlockingMover& mover) const;
  Vec2 MovingVertex(const BlockingMover& mover) const;
};

// Appends the contacts of the shape displaced by t * d with a polygon, or with the round body of
// the pair's motion. The shape must not overlap it in more than touch at t. Exact.
void FindContacts(const BlockingPair& pair, const IndexedPolygon& fixed, const SweepTime& t,
                  WorkMeter& meter, std::vector<BlockingContact>& contacts);

// The set U of blocked directions, at one time of one motion. Not thread-safe.
class BlockedArcs {
 public:
  BlockedArcs(const Motion& motion, const SweepTime& t) : motion_(motion), t_(t) {}

  // Resets to the empty set at another time of another motion.
  void Start(const Motion& motion, const SweepTime& t) {
    motion_ = motion;
    t_ = t;
    pair_.reset();
    arcs_.clear();
  }

  // Adds the directions that a contact blocks at time t. `is_still` marks a contact of a shape as
  // it stands, after its motion.
  void Add(const BlockingContact& contact, const BlockingMover& mover, bool is_still = false);

  bool empty() const { return arcs_.empty(); }
  bool Contains(Vec2 u) const;

  // The ends of the component of U that contains u, clockwise and counter-clockwise of u.
  // `EndsAbout` returns nothing if the component is the whole circle, or u is not blocked.
  struct Ends {
    ArcDirection clockwise;
    ArcDirection counter_clockwise;
  };
  std::optional<Ends> EndsAbout(Vec2 u) const;

  // Returns the end that is nearer to u; of equally near ends the counter-clockwise one.
  const ArcDirection& Nearer(const Ends& ends, Vec2 u) const;
  // Returns whether `direction` and u are at most a quarter turn apart.
  bool IsAlong(const ArcDirection& direction, Vec2 u) const;

  // Returns the unit normal of a direction, against u, or -u / |u| where u is parallel to the
  // direction. Each component is within 1 ulp, for a tangent within 1 ulp + 2^-94.
  Vec2 NormalAgainst(const ArcDirection& direction, Vec2 u) const;
  // Returns the unit vector along a direction; each component is within 1 ulp.
  Vec2 Unit(const ArcDirection& direction) const;

 private:
  struct Arc {
    ArcDirection begin;
    ArcDirection end;
    bool is_half_turn = false;
  };

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
  double rounded_ = 0;                       // t as a double, set once a tangent depends on t
  mutable std::optional<BoundedPair> pair_;  // t in a pair of doubles, computed on demand
  std::vector<Arc> arcs_;
};

}  // namespace carom::internal
