// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may a line meet, nearest first?
//
// Many lines are under way at once: each takes one step down the trees of boxes, asks for the
// memory of its next step, and lets the next line go on, so that waiting for memory overlaps. The
// tests of boxes are in floats and conservative: the order and number of polygons visited may vary
// with the instruction set, whether one is visited that the line meets does not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "indexed_polygon.h"
#include "line.h"
#include "scene_index.h"

namespace carom::internal {

// A line as eight boxes at a time are tested against it.
//
// A point p of the line has normal . (p - origin) = 0, so of a box some corner is at or above
// `offset - slack` along the normal and some corner at or below `offset + slack`. With M the
// largest magnitude of a coordinate of the scene and of the origin, u = 2^-24 and components of the
// normal below 2: rounding the normal moves the product by 8 u M, rounding the offset by 4 u M,
// evaluating in floats by 4 + 4 + 8 u M more, each less than 2^-140 where it underflows. `slack` is
// twice that and more: 64 u M + 2^-120.
struct LineCull {
  LineCull() = default;
  // `magnitude` is M but for the origin.
  LineCull(const Line& line, double magnitude);

  // Sets the reach to a box that holds what still matters of the line.
  void SetReach(const Box& reach);

  float min_x, max_x, min_y, max_y;  // the reach; finite, so that no empty box passes
  float normal_x, normal_y, offset, slack;
  // What orders boxes along the line: the side of a box where the line enters it, along the longer
  // axis, with the sign that makes it ascend as t does. Beyond `limit` there is no reach.
  BoxNode::Column BoxNode::*key;
  float key_sign, limit;
};

// A line under way.
struct Flight {
  // What to look at: a node of a tree, or a polygon of a tile.
  struct Entry {
    const Tile* tile;  // null: the upper tree
    uint32_t index;
    float key;
    uint8_t level;  // of the node, or one of those below
  };
  static constexpr uint8_t kRoot = 253;      // of the tile's tree
  static constexpr uint8_t kPolygon = 254;   // whose handle is under way
  static constexpr uint8_t kVertices = 255;  // whose vertices are
  // At most 12 levels, upper and lower ones; each leaves seven siblings behind.
  static constexpr size_t kMaxEntries = 96;

  // Starts at the root of the upper tree.
  void Start(const Line& line, const SceneIndex& scene);

  LineCull cull;
  bool stopped = false;  // set by whoever needs no more polygons
  size_t count = 0;
  std::array<Entry, kMaxEntries> entries;  // the nearest last
};

// Told of each polygon that a flight meets.
class FlightObserver {
 public:
  // `indexed` passed the tests of boxes. May narrow or stop the flight.
  virtual void Visit(size_t flight, const IndexedPolygon& indexed) = 0;
  // The flight is over. Returns whether another one started in its place.
  virtual bool Finish(size_t flight) = 0;

 protected:
  ~FlightObserver() = default;
};

// Flies until all, at most `kMaxFlights`, are over or the meter stops. Each box is a unit of work.
void Fly(const SceneIndex& scene, std::span<Flight> flights, FlightObserver& observer,
         WorkMeter& meter);
inline constexpr size_t kMaxFlights = 32;

}  // namespace carom::internal
