// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One battery of questions of every kind, which can be moved, scaled and turned around as a whole,
// and its answers as text to compare. What laws_test.cc is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "carom/group.h"
#include "tests/core/random_scene.h"

namespace carom::testing {

// A moving shape at a pose, on its way somewhere.
struct Mover {
  Shape shape;
  Vec2 position;
  double angle = 0;
  Vec2 to;
  double to_angle = 0;
};

// Lengths of the caller's plane: `scale` multiplies all, `offset` is then added to positions.
struct Frame2 {
  double scale = 1;
  Vec2 offset;

  Vec2 Point(Vec2 p) const { return {p.x * scale + offset.x, p.y * scale + offset.y}; }
  Vec2 Vector(Vec2 v) const { return {v.x * scale, v.y * scale}; }
};

struct ArcItem {
  Vec2 p, v, a;
  double duration = 0;
};

struct FanItem {
  Vec2 origin;
  double angle = 0;
  double step = 0;
  double range = 0;
  uint32_t beams = 1;
};

// Questions by value. Movers are asked for overlap (polygons only), distance, contact,
// depenetration, sweep and rotating sweep.
struct Battery {
  std::vector<carom::Segment> segments;  // casts, and sights
  std::vector<carom::Ray> rays;
  std::vector<Vec2> points;
  std::vector<Circle> circles;
  std::vector<Capsule> capsules;
  std::vector<Box> boxes;
  std::vector<Mover> movers;
  std::vector<ArcItem> arcs;
  std::vector<FanItem> fans;
  Group options;  // its columns are ignored

  Battery In(const Frame2& frame) const;
  Battery Reversed() const;  // the same items, last first
};

// `count` of each kind, with random options.
Battery RandomBattery(Random& random, const Grid& grid, int count);

// Polygons moved likewise.
PolygonSpec In(const Frame2& frame, PolygonSpec spec);

// How much of an answer is compared: VERDICTS are ids, fractions, places and flags; MEASURES are
// also distances, points, normals and depths; ALL also edges and features.
enum class Depth { kVerdicts, kMeasures, kAll };

// The answers, one text an item, batch after batch; lengths are divided by `frame.scale`, which is
// a power of two, so that equal texts mean equal bits but for scale.
std::vector<std::string> Answers(const Scene& scene, const Battery& battery, Depth depth,
                                 const Frame2& frame = {});

}  // namespace carom::testing
