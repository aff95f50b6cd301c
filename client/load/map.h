// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads or generates the polygons of the scene that a run queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "client/load/options.h"

namespace carom::load {

// The width of a cell of the square grid in which a generated map has one polygon per cell.
inline constexpr double kCell = 4;

// Returns `count` convex polygons of 4 to 8 vertices with ids from 0, no two of which touch. Each
// cell of a square grid about the origin contains one polygon at a random place. The circumradius
// of a polygon is 0.15 to 0.30 of the width of a cell.
std::vector<Polygon> MakeMap(size_t count, uint64_t seed);

// The polygons that a run of `carom load` queries.
struct Map {
  std::vector<Polygon> polygons;
  Box bounds;
  double spacing = 0;  // square root of (area of `bounds` / number of polygons); above 0
};

// Returns the polygons `options.map_polygons`, or a generated map if `options.map` is empty.
// INVALID_ARGUMENT for a map whose bounds have no area.
absl::StatusOr<Map> LoadMap(const LoadOptions& options);

}  // namespace carom::load
