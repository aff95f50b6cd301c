// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Seeded random capsules and polygons that move, and their cores for the oracle.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "carom/shape.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle.h"

namespace carom::testing {

struct TestMover {
  Shape shape;
  OracleShape core;  // the polygon, or the axis as an open chain
  double radius;
  std::string code;
};

inline TestMover MakeCapsule(const Capsule& capsule) {
  const carom::Segment& axis = capsule.axis;
  PolygonSpec chain{0, {{{axis.a, axis.b}, true}}};
  chain.solidity = Solidity::kBoundary;
  return {Shape::Create(capsule).value(), OracleShape(ToOracle(chain)), Flushed(capsule.radius),
          absl::StrFormat("Capsule{{{%a, %a}, {%a, %a}}, %a}\n", axis.a.x, axis.a.y, axis.b.x,
                          axis.b.y, capsule.radius)};
}

inline TestMover RandomCapsule(Random& random, const Grid& grid) {
  const Vec2 a = grid.Point(random);
  const Vec2 b = random.Below(3) == 0 ? a : grid.Point(random);
  double radius = random.Below(4) == 0 ? 0 : std::abs(grid.Coordinate(random));
  if (random.Below(3) == 0) radius *= random.Unit();
  return MakeCapsule({{a, b}, radius});
}

inline TestMover RandomMover(Random& random, const Grid& grid) {
  if (random.Below(2) == 0) return RandomCapsule(random, grid);
  const PolygonSpec spec = RandomPolygon(random, grid, 0);
  return {Polygon::Create(spec).value(), OracleShape(ToOracle(spec)), 0, ToCode(spec)};
}

}  // namespace carom::testing
