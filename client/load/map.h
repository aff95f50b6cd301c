// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The scene that is asked: read from a file, or made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "client/load/options.h"

namespace carom::load {

// The width of a cell of a made map.
inline constexpr double kCell = 4;

// `count` convex polygons of 4 to 8 vertices, ids from 0, one in each cell of a square grid about
// the origin, at a random place in it, no two of which touch. The radius is 0.15 to 0.30 of a cell.
std::vector<Polygon> MakeMap(size_t count, uint64_t seed);

struct Map {
  std::vector<Polygon> polygons;
  Box bounds;
  double spacing = 0;  // side of the square that a polygon has for itself, on average; above 0
};

// The polygons of the first scene of `options.map`, or a made map. Errors: those of SceneFile, and
// INVALID_ARGUMENT for a map without extent: nothing can be asked there.
absl::StatusOr<Map> LoadMap(const LoadOptions& options);

}  // namespace carom::load
