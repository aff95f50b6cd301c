// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// By what shortest offset must a shape be displaced so that it keeps a gap from all near obstacles?
//
// The offset is a guess in doubles for `SafePose` (blocking_safe.h), which then proves the
// displaced pose safe. Each pair of near features (edges or vertices of the shape and of an
// obstacle) gives a lower bound of the offset along the normal of the pair.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "blocking/blocking_mover.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Stores the gaps between a placed shape and obstacles, and finds an offset (displacement) of the
// shape that enlarges them all. A gap is the distance of two features (an edge or vertex of the
// shape and one of an obstacle) along a normal. An object is reused for many poses. Not
// thread-safe.
class FreeOffset {
 public:
  explicit FreeOffset(WorkMeter& meter) : meter_(meter) {}

  // Removes all gaps, for another pose. Later calls ignore gaps of more than `reach`.
  void Start(double reach) {
    reach_ = reach;
    moved_ = {};
    gaps_.clear();
  }
  // Sets a displacement of the shape that precedes the offset: later calls of `AddRound` and
  // `AddRing` add the gaps of the shape displaced by `moved`.
  void Move(Vec2 moved) { moved_ = moved; }
  // `AddRound` adds the gaps between an edge `moving` of the shape and an edge of an obstacle,
  // where `radius` is the sum of their radii; `AddRing` adds the gaps between an edge of an
  // obstacle and two features of the moving ring, edge j and vertex j.
  void AddRound(const Segment& moving, double radius, const Segment& edge);
  void AddRing(const BlockingMover& mover, const Segment& edge, size_t j);

  // Returns the shortest of the offsets that this function tries and that enlarge all gaps to at
  // least `gap`, or nothing if none of the tried offsets does.
  std::optional<Vec2> Offset(double gap) const;

 private:
  // The distance between two features along a unit normal n, from the obstacle to the shape. An
  // offset v of the shape enlarges the distance to `distance` + n . v.
  struct Gap {
    Vec2 n;
    double distance;  // distance along n before the offset
  };

  static constexpr size_t kMostGaps = 16;

  bool IsWithinReach(Vec2 apart) const {
    return std::abs(apart.x) <= reach_ && std::abs(apart.y) <= reach_;
  }
  bool IsMovedFrom(Vec2 apart) const { return !(moved_ == Vec2{}) && IsWithinReach(apart); }
  void AddGap(Vec2 n, double distance);

  WorkMeter& meter_;
  double reach_ = 0;
  Vec2 moved_;
  std::vector<Gap> gaps_;
};

}  // namespace carom::internal
