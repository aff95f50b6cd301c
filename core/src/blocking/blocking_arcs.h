// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which way is a shape blocked?
//
// U is the set of directions u such that the shape moved on by a little of u overlaps something in
// more than touch. Where it touches with a part S of its interior (the half-plane beside an edge,
// the sector at a vertex) a ray r of an edge, U has the directions of r - S: an open arc of at most
// half a turn, or two. U is the union of such arcs. A motion in U lies in one component of it, an
// open arc or the whole circle; its ends are edges' directions, or tangents of a round shape or
// body.
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

// A vector: `base`, or `base + t d` turned a quarter counter-clockwise, the tangent where a vertex
// of the shape, or an end of its axis, is `base + t d` from one that is fixed.
struct ArcDirection {
  Direction base;
  bool is_tangent = false;
  bool is_reversed = false;         // a tangent turned clockwise
  std::optional<RoundTouch> touch;  // of a tangent, what touches there; without one, d counts as 0

  ArcDirection operator-() const {
    if (is_tangent) return {base, true, !is_reversed, touch};
    return {-base, false, false, {}};
  }
};

// Where an edge, or a vertex of it, and an edge or a vertex of the shape touch, or are apart by the
// sum of their radii.
struct BlockingContact {
  enum class Kind : uint8_t { kVertexOnEdge, kEdgeOnVertex, kVertexOnVertex };

  Kind kind;
  Segment fixed;    // from the vertex, where that touches
  uint32_t moving;  // the edge or vertex of the shape; of an axis its vertex 0 or 1
  std::optional<RoundTouch> touch;
  double fixed_radius = 0;  // of a round body

  bool IsRound(const BlockingMover& mover) const { return mover.is_round() || fixed_radius > 0; }
  // Of the shape as it stands: the edge, or its axis, and the vertex.
  Segment MovingEdge(const BlockingMover& mover) const;
  Vec2 MovingVertex(const BlockingMover& mover) const;
};

// The contacts of the shape displaced by t * d, at which it does not overlap in more than touch,
// with a polygon or the round body of the pair's motion; appended. Exact.
void FindContacts(const BlockingPair& pair, const IndexedPolygon& fixed, const SweepTime& t,
                  WorkMeter& meter, std::vector<BlockingContact>& contacts);

// U at one time of one motion. Not thread-safe.
class BlockedArcs {
 public:
  BlockedArcs(const Motion& motion, const SweepTime& t) : motion_(motion), t_(t) {}

  // The same of another motion and time.
  void Start(const Motion& motion, const SweepTime& t) {
    motion_ = motion;
    t_ = t;
    pair_.reset();
    arcs_.clear();
  }

  // Adds what a contact blocks at that time; `is_still` for a contact of a shape as it stands,
  // whose motion is over.
  void Add(const BlockingContact& contact, const BlockingMover& mover, bool is_still = false);

  bool empty() const { return arcs_.empty(); }
  bool Contains(Vec2 u) const;

  // Of the component that holds u: its ends, clockwise and counter-clockwise of u. Nothing where it
  // is the whole circle, or u is not blocked.
  struct Ends {
    ArcDirection clockwise;
    ArcDirection counter_clockwise;
  };
  std::optional<Ends> EndsAbout(Vec2 u) const;

  // Of two directions the one nearer to u; of equally near ones the counter-clockwise one.
  const ArcDirection& Nearer(const Ends& ends, Vec2 u) const;
  // Whether they are at most a quarter turn apart.
  bool IsAlong(const ArcDirection& direction, Vec2 u) const;

  // The unit normal of a direction, against u; -u / |u| where that is parallel. Within 1 ulp, of a
  // tangent within 1 ulp + 2^-94.
  Vec2 NormalAgainst(const ArcDirection& direction, Vec2 u) const;
  // The unit vector along a direction, within 1 ulp likewise.
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
  double rounded_ = 0;                       // t as a double, once a tangent is of it
  mutable std::optional<BoundedPair> pair_;  // t in a pair of doubles, once it is asked
  std::vector<Arc> arcs_;
};

}  // namespace carom::internal
