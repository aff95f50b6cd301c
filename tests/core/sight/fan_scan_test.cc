// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Fans compare polygons with several beams at a time (core/src/sight/fan_scan.h). What is tested is
// that no bit of an answer depends on that: each beam has the answer of `CastSegments` for the
// segment that the beam is.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/bodies.h"
#include "carom/sincos.h"
#include "carom/visibility.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"
#include "tests/support/vector_paths.h"

namespace carom::testing::fan_scan_test {
namespace {

using carom::Segment;

uint64_t Bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Fans in columns, with what each considers.
struct Fans {
  void Add(Vec2 from, double first, double between, double reach, uint32_t count) {
    x.push_back(from.x);
    y.push_back(from.y);
    angle.push_back(first);
    step.push_back(between);
    range.push_back(reach);
    beams.push_back(count);
  }
  FanColumns columns() const { return {x, y, angle, step, range, beams, {against, mask, owner}}; }
  std::string ToCode() const {
    std::string code;
    for (size_t i = 0; i < x.size(); ++i) {
      absl::StrAppendFormat(&code, "{{%a, %a}, %a, %a, %a, %d},\n", x[i], y[i], angle[i], step[i],
                            range[i], beams[i]);
    }
    return code;
  }

  std::vector<double> x, y, angle, step, range;
  std::vector<uint32_t> beams;
  Against against = Against::kScene;
  std::vector<uint64_t> mask;
  std::vector<uint32_t> owner;
};

// Expects that each beam has the answer of `CastSegments` for the segment that it is.
void ExpectCasts(const World& world, const Fans& fans, const FanOptions& options) {
  FanAnswers got;
  WorkMeter meter;
  ASSERT_TRUE(ScanFans(world, fans.columns(), options, got, meter));
  ASSERT_EQ(got.errors.size(), 0u);
  ASSERT_EQ(got.counts, fans.beams);
  std::vector<double> ax, ay, bx, by, range;
  std::vector<uint64_t> mask;
  std::vector<uint32_t> owner;
  for (size_t i = 0; i < fans.x.size(); ++i) {
    for (uint32_t k = 0; k < fans.beams[i]; ++k) {
      const Vec2 from = Normalized(Vec2{fans.x[i], fans.y[i]});
      const CosSin to = SinCos(fans.angle[i] + k * fans.step[i]);
      range.push_back(Normalized(fans.range[i]));
      ax.push_back(from.x);
      ay.push_back(from.y);
      bx.push_back(from.x + range.back() * to.c);
      by.push_back(from.y + range.back() * to.s);
      if (!fans.mask.empty()) mask.push_back(fans.mask[i]);
      if (!fans.owner.empty()) owner.push_back(fans.owner[i]);
    }
  }
  CastOptions casts;
  casts.inside_policy = options.inside_policy;
  casts.mask = options.mask;
  CastAnswers want;
  ASSERT_TRUE(
      CastSegments(world, {ax, ay, bx, by, {fans.against, mask, owner}}, casts, want, meter));
  ASSERT_EQ(got.hits.size(), range.size());
  ASSERT_EQ(got.is_body.size(), fans.against == Against::kScene ? 0 : range.size());
  size_t row = 0;
  for (size_t i = 0; i < range.size(); ++i) {
    SCOPED_TRACE(absl::StrFormat("beam %d, {{%a, %a}, {%a, %a}}", i, ax[i], ay[i], bx[i], by[i]));
    const bool is_hit = want.counts[i] != 0;
    const CastHit hit = is_hit ? want.hits[row++] : CastHit();
    ASSERT_EQ(got.hits[i], is_hit ? 1 : 0);
    ASSERT_EQ(Bits(got.distances[i]), Bits(is_hit ? hit.fraction * range[i] + 0.0 : range[i]));
    ASSERT_EQ(got.polygon_ids[i], hit.polygon_id);
    const bool has_bodies = fans.against != Against::kScene;
    ASSERT_EQ(has_bodies ? got.is_body[i] : 0, hit.is_body ? 1 : 0);
  }
}

// A fan with steps and angles at which beams coincide, run along edges and through vertices, or
// anything else; ranges from 0 to beyond the scene.
void AddFan(Random& random, const Grid& grid, Fans& fans) {
  constexpr double kQuarter = 0x1.921fb54442d18p+0;
  const double angles[] = {8 * random.Unit() - 4, kQuarter * random.Below(9) - 4 * kQuarter,
                           kQuarter / 2 * random.Below(9)};
  const double steps[] = {random.Unit() - 0.5, kQuarter, -kQuarter / 2,       0, random.Unit() / 64,
                          4 * kQuarter / 64,   -0x1p-40, 1000 * random.Unit()};
  const double ranges[] = {
      grid.scale * random.Below(12), grid.scale * 12 * random.Unit(), 0,
      grid.scale * 0x1p30,           0x1p52 * random.Unit(),          0x1p-138};
  const double range = ranges[random.Below(random.Below(4) == 0 ? 6 : 2)];
  const uint32_t most = random.Below(20) == 0 ? 600 : 40;
  Vec2 from = grid.Point(random);
  if (random.Below(2) == 0) from = {grid.scale * 8 * random.Unit(), grid.scale * 8 * random.Unit()};
  // The ends of the beams are to be accepted.
  if (!(std::abs(from.x) + range < 0x1p53 && std::abs(from.y) + range < 0x1p53)) return;
  fans.Add(from, angles[random.Below(3)], steps[random.Below(8)], range,
           1 + static_cast<uint32_t>(random.Below(static_cast<int>(most))));
}

TEST(FanScanLawTest, BeamsAreCastsAmongCoincidences) {
  Random random(0xfa001);
  for (int i = 0; i < Repeats(2500, 100000) && !HasFailure(); ++i) {
    Grid grid{4 + random.Below(5), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    grid.mixed = i % 7 == 0;
    const TestScene scene = RandomScene(random, grid);
    Fans fans;
    const int count = 1 + random.Below(3);
    for (int k = 0; k < count; ++k) AddFan(random, grid, fans);
    if (i % 3 == 0) {
      for (size_t k = 0; k < fans.x.size(); ++k) {
        fans.mask.push_back(random.Below(3) == 0 ? 2 : kEveryCategory);
      }
    }
    FanOptions options;
    options.inside_policy = static_cast<InsidePolicy>(random.Below(5));
    SCOPED_TRACE(scene.ToCode() + fans.ToCode() +
                 absl::StrFormat("policy %d", static_cast<int>(options.inside_policy)));
    ExpectCasts(*scene.scene, fans, options);
  }
}

// A polygon with some rings about a point, of any kind: convex, a star, hollow, an open chain.
PolygonSpec AnyPolygon(Random& random, Vec2 at, double radius, uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  spec.category = uint64_t{1} << random.Below(3);
  spec.fill_rule = random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
  const int kind = random.Below(6);
  if (kind >= 4) spec.solidity = Solidity::kBoundary;
  const int rings = kind == 3 ? 2 + random.Below(2) : 1;
  for (int r = 0; r < rings; ++r) {
    RingSpec ring;
    ring.open = kind == 5;
    const int n = random.Below(40) == 0 ? 150 : 1 + random.Below(kind == 1 ? 70 : 9);
    const double turn = 6.28 * random.Unit();
    for (int k = 0; k < n; ++k) {
      const double far = radius / (1 + r) * (kind == 0 ? 1 : 0.3 + 0.7 * random.Unit());
      const CosSin to = SinCos(turn + (r % 2 == 0 ? 1 : -1) * 6.28 * k / n);
      ring.vertices.push_back({at.x + far * to.c, at.y + far * to.s});
    }
    spec.rings.push_back(ring);
  }
  return spec;
}

// A scene of `count` such polygons in a square of side `size` with a corner at `corner`.
TestScene AnyScene(Random& random, int count, double size, Vec2 corner) {
  std::vector<PolygonSpec> specs;
  for (int i = 0; i < count; ++i) {
    const Vec2 at{corner.x + size * random.Unit(), corner.y + size * random.Unit()};
    const double radius = size / std::sqrt(count) * (0.1 + 0.4 * random.Unit());
    specs.push_back(AnyPolygon(random, at, radius, static_cast<uint64_t>(i) * 5));
  }
  return MakeScene(std::move(specs));
}

// Many polygons: fans find few of them near, or too many, or search in growing squares.
TEST(FanScanLawTest, BeamsAreCastsAmongManyPolygons) {
  Random random(0xfa002);
  for (int i = 0; i < Repeats(120, 4000) && !HasFailure(); ++i) {
    const int count = 1 << random.Below(i % 20 == 0 ? 12 : 8);
    const Vec2 corner = i % 5 == 0 ? Vec2{0x1p40, -0x1p40} : Vec2{-30, 20};
    const double size = i % 5 == 0 ? 0x1p10 : 100;
    const TestScene scene = AnyScene(random, count, size, corner);
    const double spacing = size / std::sqrt(count);
    Fans fans;
    for (int k = 0; k < 8; ++k) {
      const auto beams = static_cast<uint32_t>(1 << random.Below(10));
      const double arc = (random.Below(3) == 0 ? 0.3 : 6.283) * (random.Below(2) == 0 ? 1 : -1);
      const double range = spacing * (1 << random.Below(8)) * random.Unit();
      fans.Add({corner.x + size * random.Unit(), corner.y + size * random.Unit()},
               6 * random.Unit(), arc / beams, range, beams);
      fans.mask.push_back(random.Below(2) == 0 ? kEveryCategory : 3);
    }
    if (i % 2 == 0) fans.mask.clear();
    FanOptions options;
    options.inside_policy = static_cast<InsidePolicy>(random.Below(3));
    SCOPED_TRACE(absl::StrFormat("seed 0xfa002, scene %d of %d polygons, ", i, count) +
                 fans.ToCode());
    ExpectCasts(*scene.scene, fans, options);
  }
}

TEST(FanScanLawTest, BeamsAreCastsOnEveryPathOfTheVectorCode) {
  ForEachVectorPath([] {
    Random random(0xfa003);
    for (int i = 0; i < Repeats(12, 400) && !HasFailure(); ++i) {
      const TestScene scene = AnyScene(random, 64, 100, {});
      Fans fans;
      for (int k = 0; k < 4; ++k) {
        fans.Add({100 * random.Unit(), 100 * random.Unit()}, random.Unit(), 6.283 / 61,
                 k == 3 ? 1000 : 30, 61);
      }
      ExpectCasts(*scene.scene, fans, {});
    }
  });
}

// Bodies beside the polygons, or alone, with masks and owners.
TEST(FanScanLawTest, BeamsAreCastsAmongBodies) {
  Random random(0xfa004);
  for (int i = 0; i < Repeats(150, 5000) && !HasFailure(); ++i) {
    const TestScene scene = AnyScene(random, 1 + random.Below(40), 100, {});
    std::vector<Shape> shapes;
    std::vector<double> x, y;
    std::vector<uint64_t> category;
    std::vector<uint32_t> owner;
    for (int k = random.Below(20); k >= 0; --k) {
      if (random.Below(2) == 0) {
        shapes.push_back(Shape::Create(Capsule{{{0, 0}, {0, 1}}, 1 + random.Unit()}).value());
      } else {
        shapes.emplace_back(Polygon::Create(AnyPolygon(random, {}, 3, 1)).value());
      }
      x.push_back(100 * random.Unit());
      y.push_back(100 * random.Unit());
      category.push_back(uint64_t{1} << random.Below(3));
      owner.push_back(static_cast<uint32_t>(random.Below(3)));
    }
    const Bodies bodies = Bodies::Create({{shapes, {}, x, y}, category, owner}).value();
    Fans fans;
    fans.against = random.Below(3) == 0 ? Against::kBodies : Against::kBoth;
    for (int k = 0; k < 5; ++k) {
      const auto beams = static_cast<uint32_t>(1 + random.Below(50));
      fans.Add({100 * random.Unit(), 100 * random.Unit()}, random.Unit(), 6.283 / beams,
               10.0 * random.Below(6), beams);
      if (i % 2 == 0) fans.mask.push_back(static_cast<uint64_t>(1 + random.Below(7)));
      if (i % 3 == 0) fans.owner.push_back(static_cast<uint32_t>(random.Below(3)));
    }
    FanOptions options;
    options.inside_policy = static_cast<InsidePolicy>(random.Below(3));
    SCOPED_TRACE(absl::StrFormat("seed 0xfa004, scene %d, ", i) + fans.ToCode());
    ExpectCasts(World(*scene.scene, &bodies), fans, options);
  }
}

// A stopped meter stops the work soon, wherever it stops, and work that is not stopped costs the
// same each time.
TEST(FanScanTest, AStoppedMeterStops) {
  Random random(0xfa005);
  const TestScene scene = AnyScene(random, 400, 100, {});
  Fans fans;
  for (int k = 0; k < 20; ++k) {
    fans.Add({100 * random.Unit(), 100 * random.Unit()}, 0, 0.01, 60, 700);
  }
  FanAnswers answers;
  for (int stop = 0; stop < 12; ++stop) {
    int asked = 0;
    WorkMeter meter([&] { return ++asked > stop; });
    EXPECT_FALSE(ScanFans(*scene.scene, fans.columns(), {}, answers, meter));
    EXPECT_LT(meter.used(), static_cast<uint64_t>(stop + 16) * WorkMeter::kInterval);
  }
}

}  // namespace
}  // namespace carom::testing::fan_scan_test
