// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sweeps of one item, and seeded random ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_format.h"
#include "carom/sweep.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_sweep.h"

namespace carom::testing {

inline constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                             InsidePolicy::kExit};

inline Shape ShapeOf(const PolygonSpec& spec) { return Shape(Polygon::Create(spec).value()); }
inline Shape CapsuleOf(Vec2 a, Vec2 b, double radius) {
  return Shape::Create(Capsule{{a, b}, radius}).value();
}
inline Shape CircleOf(Vec2 center, double radius) { return CapsuleOf(center, center, radius); }

inline SweepAnswers Sweep(const Scene& scene, const Shape& shape, Vec2 from, Vec2 to,
                          const SweepOptions& options = {}) {
  SweepColumns columns;
  columns.movers.shapes = {&shape, 1};
  columns.movers.x = {&from.x, 1};
  columns.movers.y = {&from.y, 1};
  columns.to_x = {&to.x, 1};
  columns.to_y = {&to.y, 1};
  SweepAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(SweepShapes(scene, columns, options, answers, meter));
  return answers;
}

inline SweepAnswers Sweep(const Scene& scene, const Shape& shape, Vec2 d,
                          const SweepOptions& options = {}) {
  return Sweep(scene, shape, {0, 0}, d, options);
}

inline SweepOptions All(InsidePolicy policy = InsidePolicy::kReportStart) {
  return {CastMode::kAll, policy};
}

inline void ExpectSameHit(const SweepHit& a, const SweepHit& b) {
  EXPECT_EQ(a.polygon_id, b.polygon_id);
  EXPECT_EQ(a.is_body, b.is_body);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.starts_inside, b.starts_inside);
  EXPECT_EQ(a.has_edge, b.has_edge);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.normal, b.normal);
}

inline double Largest(const PolygonSpec& spec) {
  double largest = 0;
  for (const RingSpec& ring : spec.rings) {
    for (const Vec2 p : ring.vertices) {
      largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
    }
  }
  return largest;
}

// Grids from all over the accepted range. Displacements are accepted too.
inline Grid RandomGrid(Random& random) {
  constexpr double kScales[] = {1, 1, 1, 0x1p-138, 0x1p48, 0.1};
  Grid grid;
  grid.size = 4 + random.Below(4);
  grid.scale = kScales[random.Below(6)];
  grid.percent_off = random.Below(3) == 0 ? 10 : 0;
  grid.mixed = random.Below(12) == 0;
  return grid;
}

inline Vec2 RandomDisplacement(Random& random, const Grid& grid) {
  if (grid.mixed) return Normalized(grid.Point(random));
  const auto component = [&] {
    const double value = grid.Coordinate(random) - grid.scale * random.Below(grid.size);
    return Normalized(value);
  };
  const double x = component();
  return {x, component()};
}

struct RoundCase {
  OracleCapsule mover;
  Xy d;
  Rational tolerance;
};

inline double RandomRadius(Random& random, const Grid& grid) {
  if (grid.mixed) return std::max(0x1p-140, std::abs(grid.Coordinate(random)));
  constexpr double kCommon[] = {1, 2, 0.5, 5, 1e-9, 1.25};
  const double radius = grid.scale * kCommon[random.Below(6)];
  return std::max(radius, 0x1p-140);
}

inline RoundCase RandomRoundCase(Random& random, const Grid& grid, const TestScene& scene) {
  const Vec2 a = grid.Point(random);
  const Vec2 b = random.Below(2) == 0 ? a : grid.Point(random);
  Vec2 d = RandomDisplacement(random, grid);
  if (d == Vec2{}) d.x = std::max(grid.scale, 0x1p-140);
  const double radius = RandomRadius(random, grid);
  double largest = std::max({std::abs(d.x), std::abs(d.y), radius, std::abs(a.x), std::abs(a.y),
                             std::abs(b.x), std::abs(b.y)});
  for (const PolygonSpec& fixed : scene.specs) largest = std::max(largest, Largest(fixed));
  const OracleCapsule mover{Flushed(Xy{a.x, a.y}), Flushed(Xy{b.x, b.y}), radius};
  return {mover, {d.x, d.y}, 4 * Exact(Ulp(largest))};
}

inline std::string ToCode(const RoundCase& c) {
  return absl::StrFormat("a {%a, %a} b {%a, %a} r %a d {%a, %a}", c.mover.a.x, c.mover.a.y,
                         c.mover.b.x, c.mover.b.y, c.mover.radius, c.d.x, c.d.y);
}

inline Shape CapsuleOf(const OracleCapsule& capsule) {
  return CapsuleOf({capsule.a.x, capsule.a.y}, {capsule.b.x, capsule.b.y}, capsule.radius);
}

}  // namespace carom::testing
