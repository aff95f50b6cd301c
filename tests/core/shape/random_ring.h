// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Seeded random rings full of coincidences, convex ones too.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/predicates.h"
#include "tests/core/random_scene.h"
#include "tests/support/exact.h"

namespace carom::testing {

using Ring = std::vector<Vec2>;

// A grid of one of several sizes and scales; now and then numbers of all magnitudes.
inline Grid AnyGrid(Random& random) {
  constexpr double kScales[] = {1, 1, 0.1, 1e-9, 1e9, 0x1p-139, 0x1p50};
  Grid grid;
  grid.size = 2 + random.Below(7);
  grid.scale = kScales[random.Below(7)];
  grid.percent_off = random.Below(2) * 10;
  grid.mixed = random.Below(10) == 0;
  return grid;
}

inline Ring RandomRing(Random& random, const Grid& grid, int max_vertices) {
  Ring ring;
  const int count = 1 + random.Below(max_vertices);
  for (int i = 0; i < count; ++i) {
    const bool repeat = i > 0 && random.Below(8) == 0;
    ring.push_back(repeat ? ring[static_cast<size_t>(random.Below(i))]
                          : Normalized(grid.Point(random)));
  }
  return ring;
}

// A ring of any turns about a point, as seen from there in random or in rising directions.
inline Ring RingAbout(Random& random, Vec2 center, double radius, int count) {
  Ring ring;
  const bool is_star = random.Below(2) == 0;
  for (int i = 0; i < count; ++i) {
    const double angle = is_star ? (i + random.Unit()) * 6.283 / count : random.Unit() * 6.283;
    const double r = radius * (0.2 + 0.8 * random.Unit());
    ring.push_back({center.x + r * std::cos(angle), center.y + r * std::sin(angle)});
  }
  if (random.Below(2) == 0) std::reverse(ring.begin(), ring.end());
  return ring;
}

// The strict corners of the hull, counter-clockwise (Andrew's monotone chain).
inline Ring Hull(Ring points) {
  std::sort(points.begin(), points.end(),
            [](Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  Ring hull;
  for (int chain = 0; chain < 2; ++chain) {
    const size_t start = hull.size();
    for (const Vec2 p : points) {
      while (hull.size() >= start + 2 && Orientation(hull[hull.size() - 2], hull.back(), p) <= 0) {
        hull.pop_back();
      }
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// A convex ring of either direction and any start: corners, points exactly on the edges between
// them, duplicates; or points of one line in any order.
inline Ring RandomConvexRing(Random& random, const Grid& grid, int max_points = 12) {
  Ring points = RandomRing(random, grid, max_points);
  const Ring hull = Hull(points);
  Ring ring;
  if (hull.size() < 3) {
    ring = points;
  } else {
    for (size_t i = 0; i < hull.size(); ++i) {
      const carom::Segment edge{hull[i], hull[(i + 1) % hull.size()]};
      Ring on_edge{edge.a};
      for (const Vec2 p : points) {
        if (!(p == edge.b) && IsOnSegment(p, edge)) on_edge.push_back(p);
      }
      std::sort(on_edge.begin(), on_edge.end(), [&](Vec2 p, Vec2 q) {
        const bool by_x = std::abs(edge.b.x - edge.a.x) > std::abs(edge.b.y - edge.a.y);
        return by_x ? (p.x < q.x) == (edge.a.x < edge.b.x) && p.x != q.x
                    : (p.y < q.y) == (edge.a.y < edge.b.y) && p.y != q.y;
      });
      ring.insert(ring.end(), on_edge.begin(), on_edge.end());
    }
    if (random.Below(2) == 0) std::reverse(ring.begin(), ring.end());
  }
  const auto start = static_cast<std::ptrdiff_t>(random.Below(static_cast<int>(ring.size())));
  std::rotate(ring.begin(), ring.begin() + start, ring.end());
  return ring;
}

inline std::vector<Xy> ToOracle(const Ring& ring) {
  std::vector<Xy> points;
  for (const Vec2 p : ring) points.push_back({p.x, p.y});
  return points;
}

inline std::string ToCode(const Ring& ring) {
  std::string code = "Ring{";
  for (const Vec2 p : ring) absl::StrAppendFormat(&code, "{%a, %a}, ", p.x, p.y);
  return code + "}";
}

inline std::string ToCode(const carom::Segment& s) {
  return absl::StrFormat("Segment{{%a, %a}, {%a, %a}}", s.a.x, s.a.y, s.b.x, s.b.y);
}

inline std::string ToCode(Vec2 p) { return absl::StrFormat("Vec2{%a, %a}", p.x, p.y); }

}  // namespace carom::testing
