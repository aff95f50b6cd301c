// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is asked of what: the generated scenes, outlines and queries, from fixed seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/geometry.h"
#include "tests/bench/random.h"

namespace carom::bench {

using Outline = std::vector<Vec2>;  // counter-clockwise and simple, no closing duplicate

// The width of a cell of `GridWorld`, and of a room of `WallWorld`.
inline constexpr double kCell = 4;
inline constexpr double kRoom = 24;

// A scene about the origin.
struct World {
  std::vector<Outline> polygons;  // shuffled
  // The same, each cut into convex pieces of 3 to 8 vertices, for peers that know no others.
  std::vector<Outline> pieces;
  // By cell of a square grid, row by row, the polygons in it: no other reaches into the cell.
  std::vector<std::vector<uint32_t>> cells;
  size_t columns = 0;
  double cell = 0;  // width

  double half() const { return cell * static_cast<double>(columns) / 2; }
};

// At least `count` convex polygons of 3 to 8 vertices, one in each cell of a square grid, with a
// circumradius between `low` and `high` cells, jittered so that each stays in its cell.
World GridWorld(size_t count, double low, double high);
inline World DenseWorld(size_t count) { return GridWorld(count, 0.15, 0.30); }
inline World SparseWorld(size_t count) { return GridWorld(count, 0.05, 0.05); }

// rooms x rooms rooms. Each owns its left and its lower wall, each of two boxes 0.5 thick on the
// sides of a door of 3, and holds one star-shaped island of 24 to 60 vertices, 2.5 to 6.5 from its
// centre.
World WallWorld(size_t rooms);

// A map of tiles: columns x columns places, two thirds of which are boxes as large as the place, so
// that they share sides and corners.
World TileWorld(size_t columns);

// Whether no polygon holds the point.
bool IsFree(const World& world, Vec2 p);

// `count` different segments that start in free space and run in random directions, their lengths
// between 0.75 and 1.25 times `length`.
struct Segments {
  std::vector<double> ax, ay, bx, by;

  size_t size() const { return ax.size(); }
  void Append(Vec2 a, Vec2 b);
};
Segments FreeSegments(const World& world, size_t count, double length, uint64_t seed);

// `count` different points in free space.
struct Points {
  std::vector<double> x, y;

  size_t size() const { return x.size(); }
};
Points FreePoints(const World& world, size_t count, uint64_t seed);

// Placements of moving outlines: item i is mover[i] turned by (c, s) at (x, y).
struct Placements {
  std::vector<uint32_t> mover;
  std::vector<double> x, y, c, s;

  size_t size() const { return x.size(); }
};
// `count` placements of the first `movers` outlines, anywhere in [-half, half] squared.
Placements RandomPlacements(size_t movers, double half, size_t count, uint64_t seed);

// The ticks of `walkers` walkers in turns, at 60 Hz and 10 units a second: each goes straight on
// from anywhere, turned as it is.
Placements WalkerPlacements(size_t walkers, double half, size_t count, uint64_t seed);

// A shape that runs from each placement to another place without turning: the outline, which may be
// the two ends of an axis, and a radius about it.
struct Sweeps {
  Outline outline;
  double radius = 0;
  Placements from;
  std::vector<double> to_x, to_y;

  size_t size() const { return from.size(); }
};
// Those of `placements` become paths in random directions, 0.75 to 1.25 times `length` long.
Sweeps RandomSweeps(Outline outline, double radius, Placements placements, double length,
                    uint64_t seed);

// A regular polygon about the origin.
Outline RegularOutline(size_t vertices, double radius);

// Simple outlines of `vertices` vertices in the square [-1, 1], for questions about one polygon.
// Star: alternating near and far from the centre. Comb: teeth of random lengths upon a bar.
// Coastline: a fractal about the centre, as smooth or rough at every scale.
enum class OutlineKind { kStar, kComb, kCoastline };
const char* Name(OutlineKind kind);
Outline MakeOutline(OutlineKind kind, size_t vertices, uint64_t seed);

}  // namespace carom::bench
