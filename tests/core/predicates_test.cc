// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/predicates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "random_scene.h"
#include "tests/support/exact.h"

namespace carom::testing {
namespace {

RationalXy Exactly(Vec2 p) { return Exact(Xy{p.x, p.y}); }

Rational DistanceSquared(const RationalXy& p, const carom::Segment& s) {
  const RationalXy a = Exactly(s.a);
  const RationalXy d = Exactly(s.b) - a;
  Rational t = 0;
  if (!IsZero(d)) t = Dot(p - a, d) / Dot(d, d);
  if (t < 0) t = 0;
  if (t > 1) t = 1;
  const RationalXy nearest = a + t * d;
  return Dot(p - nearest, p - nearest);
}

// A point near the line through a and b: rounded, so on either side of it or on it.
Vec2 NearLine(Random& random, Vec2 a, Vec2 b) {
  const double t = random.Unit() * 3 - 1;
  return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

constexpr double kScales[] = {1, 1e-9, 0.1, 1e9, 0x1p-139, 0x1p50};

TEST(PredicatesTest, OrientationIsExactOnRoundedCollinearPoints) {
  Random random(11);
  int on_line = 0;
  for (int i = 0; i < 40000; ++i) {
    const double scale = kScales[i % 6];
    const auto point = [&] { return Vec2{scale * random.Unit(), scale * (random.Unit() - 0.5)}; };
    const Vec2 a = Normalized(point());
    const Vec2 b = Normalized(point());
    const Vec2 c = Normalized(NearLine(random, a, b));
    const int want = Sign(Cross(Exactly(b) - Exactly(a), Exactly(c) - Exactly(a)));
    ASSERT_EQ(Orientation(a, b, c), want)
        << absl::StrFormat("{%a, %a}, {%a, %a}, {%a, %a}", a.x, a.y, b.x, b.y, c.x, c.y);
    on_line += want == 0;
  }
  EXPECT_GT(on_line, 100);
}

TEST(PredicatesTest, OrientationIsAntisymmetricAndCyclic) {
  Random random(12);
  const Grid grid{5, 0.1, 20};
  for (int i = 0; i < 20000; ++i) {
    const Vec2 a = Normalized(grid.Point(random));
    const Vec2 b = Normalized(grid.Point(random));
    const Vec2 c = Normalized(grid.Point(random));
    ASSERT_EQ(Orientation(a, b, c), Orientation(b, c, a));
    ASSERT_EQ(Orientation(a, b, c), -Orientation(b, a, c));
  }
}

TEST(PredicatesTest, OrientationAtTheEndsOfTheRange) {
  const double m = kMaxCoordinate;
  EXPECT_EQ(Orientation({-m, -m}, {m, m}, {m - 1, m}), 1);
  EXPECT_EQ(Orientation({-m, -m}, {m, m}, {m, m - 1}), -1);
  EXPECT_EQ(Orientation({-m, -m}, {m, m}, {0x1p-140, 0x1p-140}), 0);
  EXPECT_EQ(Orientation({-m, -m}, {m, m}, {0, 0x1p-140}), 1);
  EXPECT_EQ(Orientation({-m, -m}, {m, m}, {0x1p-140, 0}), -1);
}

TEST(PredicatesTest, IntersectsEqualsTheRationalAnswer) {
  Random random(13);
  for (int i = 0; i < 40000; ++i) {
    const Grid grid{4, kScales[i % 6], 10};
    const carom::Segment s{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    const carom::Segment t{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    // By definition: an end on the other segment, or all ends strictly apart.
    const auto on = [](const RationalXy& p, const carom::Segment& q) {
      return DistanceSquared(p, q) == 0;
    };
    const auto side = [](const carom::Segment& q, Vec2 p) {
      return Sign(Cross(Exactly(q.b) - Exactly(q.a), Exactly(p) - Exactly(q.a)));
    };
    const bool want = on(Exactly(s.a), t) || on(Exactly(s.b), t) || on(Exactly(t.a), s) ||
                      on(Exactly(t.b), s) ||
                      (side(s, t.a) * side(s, t.b) < 0 && side(t, s.a) * side(t, s.b) < 0);
    ASSERT_EQ(Intersects(s, t), want);
    ASSERT_EQ(Intersects(t, s), want);
    ASSERT_EQ(IsOnSegment(t.a, s), on(Exactly(t.a), s));
  }
}

TEST(PredicatesTest, CompareDistanceEqualsTheRationalAnswer) {
  Random random(14);
  int touching = 0;
  for (int i = 0; i < 60000; ++i) {
    const double scale = kScales[i % 6];
    const Grid grid{14, scale, i % 2 == 0 ? 0 : 20};
    const carom::Segment s{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    Circle circle{Normalized(grid.Point(random)), 0};
    // A grid radius touches exactly now and then; a rounded distance is an ulp off either way.
    const Rational d2 = DistanceSquared(Exactly(circle.center), s);
    circle.radius = i % 3 == 0 ? scale * random.Below(14) : std::sqrt(d2.convert_to<double>());
    circle.radius = Normalized(circle.radius);
    const Rational r2 = Exact(circle.radius) * Exact(circle.radius);
    ASSERT_EQ(CompareDistance(s, circle), Sign(d2 - r2));
    touching += d2 == r2;
    const RationalXy off = Exactly(s.a) - Exactly(circle.center);
    ASSERT_EQ(CompareDistance(s.a, circle), Sign(Dot(off, off) - r2));
  }
  EXPECT_GT(touching, 1000);
}

}  // namespace
}  // namespace carom::testing
