// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// By how little is a shape to be displaced so that there is room about it?
//
// A guess in plain doubles, for safe poses (blocking_safe.h), which are proven afterwards: gaps
// between features that are near each other bound the offset along their normals.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "blocking/blocking_mover.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Reused from pose to pose. Not thread-safe.
class FreeOffset {
 public:
  explicit FreeOffset(WorkMeter& meter) : meter_(meter) {}

  // Another pose. Gaps of more than `reach` do not count.
  void Start(double reach) {
    reach_ = reach;
    moved_ = {};
    gaps_.clear();
  }
  // What is added from now on is moved by so much before the offset.
  void Move(Vec2 moved) { moved_ = moved; }
  // Adds what is between a moving edge with a radius and an edge, respectively edge j of a ring,
  // and vertex j.
  void AddRound(const Segment& moving, double radius, const Segment& edge);
  void AddRing(const BlockingMover& mover, const Segment& edge, size_t j);

  // The shortest offset that leaves at least `gap` along all normals, if one is found.
  std::optional<Vec2> Offset(double gap) const;

 private:
  // A half-plane n . v >= needed that an offset is to lie in.
  struct Gap {
    Vec2 n;
    double distance;  // that there is along n
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
