// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/line_interval.h"

#include <algorithm>
#include <cmath>

namespace carom::internal {

// The first interval begins where the line begins and ends some spacings after the line enters the
// bounds of the scene, since before those there is nothing to meet. A line that is hardly longer
// than that, or is whole by request, has one interval. The ends only decide what is visited
// first, so rounding in them changes no answer.
void LineInterval::StartLong(const Line& line, const SceneIndex& scene, double length) {
  left_ = kMost - 1;
  length_ = length;
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  double enter = line.t_min;
  leave_ = line.t_max;
  const auto pass = [&](double from, double d, double min, double max) {
    if (d == 0) return;
    enter = std::max(enter, ((d > 0 ? min : max) - from) / d);
    leave_ = std::min(leave_, ((d > 0 ? max : min) - from) / d);
  };
  pass(line.origin.x, dx, scene.bounds().min.x, scene.bounds().max.x);
  pass(line.origin.y, dy, scene.bounds().min.y, scene.bounds().max.y);
  if (!(enter + length_ < leave_)) return;
  end_ = enter + length_;
  bounds_ = line.BoundsBetween(begin_, end_);
}

// Intervals grow by a factor, so that a line which meets nothing takes O(log length) of them, and
// the last one that is allowed takes the rest of the line. `limit` is where the caller knows
// enough.
void LineInterval::Advance(const Line& line, double limit) {
  begin_ = end_;
  length_ *= kGrowth;
  --left_;
  const double end = begin_ + length_;
  end_ = std::min(left_ > 0 && end < leave_ ? end : line.t_max, limit);
  before_ = bounds_;
  bounds_ = line.BoundsBetween(begin_, end_);
}

}  // namespace carom::internal
