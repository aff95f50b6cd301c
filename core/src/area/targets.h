// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which directions does an eye look for boxes?
//
// An observer that looks for some bodies needs the envelope in the directions of their boxes alone.
// Each box is in a range of directions, a little wider than the box; ranges that overlap are
// joined, and a range across the cut is two.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "area/direction.h"
#include "carom/geometry.h"

namespace carom::internal {

// Directions from one vector counter-clockwise to another one, without the cut between them. An end
// at the cut is the vector (-1, 0).
struct TargetRange {
  double low, high;  // the keys of the ends
  Vec2 from, to;
};

// Not thread-safe. An object that is used for many eyes allocates only for more boxes.
class Targets {
 public:
  // Starts anew, for the eye at `eye`, without boxes.
  void Start(Vec2 eye);
  void Add(const Box& box);
  // Joins the ranges, and sorts them counter-clockwise, after the last `Add`.
  void Join();

  // Returns whether the ranges are most of the circle, or a box contains the eye: then it is better
  // to look everywhere.
  bool is_everywhere() const { return is_everywhere_; }
  const std::vector<TargetRange>& ranges() const { return ranges_; }
  // Returns the largest distance, along an axis, of the eye from a side of a box.
  double reach() const { return reach_; }

 private:
  Vec2 eye_;
  bool is_everywhere_ = false;
  double reach_ = 0;
  std::vector<TargetRange> ranges_;
};

}  // namespace carom::internal
