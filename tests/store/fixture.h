// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of stores share: polygons, and what a scene has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::server {

// The unit square from (x, 0).
inline Polygon SquareAt(uint64_t id, double x, size_t user_data = 0) {
  return *Polygon::Create({.id = id,
                           .rings = {{{{x, 0}, {x + 1, 0}, {x + 1, 1}, {x, 1}}}},
                           .category = id % 7 + 1,
                           .user_data = std::string(user_data, 'u')});
}

// A polygon of so many vertices.
inline Polygon Comb(uint64_t id, int vertices) {
  PolygonSpec spec;
  spec.id = id;
  RingSpec& ring = spec.rings.emplace_back();
  for (int i = 0; i < vertices; ++i) ring.vertices.push_back({0.5 * i, i % 2 * 1.0});
  return *Polygon::Create(spec);
}

// Vertices by polygon id.
using Contents = std::map<uint64_t, std::vector<Vec2>>;

inline Contents ContentsOf(const Scene& scene) {
  Contents contents;
  for (size_t i = 0; i < scene.polygon_count(); ++i) {
    const Polygon& polygon = scene.polygon(i);
    contents[polygon.id()].assign(polygon.vertices().begin(), polygon.vertices().end());
  }
  return contents;
}

}  // namespace carom::server
