// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// By how little must a shape be displaced so that it has room on all sides?
//
// The offset is a guess in doubles, for safe poses (blocking_safe.h), which are proven afterwards:
// gaps between features that are near each other bound the offset along their normals.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "blocking/blocking_mover.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Gathers the gaps about a pose and finds offsets. Reused from pose to pose. Not thread-safe.
class FreeOffset {
 public:
  explicit FreeOffset(WorkMeter& meter) : meter_(meter) {}

  // Starts another pose, without gaps. Gaps of more than `reach` do not count.
  void Start(double reach) {
    reach_ = reach;
    moved_ = {};
    gaps_.clear();
  }
  // Sets by how much the features that later calls add are moved before the offset.
  void Move(Vec2 moved) { moved_ = moved; }
  // Adds the gaps between a moving edge with a radius and a fixed edge; `AddRing` adds the gaps
  // between a fixed edge and edge j and vertex j of a ring.
  void AddRound(const Segment& moving, double radius, const Segment& edge);
  void AddRing(const BlockingMover& mover, const Segment& edge, size_t j);

  // Returns the shortest offset that leaves at least `gap` along all normals, or nothing if none is
  // found.
  std::optional<Vec2> Offset(double gap) const;

 private:
  // The half-plane n . v >= needed, in which an offset v must lie.
  struct Gap {
    Vec2 n;
    double distance;  // the room along n
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
