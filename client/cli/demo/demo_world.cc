// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/demo_world.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "carom/sincos.h"

namespace carom::cli {
namespace {

constexpr uint64_t kSeed = 0x9e3779b97f4a7c15;
constexpr double kPi = 3.141592653589793;
constexpr uint32_t kMinCorners = 3;
constexpr uint32_t kMaxCorners = 8;
constexpr uint32_t kSizes = 3;
constexpr uint32_t kRoomsPerMover = 16;  // random places that are tried for each shape
// angle between neighbouring bullets that a shape fires in one tick
constexpr double kFanRadians = 0.07;

Vec2 Direction(double radians) {
  const CosSin turn = SinCos(std::remainder(radians, 2 * kPi));
  return {turn.c, turn.s};
}

Vec2 Moved(Vec2 p, Vec2 direction, double length) {
  return {p.x + direction.x * length, p.y + direction.y * length};
}

double Length(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// Returns a regular polygon about the origin. Its first vertex is (radius, 0), from which
// `MakeMovers` reads the radius.
Polygon RegularPolygon(uint32_t corners, double radius) {
  RingSpec ring;
  for (uint32_t i = 0; i < corners; ++i) {
    ring.vertices.push_back(Moved({}, Direction(2 * kPi * i / corners), radius));
  }
  PolygonSpec spec;
  spec.rings.push_back(std::move(ring));
  return *Polygon::Create(std::move(spec));
}

}  // namespace

DemoWorld::DemoWorld(const WorldOptions& options, const Box& bounds)
    : options_(options), bounds_(bounds), random_(kSeed), circle_count_((options.shapes + 1) / 2) {
  // Sizes and speeds are multiples of `unit`, a 400th of the map's larger side, so that they fit
  // any map.
  const double unit = std::max(bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y) / 400;
  for (uint32_t corners = kMinCorners; corners <= kMaxCorners; ++corners) {
    for (uint32_t size = 0; size < kSizes; ++size) {
      shapes_.push_back(RegularPolygon(corners, unit * (2.2 + 0.9 * size)));
    }
  }
  MakeMovers();
}

double DemoWorld::Random() { return random_.Between(0, 1); }

// Makes half of the shapes (rounded up) circles; the polygons take the shapes of `shapes_` in turn.
void DemoWorld::MakeMovers() {
  const double unit = std::max(bounds_.max.x - bounds_.min.x, bounds_.max.y - bounds_.min.y) / 400;
  for (uint32_t i = 0; i < options_.shapes; ++i) {
    Mover mover;
    mover.is_circle = i < circle_count_;
    mover.shape = i % static_cast<uint32_t>(shapes_.size());
    mover.radius =
        mover.is_circle ? unit * (1.6 + 2.4 * Random()) : shapes_[mover.shape].ring(0)[0].x;
    mover.velocity = Direction(2 * kPi * Random());
    const double speed = unit * (0.25 + 0.45 * Random());
    mover.velocity = {mover.velocity.x * speed, mover.velocity.y * speed};
    mover.angle = 2 * Random();
    mover.spin = 0.06 * (Random() - 0.5);
    movers_.push_back(mover);
  }
}

// Returns, as one group, queries for `kRoomsPerMover` circles at random places for each moving
// shape, with 1.5 times the radius of the shape: a circle that touches no polygon is a free place
// for the shape.
Group DemoWorld::RoomQuestion() {
  for (const Mover& mover : movers_) {
    for (uint32_t i = 0; i < kRoomsPerMover; ++i) {
      circle_x_.push_back(bounds_.min.x + Random() * (bounds_.max.x - bounds_.min.x));
      circle_y_.push_back(bounds_.min.y + Random() * (bounds_.max.y - bounds_.min.y));
      circle_radius_.push_back(mover.radius * 1.5);
    }
  }
  Group group;
  group.circles = {circle_x_, circle_y_, circle_radius_};
  return group;
}

void DemoWorld::Settle(const OverlapAnswers& rooms) {
  for (size_t i = 0; i < movers_.size(); ++i) {
    const size_t first = i * kRoomsPerMover;
    size_t room = first;  // the first free place, or the last of the places if none is free
    while (room + 1 < first + kRoomsPerMover && rooms.counts[room] > 0) ++room;
    movers_[i].position = {circle_x_[room], circle_y_[room]};
  }
}

Group DemoWorld::Tick(uint64_t tick) {
  Advance();
  for (std::vector<double>* column : {&ax_, &ay_, &bx_, &by_, &circle_x_, &circle_y_,
                                      &circle_radius_, &polygon_x_, &polygon_y_, &polygon_angle_}) {
    column->clear();
  }
  polygon_shape_.clear();
  AddBullets(tick);
  for (const Mover& mover : movers_) {
    AddSegment(LookAheadSegment(mover));
    if (mover.is_circle) {
      circle_x_.push_back(mover.position.x);
      circle_y_.push_back(mover.position.y);
      circle_radius_.push_back(mover.radius);
    } else {
      polygon_shape_.push_back(mover.shape);
      polygon_x_.push_back(mover.position.x);
      polygon_y_.push_back(mover.position.y);
      polygon_angle_.push_back(mover.angle);
    }
  }
  Group group;
  group.segments = {ax_, ay_, bx_, by_};
  group.circles = {circle_x_, circle_y_, circle_radius_};
  group.polygons = {.shapes = shapes_,
                    .shape = polygon_shape_,
                    .x = polygon_x_,
                    .y = polygon_y_,
                    .c = {},
                    .s = {},
                    .angle = polygon_angle_};
  return group;
}

void DemoWorld::Advance() {
  // Sets the sign of the velocity instead of flipping it, so that a mover that is outside the map
  // for several ticks keeps returning.
  for (Mover& mover : movers_) {
    mover.position = Moved(mover.position, mover.velocity, 1);
    mover.angle = std::remainder(mover.angle + mover.spin, 2 * kPi);
    // A mover that leaves the map turns back.
    if (mover.position.x < bounds_.min.x) mover.velocity.x = std::abs(mover.velocity.x);
    if (mover.position.x > bounds_.max.x) mover.velocity.x = -std::abs(mover.velocity.x);
    if (mover.position.y < bounds_.min.y) mover.velocity.y = std::abs(mover.velocity.y);
    if (mover.position.y > bounds_.max.y) mover.velocity.y = -std::abs(mover.velocity.y);
  }
}

void DemoWorld::AddSegment(const Segment& segment) {
  ax_.push_back(segment.a.x);
  ay_.push_back(segment.a.y);
  bx_.push_back(segment.b.x);
  by_.push_back(segment.b.y);
}

// Adds the bullets as segments: every mover fires a fan of bullets from its rim, and the direction
// of the fan turns a little in each tick.
void DemoWorld::AddBullets(uint64_t tick) {
  const auto count = static_cast<uint32_t>(movers_.size());
  const uint32_t burst = (options_.bullets + count - 1) / count;
  const double range = (bounds_.max.x - bounds_.min.x) / 8;
  for (uint32_t i = 0; i < options_.bullets; ++i) {
    const uint32_t shooter = i % count;
    const Mover& mover = movers_[shooter];
    const double aim = 2.4 * shooter + 0.011 * static_cast<double>(tick);
    const uint32_t place_in_fan = i / count;
    const double offset = kFanRadians * (place_in_fan - 0.5 * (burst - 1));
    const Vec2 direction = Direction(aim + offset);
    const Vec2 muzzle = Moved(mover.position, direction, mover.radius);
    AddSegment({muzzle, Moved(muzzle, direction, range)});
  }
}

// Returns a segment from the mover's centre in the direction of its velocity. The segment ends
// beyond the rim of the mover by the distance that the mover travels in kLag + 2 ticks, because the
// answer to a query takes effect after kLag ticks.
Segment DemoWorld::LookAheadSegment(const Mover& mover) const {
  const double speed = Length(mover.velocity);
  const double reach = mover.radius + speed * static_cast<double>(kLag + 2);
  return {mover.position, Moved(mover.position, mover.velocity, reach / speed)};
}

// Bounces the movers (moving shapes) that are about to hit a polygon off the edges that their
// look-ahead segments (cast from the mover in the direction of its velocity) hit.
void DemoWorld::Bounce(uint64_t tick, const GroupAnswers& answers) {
  const CastAnswers& casts = answers.segments;
  size_t row = 0;
  for (uint32_t i = 0; i < options_.bullets; ++i) row += casts.counts[i];
  for (size_t i = 0; i < movers_.size(); ++i) {
    if (casts.counts[options_.bullets + i] == 0) continue;
    const CastHit& hit = casts.hits[row++];
    Mover& mover = movers_[i];
    // Ignores an answer to a query that was sent before the last bounce of the mover, with another
    // velocity.
    if (mover.turned_at + kLag > tick) continue;
    const double speed = Length(mover.velocity);
    const double reach = mover.radius + speed * static_cast<double>(kLag + 2);
    // The mover has moved by `traveled` since the query was sent. If the remaining distance to the
    // hit is more than the radius plus the distance that the mover travels in a tick, does nothing:
    // a later answer reports the hit again.
    const double traveled = speed * static_cast<double>(kLag - 1);
    if (hit.fraction * reach - traveled > mover.radius + speed) continue;
    const double along = mover.velocity.x * hit.normal.x + mover.velocity.y * hit.normal.y;
    // If the velocity does not point against the normal, the mover already moves away from the
    // wall.
    if (along >= 0) continue;
    mover.velocity = Moved(mover.velocity, hit.normal, -2 * along);
    mover.spin = -mover.spin;
    mover.turned_at = tick;
  }
}

}  // namespace carom::cli
