// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/map.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "client/load/random.h"

namespace carom::load {
namespace {

// Returns a polygon whose vertices are on a circle by ascending angle, so it is convex. The angle
// between consecutive vertices, seen from the center, is at least a quarter of the angle in a
// regular polygon with as many vertices.
Polygon ConvexPolygon(Random& random, uint64_t id, Vec2 center, double radius) {
  const uint64_t n = 4 + random.Below(5);
  const double start = random.Between(0, 2 * std::numbers::pi);
  RingSpec ring;
  for (uint64_t i = 0; i < n; ++i) {
    const double at = (static_cast<double>(i) + random.Between(0, 0.75)) / static_cast<double>(n);
    const double angle = start + 2 * std::numbers::pi * at;
    ring.vertices.push_back(
        {center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back(std::move(ring));
  absl::StatusOr<Polygon> polygon = Polygon::Create(std::move(spec));
  if (!polygon.ok()) std::abort();  // a finite ring is always accepted
  return *std::move(polygon);
}

}  // namespace

// Each polygon has a cell of a square grid to itself. Keeps the circle around each polygon at least
// a 400th of a cell's width away from the sides of its cell, so polygons of neighbouring cells are
// at least a 200th of a cell's width apart.
std::vector<Polygon> MakeMap(size_t count, uint64_t seed) {
  const auto columns = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const double half = kCell * static_cast<double>(columns) / 2;
  Random random(seed);
  std::vector<Polygon> polygons;
  polygons.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const double radius = kCell * random.Between(0.15, 0.30);
    const double room = radius + kCell / 400;
    const size_t column = i % columns;
    const size_t row = i / columns;
    const double x = static_cast<double>(column) * kCell - half;
    const double y = static_cast<double>(row) * kCell - half;
    const Vec2 center{x + random.Between(room, kCell - room),
                      y + random.Between(room, kCell - room)};
    polygons.push_back(ConvexPolygon(random, i, center, radius));
  }
  return polygons;
}

absl::StatusOr<Map> LoadMap(const LoadOptions& options) {
  Map map;
  map.polygons =
      options.map.empty() ? MakeMap(options.polygons, options.seed) : options.map_polygons;
  for (const Polygon& polygon : map.polygons) map.bounds.Extend(polygon.bounds());
  const double width = map.bounds.empty() ? 0 : map.bounds.max.x - map.bounds.min.x;
  const double height = map.bounds.empty() ? 0 : map.bounds.max.y - map.bounds.min.y;
  // The square root of the area per polygon; 0 if all vertices are on a horizontal or vertical
  // line.
  map.spacing =
      std::sqrt(width * height / static_cast<double>(std::max<size_t>(1, map.polygons.size())));
  if (!(map.spacing > 0)) {
    return absl::InvalidArgumentError("the map has no area, so there is no place to query");
  }
  return map;
}

}  // namespace carom::load
