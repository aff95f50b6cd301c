// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Seeded random scenes for cells: even and uneven ones, sparse ones, far away and tiny, with
// polygons much larger than their distances; and what commits leave of them.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "carom/polygon.h"
#include "carom/scene.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"

namespace carom::testing {

// Polygons of unit size, about, all over a square of side `size` that begins at `corner`, times
// `scale`.
struct GridScene {
  Vec2 corner;
  double size = 1;
  double scale = 1;
  bool is_uneven = false;  // most of them in a hundredth of the square
  int large_percent = 0;   // ten times as large
  bool is_odd = false;     // some are no plain rings

  Vec2 Place(Random& random) const {
    const double part = is_uneven && random.Below(10) != 0 ? 0.1 : 1;
    return {corner.x + scale * size * part * random.Unit(),
            corner.y + scale * size * part * random.Unit()};
  }
  // Half of them of few vertices; now and then one that is no plain ring.
  Polygon Make(Random& random, uint64_t id) const {
    const double radius = scale * (random.Below(100) < large_percent ? 10 : 1) * random.Unit();
    const int kind = is_odd ? random.Below(50) : 10 + random.Below(40);
    const int vertices = kind == 0 ? 70 : kind < 40 ? 3 + random.Below(6) : 3 + random.Below(40);
    PolygonSpec spec;
    spec.id = id;
    spec.category = random.Below(8) == 0 ? 2 : 3;
    spec.rings = {{RingAbout(random, Place(random), radius, vertices)}};
    if (kind == 1) spec.solidity = Solidity::kBoundary;
    if (kind == 2) spec.rings.push_back({RingAbout(random, Place(random), radius, 4)});
    return Polygon::Create(spec).value();
  }
};

inline GridScene AnyGridScene(Random& random, int count) {
  constexpr double kSpacings[] = {0.5, 1.5, 3, 30, 3000};
  constexpr double kScales[] = {1, 1, 1, 1e-6, 1e6};
  constexpr double kFar[] = {0, 0, -1, 1e3, 1e9};
  GridScene scene;
  scene.size = kSpacings[random.Below(5)] * std::sqrt(count);
  scene.scale = kScales[random.Below(5)];
  scene.corner = {kFar[random.Below(5)] * scene.scale, kFar[random.Below(5)] * scene.scale};
  scene.is_uneven = random.Below(3) == 0;
  scene.large_percent = random.Below(3) == 0 ? 5 : 0;
  scene.is_odd = random.Below(4) == 0;
  return scene;
}

// Edits some of `count` polygons whose ids are below it: replaces, removes or adds them.
inline Scene::Ptr Edited(const Scene& scene, const GridScene& grid, Random& random, int count) {
  std::vector<SceneEdit> edits;
  for (int i = 0; i < 1 + random.Below(8); ++i) {
    const auto id = static_cast<uint64_t>(100 * i + random.Below(std::max(count / 100, 1)));
    if (scene.Find(id) == nullptr) {
      edits.emplace_back(AddPolygon{grid.Make(random, id)});
    } else if (random.Below(2) == 0) {
      edits.emplace_back(ReplacePolygon{grid.Make(random, id)});
    } else {
      edits.emplace_back(RemovePolygon{id});
    }
  }
  return scene.Commit(std::move(edits), scene.version() + 1).value();
}

// Makes `count` polygons.
inline Scene::Ptr Made(const GridScene& grid, Random& random, int count) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) polygons.push_back(grid.Make(random, static_cast<uint64_t>(i)));
  return Scene::Create(std::move(polygons)).value();
}

}  // namespace carom::testing
