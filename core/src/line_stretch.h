// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much of a line to look at before asking whether its first hit is found.
#pragma once

#include "line.h"
#include "scene_index.h"

namespace carom::internal {

// A part of a line, one after the other from its start to its end. The first one is some polygons
// long, the next ones grow, so that what a line passes before its first hit is about what is looked
// at, without keeping what is ahead in order.
class LineStretch {
 public:
  // The first one. It is all of the line if `is_whole`, or if more would not pay.
  void Start(const Line& line, const SceneIndex& scene, bool is_whole);
  // The one behind, of which nothing beyond `limit` matters.
  void Advance(const Line& line, double limit);

  // Where it ends. Of the last one that is the line's t_max.
  double end() const { return end_; }
  // Holds it.
  Box BoundsOn(const Line& line) const { return line.BoundsBetween(begin_, end_); }

 private:
  double begin_;
  double end_;
  double length_;
  double leave_;  // about where the line leaves the scene
};

}  // namespace carom::internal
