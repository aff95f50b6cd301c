// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons of many edges, in the shapes that indices over edges find easy and hard.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "carom/sincos.h"
#include "tests/core/shape/random_ring.h"

namespace carom::testing {

// Long edges side by side, from a radius of 30 to one of 100 and back.
inline Ring Star(size_t count) {
  Ring ring;
  for (size_t i = 0; i < count; ++i) {
    const double turn = static_cast<double>(i) / static_cast<double>(count);
    const CosSin at = SinCos(6.283185307179586 * turn);
    const double radius = i % 2 == 0 ? 100 : 30;
    ring.push_back({radius * at.c, radius * at.s});
  }
  return ring;
}

// Teeth up from y = 0 to y = 100, `count` / 4 of them, on a back below; all on whole coordinates.
inline Ring Comb(size_t count) {
  Ring ring;
  const auto teeth = static_cast<int>(count / 4);
  for (int i = 0; i < teeth; ++i) {
    for (const Vec2 p : {Vec2{0, 0}, {1, 100}, {3, 100}, {4, 0}}) {
      ring.push_back({5.0 * i + p.x, p.y});
    }
  }
  ring.push_back({5.0 * teeth, -9});
  ring.push_back({0, -9});
  return ring;
}

// Between a and b, each half pushed aside by part of its length, down to single edges.
inline void AppendCoast(Random& random, Vec2 a, Vec2 b, size_t edges, Ring& ring) {
  if (edges < 2) {
    ring.push_back(a);
    return;
  }
  const double aside = (random.Unit() - 0.5) / 2;
  const Vec2 middle{(a.x + b.x) / 2 - (b.y - a.y) * aside, (a.y + b.y) / 2 + (b.x - a.x) * aside};
  AppendCoast(random, a, middle, edges / 2, ring);
  AppendCoast(random, middle, b, edges - edges / 2, ring);
}

inline Ring Coast(Random& random, size_t count) {
  Ring ring;
  const Vec2 corners[] = {{80, 0}, {0, 80}, {-80, 0}, {0, -80}};
  for (size_t i = 0; i < 4; ++i) {
    AppendCoast(random, corners[i], corners[(i + 1) % 4], count / 4, ring);
  }
  return ring;
}

// Corners of a grid in any order: every edge may cross every other, many coincide.
inline Ring Tangle(Random& random, const Grid& grid, size_t count) {
  Ring ring;
  for (size_t i = 0; i < count; ++i) ring.push_back(grid.Point(random));
  return ring;
}

inline void Transform(Ring& ring, double scale, Vec2 offset) {
  for (Vec2& p : ring) p = Normalized({p.x * scale + offset.x, p.y * scale + offset.y});
}

// A polygon of 1 to about 300 edges of one of these kinds, or of many rings, at some scale.
inline PolygonSpec RandomLarge(Random& random) {
  PolygonSpec spec{1, {}};
  spec.fill_rule = random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
  if (random.Below(8) == 0) spec.solidity = Solidity::kBoundary;
  Grid grid = AnyGrid(random);
  if (grid.scale < 0x1p40) grid.size += random.Below(60);
  const int kind = random.Below(5);
  const int rings = kind == 4 ? 1 + random.Below(60) : 1 + random.Below(2);
  for (int i = 0; i < rings; ++i) {
    const size_t count = 4 + static_cast<size_t>(random.Below(140));
    Ring ring = kind == 0   ? Star(count)
                : kind == 1 ? Comb(count)
                : kind == 2 ? Coast(random, count)
                : kind == 3 ? Tangle(random, grid, count)
                            : RandomRing(random, grid, random.Below(4) == 0 ? 30 : 5);
    constexpr double kScales[] = {1, 1, 0x1p-140, 0x1p-20, 1e-9, 0x1p42, 1.0 / 3};
    if (kind < 3 && random.Below(2) == 0) {
      const double at = random.Below(2) == 0 ? 0 : 1e6 * random.Unit();
      Transform(ring, kScales[random.Below(7)], {at, -at});
    }
    if (random.Below(3) == 0) {
      for (Vec2& p : ring) std::swap(p.x, p.y);
    }
    spec.rings.push_back({ring, spec.solidity == Solidity::kBoundary && random.Below(2) == 0});
  }
  return spec;
}

// Points where an index may go wrong: vertices, middles of edges, those one ulp off, mixtures of
// coordinates, and points from all over.
inline Vec2 PointNear(Random& random, const Polygon& polygon) {
  const auto any_edge = [&] {
    return polygon.edge(static_cast<size_t>(random.Below(static_cast<int>(polygon.edge_count()))));
  };
  const carom::Segment edge = any_edge();
  const Box& box = polygon.bounds();
  Vec2 p = edge.a;
  switch (random.Below(5)) {
    case 0:
      p = {edge.a.x / 2 + edge.b.x / 2, edge.a.y / 2 + edge.b.y / 2};
      break;
    case 1:
      p = {edge.a.x, any_edge().b.y};
      break;
    case 2:
      p.x = box.min.x + (box.max.x - box.min.x) * random.Unit();
      p.y = box.min.y + (box.max.y - box.min.y) * random.Unit();
      break;
    case 3:
      p.x = box.min.x + (box.max.x - box.min.x) * random.Unit();
      break;
    default:
      break;
  }
  if (random.Below(4) == 0) p.x = std::nextafter(p.x, random.Below(2) == 0 ? -1e300 : 1e300);
  if (random.Below(4) == 0) p.y = std::nextafter(p.y, random.Below(2) == 0 ? -1e300 : 1e300);
  return IsAccepted(p) ? Normalized(p) : edge.a;
}

}  // namespace carom::testing
