// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What moves in `carom demo`: shapes that wander about an arena and fire bullets.
//
// The world knows its bounds and the answers to its questions, nothing else of the map. It is
// deterministic: an answer takes effect exactly `kLag` ticks after its question, however long it
// took to come, so the same map gives the same run.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "client/load/random.h"

namespace carom::cli {

struct WorldOptions {
  uint32_t shapes = 200;    // at least 1
  uint32_t bullets = 2000;  // a tick
};

// One shape: a circle, or a polygon of the shape table.
struct Mover {
  Vec2 position;
  Vec2 velocity;  // a tick
  double radius = 0;
  double angle = 0;  // radians, in [-4, 4]
  double spin = 0;   // radians a tick
  uint32_t shape = 0;
  bool is_circle = false;
  uint64_t turned_at = 0;  // the tick in which it last bounced
};

// Not thread-safe.
class DemoWorld {
 public:
  // Ticks between a question and its effect: as many frames are in flight.
  static constexpr uint64_t kLag = 4;

  DemoWorld(const WorldOptions& options, const Box& bounds);

  // Asks where there is room for the shapes. Once, before the first tick.
  Group RoomQuestion();
  // Puts the shapes where there is room.
  void Settle(const OverlapAnswers& rooms);

  // Moves everything by one tick and asks what is hit and touched there. The columns of the group
  // are those of this world, until the next call.
  Group Tick(uint64_t tick);
  // Bounces the shapes that are about to hit something: `answers` to `Tick(tick - kLag)`, before
  // `Tick(tick)`.
  void Bounce(uint64_t tick, const GroupAnswers& answers);

  // As of the last `Tick`. Circles first; circle i asks item i of the circles, the others follow as
  // the items of the polygons.
  const std::vector<Mover>& movers() const { return movers_; }
  uint32_t circle_count() const { return circle_count_; }
  const Polygon& shape(const Mover& mover) const { return shapes_[mover.shape]; }
  // Items [0, bullet_count()) of the segments are bullets.
  uint32_t bullet_count() const { return options_.bullets; }
  Segment bullet(uint32_t index) const {
    return {{ax_[index], ay_[index]}, {bx_[index], by_[index]}};
  }

 private:
  double Random();  // in [0, 1)
  void MakeMovers();
  void Advance();
  void AddSegment(const Segment& segment);
  void AddBullets(uint64_t tick);
  Segment Feeler(const Mover& mover) const;

  const WorldOptions options_;
  const Box bounds_;
  load::Random random_;
  uint32_t circle_count_ = 0;
  std::vector<Polygon> shapes_;
  std::vector<Mover> movers_;
  // Columns of the question that was asked last. Segments: bullets, then one feeler a mover.
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<double> circle_x_, circle_y_, circle_radius_;
  std::vector<uint32_t> polygon_shape_;
  std::vector<double> polygon_x_, polygon_y_, polygon_angle_;
};

}  // namespace carom::cli
