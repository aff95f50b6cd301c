// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/covering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/predicates.h"
#include "tests/core/one_item.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::covering_test {
namespace {

using carom::Segment;

// A dart, with a notch at (2, 2).
const PolygonSpec kDart{1, {{{{0, 0}, {8, 0}, {2, 2}, {0, 8}}}}};

Polygon Made(const PolygonSpec& spec) { return Polygon::Create(spec).value(); }

// A vertex, a point on the line of an edge or near it, a point of the grid.
Vec2 AnyPoint(Random& random, const Grid& grid, const Polygon& polygon) {
  const int kind = random.Below(3);
  if (kind == 0) return Normalized(grid.Point(random));
  const Segment e =
      polygon.edge(static_cast<size_t>(random.Below(static_cast<int>(polygon.edge_count()))));
  if (kind == 1) return random.Below(2) == 0 ? e.a : e.b;
  const double t = 0.5 * (random.Below(7) - 2);
  const Vec2 p{e.a.x + t * (e.b.x - e.a.x), e.a.y + t * (e.b.y - e.a.y)};
  return IsAccepted(p) ? Normalized(p) : e.a;
}

// By hand.

TEST(CoveringTest, SignsNameTheInnerSideWhicheverWayTheTriangleTurns) {
  const Vec2 origin{0, 0};
  for (const Segment edge : {Segment{{4, 0}, {0, 4}}, Segment{{0, 4}, {4, 0}}}) {
    const BarycentricSigns inside = SignsIn(origin, edge, {1, 1});
    EXPECT_EQ(inside.origin, 1);
    EXPECT_EQ(inside.v, 1);
    EXPECT_EQ(inside.w, 1);
    EXPECT_EQ(SignsIn(origin, edge, {3, 3}).origin, -1);
    EXPECT_EQ(SignsIn(origin, edge, {2, 2}).origin, 0);
    // Beyond the side from the origin to (4, 0): that of the other end.
    const BarycentricSigns below = SignsIn(origin, edge, {1, -1});
    EXPECT_EQ(edge.a.x == 4 ? below.w : below.v, -1);
    EXPECT_EQ(edge.a.x == 4 ? below.v : below.w, 1);
  }
  EXPECT_EQ(SignsIn(origin, {{4, 0}, {0, 4}}, {1, 1}).triangle, 1);
  EXPECT_EQ(SignsIn(origin, {{0, 4}, {4, 0}}, {1, 1}).triangle, -1);
}

TEST(CoveringTest, ATriangleWithoutAreaHasNoCoordinates) {
  const BarycentricSigns signs = SignsIn({0, 0}, {{1, 1}, {3, 3}}, {2, 5});
  EXPECT_EQ(signs.triangle, 0);
  EXPECT_EQ(signs.origin, 0);
  EXPECT_EQ(signs.v, 0);
  EXPECT_EQ(signs.w, 0);
}

TEST(CoveringTest, HoldsWhateverTheOrigin) {
  const Polygon dart = Made(kDart);
  for (const Vec2 origin :
       {Vec2{1, 1}, Vec2{2.5, 2.5}, Vec2{0, 0}, Vec2{4, 0}, Vec2{-9, 3}, Vec2{16, 0}, Vec2{3, 3}}) {
    EXPECT_EQ(LocateByCovering(dart, origin, {1, 1}), Location::kInside);
    EXPECT_EQ(LocateByCovering(dart, origin, {3, 3}), Location::kOutside);
    EXPECT_EQ(LocateByCovering(dart, origin, {2, 2}), Location::kBoundary);
    EXPECT_EQ(LocateByCovering(dart, origin, {4, 0}), Location::kBoundary);
    EXPECT_EQ(LocateByCovering(dart, origin, {9, 0}), Location::kOutside);
  }
}

TEST(CoveringTest, FollowsFillRuleHolesAndSolidity) {
  PolygonSpec pentagram{1, {{{{0, 9}, {6, -8}, {-9, 3}, {9, 3}, {-6, -8}}}}};
  EXPECT_EQ(LocateByCovering(Made(pentagram), {5, 7}, {0, 0}), Location::kOutside);
  pentagram.fill_rule = FillRule::kNonZero;
  EXPECT_EQ(LocateByCovering(Made(pentagram), {5, 7}, {0, 0}), Location::kInside);
  pentagram.solidity = Solidity::kBoundary;
  EXPECT_EQ(LocateByCovering(Made(pentagram), {5, 7}, {0, 0}), Location::kOutside);
  const PolygonSpec holed{1,
                          {{{{0, 0}, {9, 0}, {9, 9}, {0, 9}}}, {{{3, 3}, {6, 3}, {6, 6}, {3, 6}}}}};
  EXPECT_EQ(LocateByCovering(Made(holed), {4, 4}, {1, 1}), Location::kInside);
  EXPECT_EQ(LocateByCovering(Made(holed), {4, 4}, {5, 5}), Location::kOutside);
}

TEST(CoveringTest, EqualSignsProveAClearPathAndZerosProveNothing) {
  const Polygon dart = Made(kDart);
  const EdgeSigns at(dart, {1, 1});
  EXPECT_TRUE(at.ProvesClearPathTo(EdgeSigns(dart, {1, 1.5})));
  EXPECT_TRUE(at.ProvesClearPathTo(at));
  EXPECT_FALSE(at.ProvesClearPathTo(EdgeSigns(dart, {4, 4})));
  // In another cell, though no edge is between: the lines of the notch cross there.
  EXPECT_FALSE(EdgeSigns(dart, {0.5, 0.5}).ProvesClearPathTo(EdgeSigns(dart, {1, 4})));
  const EdgeSigns on_line(dart, {-3, 0});
  EXPECT_TRUE(on_line.has_zero());
  EXPECT_FALSE(on_line.ProvesClearPathTo(on_line));
}

TEST(CoveringTest, EdgeSignsAreBitsByEdge) {
  const Polygon dart = Made(kDart);
  const EdgeSigns inside(dart, {0.5, 0.5});
  ASSERT_EQ(inside.words().size(), 1u);
  for (size_t i = 0; i < 4; ++i) {
    const Segment e = dart.edge(i);
    EXPECT_EQ(inside.words()[0] >> i & 1, Orientation(e.a, e.b, {0.5, 0.5}) > 0 ? 1u : 0u);
  }
}

TEST(CoveringTest, ADuplicateVertexHidesNoSignsButAPointDoes) {
  const Polygon doubled = Made({1, {{{{0, 0}, {8, 0}, {8, 0}, {0, 8}}}}});
  EXPECT_TRUE(EdgeSigns(doubled, {1, 1}).ProvesClearPathTo(EdgeSigns(doubled, {2, 1})));
  const Polygon with_point = Made({1, {{{{0, 0}, {8, 0}, {0, 8}}}, {{{1.5, 1}}}}});
  EXPECT_TRUE(EdgeSigns(with_point, {1, 1}).has_zero());
  EXPECT_FALSE(EdgeSigns(with_point, {1, 1}).ProvesClearPathTo(EdgeSigns(with_point, {2, 1})));
}

TEST(CoveringTest, ManyEdgesTakeManyWords) {
  Ring ring;
  for (int i = 0; i < 65; ++i) ring.push_back({static_cast<double>(i), static_cast<double>(i * i)});
  const Polygon polygon = Made({1, {{ring}}});
  EXPECT_EQ(EdgeSigns(polygon, {0, 1}).words().size(), 2u);
  EXPECT_FALSE(EdgeSigns(polygon, {0, 1}).ProvesClearPathTo(EdgeSigns(polygon, {63.5, 4032.75})));
}

// Laws.

TEST(CoveringLawTest, LocatesAsASceneDoesForAnyOrigin) {
  Random random(41);
  int counts[3] = {};
  const int polygons = Repeats(10000, 200000);
  for (int i = 0; i < polygons; ++i) {
    const Grid grid = AnyGrid(random);
    const TestScene scene = MakeScene({RandomPolygon(random, grid, 1)});
    const Polygon& polygon = scene.scene->polygon(0);
    for (int k = 0; k < 4; ++k) {
      const Vec2 p = AnyPoint(random, grid, polygon);
      const Location want = LocateOne(*scene.scene, p);
      ++counts[static_cast<int>(want)];
      for (int o = 0; o < 4; ++o) {
        const Vec2 origin = o == 0 ? p : AnyPoint(random, grid, polygon);
        ASSERT_EQ(LocateByCovering(polygon, origin, p), want)
            << scene.ToCode() << ToCode(origin) << ToCode(p);
      }
    }
  }
  for (const int count : counts) EXPECT_GT(count, polygons / 20);
}

// Small steps, so that signs are often kept, and jumps through vertices and along edges.
TEST(CoveringLawTest, APointTrackerLocatesAsTheCoveringDoes) {
  Random random(44);
  uint64_t kept = 0;
  const int polygons = Repeats(4000, 100000);
  for (int i = 0; i < polygons; ++i) {
    const Grid grid = AnyGrid(random);
    const Polygon polygon = Polygon::Create(RandomPolygon(random, grid, 1)).value();
    PointTracker tracker(polygon);
    Vec2 p = Normalized(grid.Point(random));
    for (int k = 0; k < 20; ++k) {
      if (random.Below(3) == 0) {
        p = AnyPoint(random, grid, polygon);
      } else {
        const Vec2 towards = AnyPoint(random, grid, polygon);
        const double part = random.Unit() / 8;
        p = Normalized(Vec2{p.x + part * (towards.x - p.x), p.y + part * (towards.y - p.y)});
      }
      ASSERT_EQ(tracker.MoveTo(p), LocateByCovering(polygon, {0.5, 0.25}, p))
          << ToCode(polygon.spec()) << ToCode(p) << "at step " << k;
    }
    kept += tracker.kept_count();
  }
  EXPECT_GT(kept, static_cast<uint64_t>(polygons));
}

TEST(CoveringLawTest, SignsOfThreeCoordinatesAreConsistent) {
  Random random(42);
  const int count = Repeats(20000, 1000000);
  for (int i = 0; i < count; ++i) {
    const Grid grid = AnyGrid(random);
    const auto point = [&] { return Normalized(grid.Point(random)); };
    const Vec2 origin = point();
    const Segment edge{point(), point()};
    const Vec2 p = point();
    const BarycentricSigns signs = SignsIn(origin, edge, p);
    // They sum to 1, so they are not all 0 or below; corners have two zeros.
    if (signs.triangle != 0) {
      ASSERT_GT(std::max({signs.origin, signs.v, signs.w}), 0);
    }
    const BarycentricSigns turned = SignsIn(origin, {edge.b, edge.a}, p);
    ASSERT_EQ(turned.triangle, -signs.triangle);
    ASSERT_EQ(turned.origin, signs.origin);
    ASSERT_EQ(turned.v, signs.w);
    ASSERT_EQ(turned.w, signs.v);
  }
}

TEST(CoveringLawTest, EqualSignsMeanThatNoEdgeIsBetween) {
  Random random(43);
  int proved = 0;
  int moved = 0;
  const int pairs = Repeats(40000, 4000000);
  CastOptions any;
  any.mode = CastMode::kAny;
  for (int i = 0; i < pairs; i += 20) {
    const Grid grid = AnyGrid(random);
    const PolygonSpec spec = RandomPolygon(random, grid, 1);
    PolygonSpec hollow = spec;
    hollow.solidity = Solidity::kBoundary;
    const TestScene scene = MakeScene({spec});
    const TestScene edges = MakeScene({hollow});
    const Polygon& polygon = scene.scene->polygon(0);
    Vec2 p = AnyPoint(random, grid, polygon);
    for (int k = 0; k < 20; ++k) {
      const Vec2 from = p;
      // Now a neighbour, now anywhere; between grid points too.
      p = AnyPoint(random, grid, polygon);
      const double part = random.Below(4) == 0 ? 1 : random.Unit() * random.Unit();
      p = Normalized(Vec2{from.x + part * (p.x - from.x), from.y + part * (p.y - from.y)});
      if (!IsAccepted(p)) p = from;
      const EdgeSigns signs(polygon, p);
      if (!EdgeSigns(polygon, from).ProvesClearPathTo(signs)) continue;
      ++proved;
      moved += !(from == p);
      ASSERT_EQ(CastOne(*edges.scene, Segment{from, p}, any).counts[0], 0u)
          << scene.ToCode() << ToCode(from) << ToCode(p);
      ASSERT_EQ(LocateOne(*scene.scene, from), LocateOne(*scene.scene, p))
          << scene.ToCode() << ToCode(from) << ToCode(p);
    }
  }
  EXPECT_GT(proved, pairs / 4);
  EXPECT_GT(moved, pairs / 5);
}

}  // namespace
}  // namespace carom::testing::covering_test
