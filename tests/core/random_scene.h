// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Seeded random scenes full of coincidences, and their translation for the oracle.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "tests/support/oracle.h"
#include "tests/support/random.h"

namespace carom::testing {

class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  // In [0, n).
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
};

// Points for scenes in which everything coincides: a small grid, scaled, now and then one ulp off;
// or, `mixed`, a few numbers from all over the accepted range, and its ends, in one scene.
struct Grid {
  int size = 6;
  double scale = 1;
  int percent_off = 10;
  bool mixed = false;

  double Coordinate(Random& random) const {
    if (mixed) return MixedCoordinate(random);
    const double value = scale * random.Below(size);
    if (random.Below(100) >= percent_off) return value;
    return std::nextafter(value, random.Below(2) == 0 ? -HUGE_VAL : HUGE_VAL);
  }
  static double MixedCoordinate(Random& random) {
    constexpr double kCommon[] = {0,
                                  1,
                                  -1,
                                  0x1p53,
                                  -0x1p53,
                                  0x1p-140,
                                  -0x1p-140,
                                  0x1.8p-100,
                                  0x1p20,
                                  1.0 / 3,
                                  3,
                                  0x1.fffffffffffffp-140,
                                  0x1.fffffffffffffp52};
    if (random.Below(3) != 0) return kCommon[random.Below(13)];
    const double value = std::ldexp(random.Unit() + 0.5, random.Below(190) - 138);
    return random.Below(2) == 0 ? value : -value;
  }
  Vec2 Point(Random& random) const {
    const double x = Coordinate(random);
    return {x, Coordinate(random)};
  }
};

inline PolygonSpec RandomPolygon(Random& random, const Grid& grid, uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  spec.fill_rule = random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
  spec.solidity = random.Below(5) == 0 ? Solidity::kBoundary : Solidity::kSolid;
  const int rings = random.Below(4) == 0 ? 1 + random.Below(3) : 1;
  for (int r = 0; r < rings; ++r) {
    RingSpec ring;
    const int vertices = 1 + random.Below(7);
    for (int i = 0; i < vertices; ++i) ring.vertices.push_back(grid.Point(random));
    ring.open = spec.solidity == Solidity::kBoundary && random.Below(2) == 0;
    spec.rings.push_back(ring);
  }
  return spec;
}

inline OraclePolygon ToOracle(const PolygonSpec& spec) {
  OraclePolygon result;
  result.id = spec.id;
  result.fill = spec.fill_rule == FillRule::kEvenOdd ? OracleFill::kEvenOdd : OracleFill::kNonZero;
  result.solidity =
      spec.solidity == Solidity::kSolid ? OracleSolidity::kSolid : OracleSolidity::kBoundary;
  result.category = spec.category;
  for (const RingSpec& ring : spec.rings) {
    OracleRing converted;
    converted.open = ring.open;
    for (const Vec2 p : ring.vertices) converted.points.push_back({p.x, p.y});
    result.rings.push_back(converted);
  }
  return result;
}

// A failing case as code that reproduces it.
inline std::string ToCode(const PolygonSpec& spec) {
  std::string code = absl::StrFormat("PolygonSpec{%d, {", spec.id);
  for (const RingSpec& ring : spec.rings) {
    code += "{{";
    for (const Vec2 p : ring.vertices) absl::StrAppendFormat(&code, "{%a, %a}, ", p.x, p.y);
    absl::StrAppendFormat(&code, "}, %s}, ", ring.open ? "true" : "false");
  }
  absl::StrAppendFormat(&code, "}, FillRule(%d), Solidity(%d)},\n",
                        static_cast<int>(spec.fill_rule), static_cast<int>(spec.solidity));
  return code;
}

// A scene with its description and its oracle.
struct TestScene {
  std::vector<PolygonSpec> specs;
  Scene::Ptr scene;
  Oracle oracle;

  std::string ToCode() const {
    std::string code = "\n";
    for (const PolygonSpec& spec : specs) code += carom::testing::ToCode(spec);
    return code;
  }
};

inline TestScene MakeScene(std::vector<PolygonSpec> specs) {
  std::vector<Polygon> polygons;
  std::vector<OraclePolygon> described;
  for (const PolygonSpec& spec : specs) {
    polygons.push_back(Polygon::Create(spec).value());
    described.push_back(ToOracle(spec));
  }
  return {std::move(specs), Scene::Create(std::move(polygons)).value(), Oracle(described)};
}

inline TestScene RandomScene(Random& random, const Grid& grid) {
  std::vector<PolygonSpec> specs;
  const int count = 1 + random.Below(6);
  for (int i = 0; i < count; ++i) {
    specs.push_back(RandomPolygon(random, grid, static_cast<uint64_t>(i * 3)));
  }
  return MakeScene(std::move(specs));
}

}  // namespace carom::testing
