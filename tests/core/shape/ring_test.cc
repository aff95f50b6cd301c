// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/predicates.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/oracle_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::ring_test {
namespace {

const Ring kSquare{{0, 0}, {4, 0}, {4, 4}, {0, 4}};
const Ring kPentagram{{0, 9}, {6, -8}, {-9, 3}, {9, 3}, {-6, -8}};
const Ring kBowtie{{0, 0}, {4, 4}, {4, 0}, {0, 4}};

Ring Reversed(Ring ring) {
  std::reverse(ring.begin(), ring.end());
  return ring;
}

Ring StartedAt(Ring ring, size_t start) {
  std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(start), ring.end());
  return ring;
}

bool HoldsAll(const Circle& circle, const Ring& ring) {
  return std::all_of(ring.begin(), ring.end(),
                     [&](Vec2 v) { return CompareDistance(v, circle) <= 0; });
}

// By hand.

TEST(RingTest, AreaIsSignedByTheWinding) {
  EXPECT_EQ(SignedArea(kSquare), 16);
  EXPECT_EQ(SignedArea(Reversed(kSquare)), -16);
  EXPECT_EQ(WindingSign(kSquare), 1);
  EXPECT_EQ(WindingSign(Reversed(kSquare)), -1);
}

TEST(RingTest, AreaCountsWithMultiplicity) {
  Ring twice = kSquare;
  twice.insert(twice.end(), kSquare.begin(), kSquare.end());
  EXPECT_EQ(SignedArea(twice), 32);
  EXPECT_EQ(SignedArea(kBowtie), 0);
  EXPECT_EQ(WindingSign(kBowtie), 0);
}

TEST(RingTest, LessThanThreeVerticesHaveNoArea) {
  EXPECT_EQ(SignedArea({}), 0);
  EXPECT_EQ(SignedArea(Ring{{0.1, 0.3}}), 0);
  EXPECT_EQ(SignedArea(Ring{{0.1, 0.3}, {0.7, 0.9}}), 0);
  EXPECT_EQ(WindingSign(Ring{{0.1, 0.3}, {0.7, 0.9}}), 0);
}

TEST(RingTest, AreaAtTheEndsOfTheRange) {
  const double m = kMaxCoordinate;
  EXPECT_EQ(SignedArea(Ring{{-m, -m}, {m, -m}, {m, m}, {-m, m}}), 0x1p108);
  const double s = kSmallestMagnitude;
  EXPECT_EQ(SignedArea(Ring{{0, 0}, {s, 0}, {0, s}}), 0x1p-281);
  // The terms are of 2^106, their sum of 2^-87.
  EXPECT_EQ(SignedArea(Ring{{-m, -m}, {m, m}, {0, s}}), 0x1p-87);
}

TEST(RingTest, AnAreaOfOneRoundingErrorIsKept) {
  // 0.1 + 0.2 is not 0.3: the third vertex lies off the line by the rounding of the sum.
  const Ring sliver{{0, 0}, {0.1, 0.1}, {0.3, 0.1 + 0.2}};
  EXPECT_EQ(WindingSign(sliver), 1);
  EXPECT_EQ(SignedArea(sliver), NearestDouble(RingArea(ToOracle(sliver))));
  EXPECT_GT(SignedArea(sliver), 0);
}

TEST(RingTest, ConvexAllowsDuplicatesAndStraightVertices) {
  EXPECT_TRUE(IsConvex(kSquare));
  EXPECT_TRUE(IsConvex(Reversed(kSquare)));
  EXPECT_TRUE(IsConvex(Ring{{0, 0}, {2, 0}, {4, 0}, {4, 4}, {4, 4}, {0, 4}, {0, 0}}));
}

TEST(RingTest, APentagramTurnsTwiceAndIsNotConvex) {
  EXPECT_FALSE(IsConvex(kPentagram));
  Ring twice = kSquare;
  twice.insert(twice.end(), kSquare.begin(), kSquare.end());
  EXPECT_FALSE(IsConvex(twice));
}

TEST(RingTest, ASpikeIsNotConvexUnlessAllIsOnOneLine) {
  EXPECT_FALSE(IsConvex(Ring{{0, 0}, {4, 0}, {6, 0}, {4, 0}, {4, 4}, {0, 4}}));
  EXPECT_FALSE(IsConvex(Ring{{0, 0}, {4, 0}, {3, 0}, {4, 0}, {4, 4}, {0, 4}}));
  EXPECT_TRUE(IsConvex(Ring{{0, 0}, {4, 0}, {1, 0}, {6, 0}}));
  EXPECT_TRUE(IsConvex(Ring{{1, 2}, {3, 4}}));
  EXPECT_TRUE(IsConvex(Ring{{1, 2}}));
  EXPECT_TRUE(IsConvex(Ring{{1, 2}, {1, 2}, {1, 2}}));
  EXPECT_FALSE(IsConvex({}));
}

TEST(RingTest, OneUlpBendsIn) {
  EXPECT_TRUE(IsConvex(Ring{{0, 0}, {2, 0}, {4, 0}, {2, 3}}));
  EXPECT_TRUE(IsConvex(Ring{{0, 0}, {2, -0x1p-140}, {4, 0}, {2, 3}}));
  EXPECT_FALSE(IsConvex(Ring{{0, 0}, {2, 0x1p-140}, {4, 0}, {2, 3}}));
  // At any vertex, the last one and the first one too.
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(IsConvex(StartedAt({{0, 0}, {2, 0x1p-140}, {4, 0}, {2, 3}}, i)));
  }
}

TEST(RingTest, CentroidMayLieOutsideAndMayNotExist) {
  EXPECT_EQ(AreaCentroid(kSquare), (Vec2{2, 2}));
  EXPECT_EQ(AreaCentroid(Reversed(kSquare)), (Vec2{2, 2}));
  // A frame open to the right: its centroid is in the gap.
  EXPECT_EQ(AreaCentroid(Ring{{0, 0}, {6, 0}, {6, 1}, {1, 1}, {1, 5}, {6, 5}, {6, 6}, {0, 6}}),
            (Vec2{2.375, 3}));
  EXPECT_EQ(AreaCentroid(kBowtie), std::nullopt);
  EXPECT_EQ(AreaCentroid(Ring{{0, 0}, {1, 1}}), std::nullopt);
  EXPECT_EQ(AreaCentroid({}), std::nullopt);
}

TEST(RingTest, CentroidOfASmallSquareFarAway) {
  const double m = 0x1p52;
  EXPECT_EQ(AreaCentroid(Ring{{m, m}, {m + 1, m}, {m + 1, m + 1}, {m, m + 1}}),
            (Vec2{m, m}));  // m + 1/2 is a tie, rounded to even
}

TEST(RingTest, MeanIsExactBeforeItIsRounded) {
  EXPECT_EQ(VertexMean(Ring{{0x1p53, 1}, {1, 1}, {-0x1p53, 1}}), (Vec2{1.0 / 3, 1}));
  EXPECT_EQ(VertexMean({}), (Vec2{0, 0}));
}

TEST(RingTest, CircleRestsOnTwoOrThreeVertices) {
  const Circle square = BoundingCircle(kSquare);
  EXPECT_EQ(square.center, (Vec2{2, 2}));
  EXPECT_EQ(CompareDistance(Vec2{0, 0}, square), -1);  // sqrt(8) rounded up
  EXPECT_EQ(CompareDistance(Vec2{0, 0}, Circle{{2, 2}, std::nextafter(square.radius, 0)}), 1);
  // Obtuse: the longest side is a diameter.
  const Circle obtuse = BoundingCircle(Ring{{0, 0}, {8, 0}, {3, 1}});
  EXPECT_EQ(obtuse.center, (Vec2{4, 0}));
  EXPECT_EQ(obtuse.radius, 4);
  // Acute: through all three.
  const Circle acute = BoundingCircle(Ring{{1, 0}, {7, 0}, {4, 4}});
  EXPECT_EQ(acute.center, (Vec2{4, 0.875}));
  EXPECT_EQ(acute.radius, 3.125);
}

TEST(RingTest, CircleOfPointsThatCoincideOrLieOnALine) {
  EXPECT_EQ(BoundingCircle({}).radius, 0);
  const Circle point = BoundingCircle(Ring{{3, 4}, {3, 4}});
  EXPECT_EQ(point.center, (Vec2{3, 4}));
  EXPECT_EQ(point.radius, 0);
  const Circle line = BoundingCircle(Ring{{1, 1}, {3, 3}, {0, 0}, {2, 2}, {0, 0}, {3, 3}});
  EXPECT_EQ(line.center, (Vec2{1.5, 1.5}));
  EXPECT_TRUE(HoldsAll(line, {{0, 0}, {3, 3}}));
}

TEST(RingTest, CircleOfCocircularVertices) {
  // The twelve grid points at distance 5, and some within.
  const Ring ring{{5, 0},   {3, 4},   {4, 3},  {0, 5},  {-3, 4}, {-4, 3}, {-5, 0},
                  {-3, -4}, {-4, -3}, {0, -5}, {3, -4}, {4, -3}, {1, 1},  {0, 0}};
  const Circle circle = BoundingCircle(ring);
  EXPECT_EQ(circle.center, (Vec2{0, 0}));
  EXPECT_EQ(circle.radius, 5);
}

TEST(RingTest, CircleAtTheEndsOfTheRange) {
  const double m = kMaxCoordinate;
  const Ring large{{-m, -m}, {m, -m}, {m, m}, {-m, m}};
  EXPECT_EQ(BoundingCircle(large).center, (Vec2{0, 0}));
  EXPECT_TRUE(HoldsAll(BoundingCircle(large), large));
  // The exact centre, 2^-142, is read as 0; the radius is an accepted one.
  const Ring small{{-0x1p-140, 0}, {0x1.8p-140, 0}};
  const Circle circle = BoundingCircle(small);
  EXPECT_EQ(circle.center, (Vec2{0, 0}));
  EXPECT_TRUE(HoldsAll(circle, small));
  const Ring close{{1, 0}, {1, 0x1p-140}};
  EXPECT_EQ(BoundingCircle(close).radius, 0x1p-140);
  EXPECT_TRUE(HoldsAll(BoundingCircle(close), close));
}

// Laws.

TEST(RingLawTest, StartAndDirectionChangeNothingButTheSign) {
  Random random(21);
  const int count = Repeats(1500, 100000);
  for (int i = 0; i < count; ++i) {
    const Ring ring = RandomRing(random, AnyGrid(random), 8);
    const Ring turned = StartedAt(Reversed(ring), ring.size() / 2);
    ASSERT_EQ(SignedArea(turned), -SignedArea(ring) + 0.0) << ToCode(ring);
    ASSERT_EQ(WindingSign(turned), -WindingSign(ring)) << ToCode(ring);
    ASSERT_EQ(IsConvex(turned), IsConvex(ring)) << ToCode(ring);
    ASSERT_EQ(VertexMean(turned), VertexMean(ring)) << ToCode(ring);
    ASSERT_EQ(AreaCentroid(turned), AreaCentroid(ring)) << ToCode(ring);
    ASSERT_EQ(BoundingCircle(turned).center, BoundingCircle(ring).center) << ToCode(ring);
    ASSERT_EQ(BoundingCircle(turned).radius, BoundingCircle(ring).radius) << ToCode(ring);
  }
}

TEST(RingLawTest, ScalingByAPowerOfTwoScales) {
  Random random(22);
  const int count = Repeats(1500, 100000);
  for (int i = 0; i < count; ++i) {
    Grid grid = AnyGrid(random);
    grid.mixed = false;
    grid.scale = 0.1;
    const Ring ring = RandomRing(random, grid, 8);
    Ring large = ring;
    for (Vec2& v : large) v = {v.x * 0x1p40, v.y * 0x1p40};
    ASSERT_EQ(SignedArea(large), SignedArea(ring) * 0x1p80) << ToCode(ring);
    ASSERT_EQ(IsConvex(large), IsConvex(ring)) << ToCode(ring);
    ASSERT_EQ(BoundingCircle(large).radius, BoundingCircle(ring).radius * 0x1p40) << ToCode(ring);
  }
}

TEST(RingLawTest, CirclesThatDoNotMeetProveThatRingsDoNot) {
  Random random(23);
  int apart = 0;
  const int count = Repeats(1500, 100000);
  for (int i = 0; i < count; ++i) {
    const Grid grid{7, 1, 10};
    const Ring a = RandomRing(random, grid, 3);
    const Ring b = RandomRing(random, grid, 3);
    const Circle circle_a = BoundingCircle(a);
    const Circle circle_b = BoundingCircle(b);
    const Rational radii = Exact(circle_a.radius) + Exact(circle_b.radius);
    const RationalXy between = Exact(Xy{circle_a.center.x, circle_a.center.y}) -
                               Exact(Xy{circle_b.center.x, circle_b.center.y});
    if (Dot(between, between) <= radii * radii) continue;
    ++apart;
    for (size_t k = 0; k < a.size(); ++k) {
      for (size_t l = 0; l < b.size(); ++l) {
        ASSERT_FALSE(Intersects(carom::Segment{a[k], a[(k + 1) % a.size()]},
                                carom::Segment{b[l], b[(l + 1) % b.size()]}))
            << ToCode(a) << ToCode(b);
      }
    }
  }
  EXPECT_GT(apart, count / 10);
}

// Against exact rationals.

TEST(RingOracleTest, AreasMeansAndCentroidsAreCorrectlyRounded) {
  Random random(24);
  const int count = Repeats(4000, 100000);
  for (int i = 0; i < count; ++i) {
    const Ring ring = RandomRing(random, AnyGrid(random), 9);
    const std::vector<Xy> described = ToOracle(ring);
    const Rational area = RingArea(described);
    ASSERT_EQ(SignedArea(ring), NearestDouble(area)) << ToCode(ring);
    ASSERT_EQ(WindingSign(ring), Sign(area)) << ToCode(ring);
    const RationalXy mean = RingMean(described);
    ASSERT_EQ(VertexMean(ring), (Vec2{NearestDouble(mean.x), NearestDouble(mean.y)}));
    const auto want = RingCentroid(described);
    const auto centroid = AreaCentroid(ring);
    ASSERT_EQ(centroid.has_value(), want.has_value()) << ToCode(ring);
    if (!want) continue;
    ASSERT_EQ(*centroid, (Vec2{NearestDouble(want->x), NearestDouble(want->y)})) << ToCode(ring);
    ASSERT_FALSE(std::signbit(centroid->x) && centroid->x == 0);
  }
}

// A long ring has sums in which roundings add up.
TEST(RingOracleTest, AreasOfLongRingsAreCorrectlyRounded) {
  Random random(25);
  const int count = Repeats(40, 4000);
  for (int i = 0; i < count; ++i) {
    Grid grid{1000, 0.1, 50};
    grid.mixed = i % 4 == 0;
    Ring ring;
    for (int k = 0; k < 300; ++k) ring.push_back(Normalized(grid.Point(random)));
    ASSERT_EQ(SignedArea(ring), NearestDouble(RingArea(ToOracle(ring)))) << i;
  }
}

TEST(RingOracleTest, ConvexityIsThatOfTheHull) {
  Random random(26);
  int convex = 0;
  const int count = Repeats(20000, 400000);
  for (int i = 0; i < count; ++i) {
    const Grid grid = AnyGrid(random);
    Ring ring = i % 4 == 0 ? RandomConvexRing(random, grid) : RandomRing(random, grid, 6);
    // One vertex of a convex ring moved or repeated: still convex now and then.
    if (i % 8 == 0) {
      ring[static_cast<size_t>(random.Below(static_cast<int>(ring.size())))] =
          ring[static_cast<size_t>(random.Below(static_cast<int>(ring.size())))];
    }
    const bool want = RingIsConvex(ToOracle(ring));
    ASSERT_EQ(IsConvex(ring), want) << ToCode(ring);
    ASSERT_TRUE(want || i % 4 != 0 || i % 8 == 0) << ToCode(ring);
    convex += want;
  }
  EXPECT_GT(convex, count / 4);
  EXPECT_LT(convex, count * 3 / 4);
}

TEST(RingOracleTest, CircleIsTheSmallest) {
  Random random(27);
  const int count = Repeats(2000, 40000);
  for (int i = 0; i < count; ++i) {
    const Ring ring = RandomRing(random, AnyGrid(random), 7);
    const Circle circle = BoundingCircle(ring);
    const RationalCircle want = RingCircle(ToOracle(ring));
    ASSERT_EQ(circle.center, (Vec2{Normalized(NearestDouble(want.center.x)),
                                   Normalized(NearestDouble(want.center.y))}))
        << ToCode(ring);
    ASSERT_TRUE(HoldsAll(circle, ring)) << ToCode(ring);
    if (circle.radius == 0 || circle.radius == kSmallestMagnitude) continue;
    ASSERT_FALSE(HoldsAll({circle.center, std::nextafter(circle.radius, 0)}, ring)) << ToCode(ring);
    double largest = 0;
    for (const Vec2 v : ring) largest = std::max({largest, std::abs(v.x), std::abs(v.y)});
    const Rational excess = Exact(circle.radius) - 3 * Exact(Ulp(largest)) - Exact(0x1p-138);
    ASSERT_TRUE(excess <= 0 || excess * excess <= want.squared_radius) << ToCode(ring);
    ASSERT_TRUE(Exact(circle.radius) * Exact(circle.radius) >= want.squared_radius);
  }
}

}  // namespace
}  // namespace carom::testing::ring_test
