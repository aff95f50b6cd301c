// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Simulates the world of `carom demo`: shapes that move through an arena and fire bullets.
//
// The world has the bounds of the map and the answers to its queries, but not the polygons of the
// map. The world is deterministic: an answer takes effect exactly `kLag` ticks after its query, at
// whatever time the answer arrived, so every run in one map with equal options is equal.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "client/load/random.h"

namespace carom::cli {

// The sizes of the world of a demo.
struct WorldOptions {
  uint32_t shapes = 200;    // number of moving shapes, at least 1
  uint32_t bullets = 2000;  // bullets per tick
};

// A moving shape: a circle, or the polygon of index `shape` in `DemoWorld::shapes_`.
struct Mover {
  Vec2 position;
  Vec2 velocity;  // displacement per tick
  double radius = 0;
  double angle = 0;  // radians, in [-4, 4]
  double spin = 0;   // radians per tick
  uint32_t shape = 0;
  bool is_circle = false;
  uint64_t turned_at = 0;  // tick of the last bounce off a polygon
};

// The moving shapes (movers) and the queries about them: whether a mover overlaps polygons, what
// its bullets (segments) hit, and what is ahead of it. Not thread-safe.
class DemoWorld {
 public:
  // The number of ticks between a query and the effect of its answer, and the number of frames in
  // flight.
  static constexpr uint64_t kLag = 4;

  DemoWorld(const WorldOptions& options, const Box& bounds);

  // Returns circle queries that find out which random places are free of polygons. Must be called
  // once, before the first tick.
  Group RoomQuestion();
  // Moves each shape to a random place that is free of polygons according to `rooms`, the answer to
  // `RoomQuestion`.
  void Settle(const OverlapAnswers& rooms);

  // Moves all shapes by one tick and returns the queries of the tick. The group has views of this
  // world's columns, valid until the next call.
  Group Tick(uint64_t tick);
  // Bounces the shapes that are about to hit a polygon. `answers` are the answers to
  // `Tick(tick - kLag)`; must be called before `Tick(tick)`.
  void Bounce(uint64_t tick, const GroupAnswers& answers);

  // Returns the shapes as of the last `Tick`, circles first. Circle i is item i of the circle
  // queries that `Tick` returned; the polygons follow in the order of the polygon queries.
  const std::vector<Mover>& movers() const { return movers_; }
  uint32_t circle_count() const { return circle_count_; }
  const Polygon& shape(const Mover& mover) const { return shapes_[mover.shape]; }
  // The first bullet_count() segments of the group that `Tick` returns are bullets.
  uint32_t bullet_count() const { return options_.bullets; }
  Segment bullet(uint32_t index) const {
    return {{ax_[index], ay_[index]}, {bx_[index], by_[index]}};
  }

 private:
  double Random();  // returns a number in [0, 1)
  void MakeMovers();
  void Advance();
  void AddSegment(const Segment& segment);
  void AddBullets(uint64_t tick);
  Segment LookAheadSegment(const Mover& mover) const;

  const WorldOptions options_;
  const Box bounds_;
  load::Random random_;
  uint32_t circle_count_ = 0;
  std::vector<Polygon> shapes_;
  std::vector<Mover> movers_;
  // Columns of the queries of the last tick. The segments (ax_ to by_) are the bullets, then one
  // look-ahead segment per mover, which finds polygons ahead of the mover.
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<double> circle_x_, circle_y_, circle_radius_;
  std::vector<uint32_t> polygon_shape_;
  std::vector<double> polygon_x_, polygon_y_, polygon_angle_;
};

}  // namespace carom::cli
