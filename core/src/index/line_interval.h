// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How long a part of a line should a cast search before it checks whether the first hit is found?
#pragma once

#include <algorithm>
#include <cmath>

#include "index/scene_index.h"
#include "shape/line.h"

namespace carom::internal {

// The part of a line that a cast (the search for the first polygon that the line meets) searches
// next. The parts follow each other from the line's start to its end. The first part is a few times
// as long as neighbouring polygons of the scene are apart, and each next part is longer, so that a
// cast visits about the polygons that the line passes before its first hit, without sorting the
// polygons ahead. Not thread-safe.
class LineInterval {
 public:
  // Sets the first part. The first part is the whole line if `is_whole`, or if the line is so short
  // that several parts would cost more than they save.
  void Start(const Line& line, const SceneIndex& scene, bool is_whole) {
    begin_ = line.t_min;
    end_ = line.t_max;
    bounds_ = line.bounds;
    previous_bounds_ = {};
    const double first = kFirst * scene.spacing();
    const double longer = std::max(std::abs(line.dx.high), std::abs(line.dy.high));
    if (is_whole || longer * (line.t_max - line.t_min) <= kGrowth * first) return;
    if (first > 0) StartLong(line, scene, first / longer);
  }
  // Moves to the next part, which ends at the line parameter `limit` at the latest: the caller
  // needs no hits beyond `limit`. The last of the `kMost` parts is the rest of the line.
  void Advance(const Line& line, double limit);

  double begin() const { return begin_; }
  // Returns the line parameter at which the current part ends. The last part ends at the line's
  // t_max or at `limit`.
  double end() const { return end_; }
  // Return a box that contains the current part, and a box that contains the current part up to the
  // line parameter t.
  const Box& bounds() const { return bounds_; }
  Box BoundsUpTo(const Line& line, double t) const { return line.BoundsBetween(begin_, t); }
  // Returns whether the bounds of the previous part meet `box`. If `box` meets this part, the
  // result is true if and only if the search of an earlier part has visited `box`: a box that meets
  // this part and an earlier part also meets the part between them, since boxes are convex and the
  // line is straight.
  bool WasVisited(const Box& box) const { return previous_bounds_.Intersects(box); }

 private:
  static constexpr int kMost = 8;
  // `kFirst` and `kGrowth` were measured on scenes in which polygons cover from a hundredth to a
  // third of the plane.
  static constexpr double kFirst = 4;   // length of the first part / `SceneIndex::spacing()`
  static constexpr double kGrowth = 3;  // each part is so many times as long as the previous one

  void StartLong(const Line& line, const SceneIndex& scene, double length);

  double begin_ = 0;
  double end_ = 0;
  double length_ = 0;  // length of the current part, as a difference of parameters
  double exit_ = 0;    // about the parameter at which the line leaves the bounds of the scene
  int remaining_ = 0;  // the number of parts that may follow the current one
  Box bounds_;
  Box previous_bounds_;  // bounds of the previous part; empty for the first part
};

}  // namespace carom::internal
