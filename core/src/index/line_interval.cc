// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/line_interval.h"

#include <algorithm>
#include <cmath>

namespace carom::internal {

// A cast searches a line part by part for the first polygon that the line meets. Makes the first
// part begin at the line's start and end a parameter difference of `length` after the line enters
// the bounds of the scene, since the line meets no polygon before the bounds. If the line leaves
// the bounds of the scene before that end, the first part stays the whole line. The ends of parts
// only decide which polygons are visited first, so rounding errors in the ends change no answer.
void LineInterval::StartLong(const Line& line, const SceneIndex& scene, double length) {
  remaining_ = kMost - 1;
  length_ = length;
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  double enter = line.t_min;
  exit_ = line.t_max;
  const auto pass = [&](double from, double d, double min, double max) {
    if (d == 0) return;
    enter = std::max(enter, ((d > 0 ? min : max) - from) / d);
    exit_ = std::min(exit_, ((d > 0 ? max : min) - from) / d);
  };
  pass(line.origin.x, dx, scene.bounds().min.x, scene.bounds().max.x);
  pass(line.origin.y, dy, scene.bounds().min.y, scene.bounds().max.y);
  if (!(enter + length_ < exit_)) return;
  end_ = enter + length_;
  bounds_ = line.BoundsBetween(begin_, end_);
}

// Moves to the next part of the line that a cast searches. Makes each part longer than the previous
// part by the factor `kGrowth`, so that a line without a hit takes a number of parts logarithmic in
// the line's length. The last of the `kMost` parts extends to the end of the line. `limit` is the
// parameter beyond which the caller needs no hits.
void LineInterval::Advance(const Line& line, double limit) {
  begin_ = end_;
  length_ *= kGrowth;
  --remaining_;
  const double end = begin_ + length_;
  end_ = std::min(remaining_ > 0 && end < exit_ ? end : line.t_max, limit);
  previous_bounds_ = bounds_;
  bounds_ = line.BoundsBetween(begin_, end_);
}

}  // namespace carom::internal
