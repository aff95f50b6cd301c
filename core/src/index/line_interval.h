// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much of a line to look at before asking whether its first hit is found.
#pragma once

#include <algorithm>
#include <cmath>

#include "index/scene_index.h"
#include "shape/line.h"

namespace carom::internal {

// A part of a line, one after the other from its start to its end. The first one is some polygons
// long, the next ones grow, so that what a line passes before its first hit is about what is looked
// at, without keeping what is ahead in order. Not thread-safe.
class LineInterval {
 public:
  // The first one. It is all of the line if `is_whole`, or if more would not pay.
  void Start(const Line& line, const SceneIndex& scene, bool is_whole) {
    begin_ = line.t_min;
    end_ = line.t_max;
    bounds_ = line.bounds;
    before_ = {};
    const double first = kFirst * scene.spacing();
    const double longer = std::max(std::abs(line.dx.high), std::abs(line.dy.high));
    if (is_whole || longer * (line.t_max - line.t_min) <= kGrowth * first) return;
    if (first > 0) StartLong(line, scene, first / longer);
  }
  // The one behind, of which nothing beyond `limit` matters. The eighth is all that is left.
  void Advance(const Line& line, double limit);

  double begin() const { return begin_; }
  // Where it ends. Of the last one that is the line's t_max.
  double end() const { return end_; }
  // Holds what of it is up to t.
  const Box& bounds() const { return bounds_; }
  Box BoundsUpTo(const Line& line, double t) const { return line.BoundsBetween(begin_, t); }
  // Whether a box is one that the stretch before met, perhaps by its bounds alone. If it meets this
  // one too, and met one still before, then it met the one between: boxes are convex.
  bool WasVisited(const Box& box) const { return before_.Intersects(box); }

 private:
  static constexpr int kMost = 8;
  // Measured on scenes of polygons that cover from a hundredth to a third of the plane.
  static constexpr double kFirst = 4;  // in spacings of the scene
  static constexpr double kGrowth = 3;

  void StartLong(const Line& line, const SceneIndex& scene, double length);

  double begin_ = 0;
  double end_ = 0;
  double length_ = 0;
  double leave_ = 0;  // about where the line leaves the scene
  int left_ = 0;      // how many may follow
  Box bounds_;
  Box before_;  // the bounds of the one before; empty for the first
};

}  // namespace carom::internal
