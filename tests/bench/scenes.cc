// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "carom/predicates.h"
#include "tests/bench/pieces.h"

namespace carom::bench {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// Vertices on a circle, none closer to the next than a quarter of a regular polygon's side.
Outline ConvexOutline(Random& random, Vec2 center, double radius) {
  const size_t n = 3 + random.Below(6);
  const double start = random.Between(0, kTurn);
  Outline outline;
  for (size_t i = 0; i < n; ++i) {
    const double at = (static_cast<double>(i) + random.Between(0, 0.75)) / static_cast<double>(n);
    const double angle = start + kTurn * at;
    outline.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  return outline;
}

Outline StarOutline(Random& random, Vec2 center) {
  const size_t n = 24 + random.Below(37);
  Outline outline;
  for (size_t i = 0; i < n; ++i) {
    const double angle = kTurn * static_cast<double>(i) / static_cast<double>(n);
    const double radius = random.Between(2.5, 6.5);
    outline.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  return outline;
}

Outline BoxOutline(double min_x, double min_y, double max_x, double max_y) {
  return {{min_x, min_y}, {max_x, min_y}, {max_x, max_y}, {min_x, max_y}};
}

World EmptyWorld(size_t columns, double cell) {
  World world;
  world.columns = columns;
  world.cell = cell;
  world.cells.resize(columns * columns);
  return world;
}

Vec2 Corner(const World& world, size_t cell) {
  return {static_cast<double>(cell % world.columns) * world.cell - world.half(),
          static_cast<double>(cell / world.columns) * world.cell - world.half()};
}

void Append(World& world, size_t cell, Outline outline) {
  world.cells[cell].push_back(static_cast<uint32_t>(world.polygons.size()));
  world.polygons.push_back(std::move(outline));
}

// Shuffles the polygons, and their pieces.
void Finish(World& world, Random& random) {
  std::vector<uint32_t> order(world.polygons.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  random.Shuffle(order);
  std::vector<Outline> shuffled(order.size());
  std::vector<uint32_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shuffled[i] = std::move(world.polygons[order[i]]);
    place[order[i]] = static_cast<uint32_t>(i);
  }
  world.polygons = std::move(shuffled);
  for (std::vector<uint32_t>& cell : world.cells) {
    for (uint32_t& polygon : cell) polygon = place[polygon];
  }
  for (const Outline& outline : world.polygons) {
    for (Outline& piece : ConvexPieces(outline)) world.pieces.push_back(std::move(piece));
  }
  random.Shuffle(world.pieces);
}

bool Holds(const Outline& outline, Vec2 p) {
  bool inside = false;
  for (size_t i = 0, j = outline.size() - 1; i < outline.size(); j = i++) {
    const Vec2 a = outline[j];
    const Vec2 b = outline[i];
    if (IsOnSegment(p, {a, b})) return true;
    if ((a.y > p.y) == (b.y > p.y)) continue;
    if ((Orientation(a, b, p) > 0) == (b.y > a.y)) inside = !inside;
  }
  return inside;
}

Vec2 FreePoint(const World& world, Random& random) {
  while (true) {
    const Vec2 p{random.Between(-world.half(), world.half()),
                 random.Between(-world.half(), world.half())};
    if (IsFree(world, p)) return p;
  }
}

}  // namespace

World GridWorld(size_t count, double low, double high) {
  // Even, so that a spatial hash of equal cells has each polygon in one cell.
  size_t columns = 2;
  while (columns * columns < count) columns += 2;
  World world = EmptyWorld(columns, kCell);
  Random random(count);
  for (size_t cell = 0; cell < world.cells.size(); ++cell) {
    const double radius = kCell * random.Between(low, high);
    const Vec2 corner = Corner(world, cell);
    // Not quite to the cell's border, so that rounding to floats brings no two into touch.
    const double room = radius + 0.01;
    const Vec2 center{corner.x + random.Between(room, kCell - room),
                      corner.y + random.Between(room, kCell - room)};
    Append(world, cell, ConvexOutline(random, center, radius));
  }
  Finish(world, random);
  return world;
}

World WallWorld(size_t rooms) {
  constexpr double kThick = 0.5;
  constexpr double kDoor = 3;
  World world = EmptyWorld(rooms, kRoom);
  Random random(rooms);
  for (size_t cell = 0; cell < world.cells.size(); ++cell) {
    const Vec2 at = Corner(world, cell);
    const double right = at.x + kRoom;
    const double top = at.y + kRoom;
    const double left_door = at.y + random.Between(2, kRoom - kDoor - 2);
    const double lower_door = at.x + random.Between(2, kRoom - kDoor - 2);
    Append(world, cell, BoxOutline(at.x, at.y, at.x + kThick, left_door));
    Append(world, cell, BoxOutline(at.x, left_door + kDoor, at.x + kThick, top));
    Append(world, cell, BoxOutline(at.x + kThick, at.y, lower_door, at.y + kThick));
    Append(world, cell, BoxOutline(lower_door + kDoor, at.y, right, at.y + kThick));
    const double middle = (kRoom + kThick) / 2;
    const Vec2 center{at.x + middle + random.Between(-4, 4), at.y + middle + random.Between(-4, 4)};
    Append(world, cell, StarOutline(random, center));
  }
  Finish(world, random);
  return world;
}

World TileWorld(size_t columns) {
  World world = EmptyWorld(columns, kCell);
  Random random(columns);
  for (size_t cell = 0; cell < world.cells.size(); ++cell) {
    if (random.Below(3) == 0) continue;
    const Vec2 at = Corner(world, cell);
    Append(world, cell, BoxOutline(at.x, at.y, at.x + kCell, at.y + kCell));
  }
  Finish(world, random);
  return world;
}

bool IsFree(const World& world, Vec2 p) {
  const auto cell_at = [&](double v) {
    const double i = std::floor((v + world.half()) / world.cell);
    return static_cast<size_t>(std::clamp(i, 0.0, static_cast<double>(world.columns - 1)));
  };
  for (const uint32_t polygon : world.cells[cell_at(p.y) * world.columns + cell_at(p.x)]) {
    if (Holds(world.polygons[polygon], p)) return false;
  }
  return true;
}

void Segments::Append(Vec2 a, Vec2 b) {
  ax.push_back(a.x);
  ay.push_back(a.y);
  bx.push_back(b.x);
  by.push_back(b.y);
}

Segments FreeSegments(const World& world, size_t count, double length, uint64_t seed) {
  Random random(seed);
  Segments segments;
  for (size_t i = 0; i < count; ++i) {
    const Vec2 a = FreePoint(world, random);
    const double angle = random.Between(0, kTurn);
    const double way = length * random.Between(0.75, 1.25);
    segments.Append(a, {a.x + way * std::cos(angle), a.y + way * std::sin(angle)});
  }
  return segments;
}

Points FreePoints(const World& world, size_t count, uint64_t seed) {
  Random random(seed);
  Points points;
  for (size_t i = 0; i < count; ++i) {
    const Vec2 p = FreePoint(world, random);
    points.x.push_back(p.x);
    points.y.push_back(p.y);
  }
  return points;
}

Placements RandomPlacements(size_t movers, double half, size_t count, uint64_t seed) {
  Random random(seed);
  Placements placements;
  for (size_t i = 0; i < count; ++i) {
    const double angle = random.Between(0, kTurn);
    placements.mover.push_back(static_cast<uint32_t>(random.Below(movers)));
    placements.x.push_back(random.Between(-half, half));
    placements.y.push_back(random.Between(-half, half));
    placements.c.push_back(std::cos(angle));
    placements.s.push_back(std::sin(angle));
  }
  return placements;
}

Placements WalkerPlacements(size_t walkers, double half, size_t count, uint64_t seed) {
  constexpr double kStep = 10.0 / 60;
  Placements at = RandomPlacements(1, half, std::min(walkers, count), seed);
  for (size_t i = walkers; i < count; ++i) {
    const size_t before = i - walkers;
    at.mover.push_back(0);
    at.x.push_back(at.x[before] + kStep * at.c[before]);
    at.y.push_back(at.y[before] + kStep * at.s[before]);
    at.c.push_back(at.c[before]);
    at.s.push_back(at.s[before]);
  }
  return at;
}

Sweeps RandomSweeps(Outline outline, double radius, Placements placements, double length,
                    uint64_t seed) {
  Random random(seed);
  Sweeps sweeps{std::move(outline), radius, std::move(placements), {}, {}};
  for (size_t i = 0; i < sweeps.size(); ++i) {
    const double angle = random.Between(0, kTurn);
    const double way = length * random.Between(0.75, 1.25);
    sweeps.to_x.push_back(sweeps.from.x[i] + way * std::cos(angle));
    sweeps.to_y.push_back(sweeps.from.y[i] + way * std::sin(angle));
  }
  return sweeps;
}

Outline RegularOutline(size_t vertices, double radius) {
  Outline outline;
  for (size_t i = 0; i < vertices; ++i) {
    const double angle = kTurn * static_cast<double>(i) / static_cast<double>(vertices);
    outline.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  return outline;
}

}  // namespace carom::bench
