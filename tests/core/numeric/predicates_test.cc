// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/predicates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/core/random_scene.h"
#include "tests/support/exact.h"
#include "tests/support/repeats.h"

namespace carom::testing::predicates_test {
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

TEST(PredicatesTest, IntersectsABox) {
  const Box box{{0, 0}, {4, 2}};
  const auto meets = [&](Vec2 a, Vec2 b) { return Intersects(carom::Segment{a, b}, box); };
  EXPECT_TRUE(meets({1, 1}, {2, 1}));     // within
  EXPECT_TRUE(meets({-4, 1}, {8, 1}));    // right through, both ends outside
  EXPECT_FALSE(meets({-2, 1}, {1, -2}));  // past the corner, boxes meeting
  EXPECT_TRUE(meets({-1, 1}, {1, -1}));   // the corner
  EXPECT_FALSE(meets({-1, std::nextafter(1, 0)}, {1, -1}));
  EXPECT_TRUE(meets({-1, std::nextafter(1, 2)}, {1, -1}));
  EXPECT_TRUE(meets({4, 2}, {9, 9}));
  EXPECT_TRUE(meets({4, 1}, {4, 1}));
  EXPECT_FALSE(meets({std::nextafter(4, 5), 1}, {9, 1}));
  EXPECT_FALSE(Intersects(carom::Segment{{0, 0}, {9, 9}}, Box{}));
  EXPECT_FALSE(Intersects(carom::Segment{{-9, 0}, {9, 9}}, Box{{3, 0}, {1, 9}}));
  EXPECT_TRUE(Intersects(carom::Segment{{0, 0}, {2, 2}}, Box{{1, 1}, {1, 1}}));
}

// The box by definition: an end within, or one of its sides is met.
TEST(PredicatesTest, IntersectsABoxThatHoldsAnEndOrHasASideThatIsMet) {
  Random random(15);
  const int count = Repeats(20000, 300000);
  for (int i = 0; i < count; ++i) {
    const Grid grid{5, kScales[i % 6], 10};
    Box box;
    box.Extend(Normalized(grid.Point(random)));
    box.Extend(Normalized(grid.Point(random)));
    const carom::Segment s{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    const Vec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
    bool want = box.Contains(s.a) || box.Contains(s.b);
    for (int k = 0; k < 4; ++k) {
      want = want || Intersects(s, carom::Segment{corners[k], corners[(k + 1) % 4]});
    }
    ASSERT_EQ(Intersects(s, box), want);
  }
}

TEST(PredicatesTest, CrossingsAreComparedAlongTheSegment) {
  const carom::Segment east{{0, 0}, {8, 0}};
  const auto upright = [](double x) { return carom::Segment{{x, -1}, {x, 1}}; };
  EXPECT_EQ(CompareCrossings(east, upright(2), upright(3)), -1);
  EXPECT_EQ(CompareCrossings({east.b, east.a}, upright(2), upright(3)), 1);
  EXPECT_EQ(CompareCrossings(east, upright(3), {{3, 5}, {3, -9}}), 0);
  EXPECT_EQ(CompareCrossings(east, upright(3), upright(std::nextafter(3, 4))), -1);
  EXPECT_EQ(CompareCrossings(east, upright(-7), upright(90)), -1);     // lines, not segments
  EXPECT_EQ(CompareCrossings(east, upright(2), {{3, 1}, {9, 1}}), 0);  // parallel
  EXPECT_EQ(CompareCrossings(east, upright(2), {{3, 1}, {3, 1}}), 0);  // no line
}

TEST(PredicatesTest, CompareCrossingsEqualsTheRationalAnswer) {
  Random random(16);
  int ties = 0;
  const int count = Repeats(20000, 300000);
  for (int i = 0; i < count; ++i) {
    Grid grid{6, kScales[i % 6], i % 2 == 0 ? 0 : 10};
    grid.mixed = i % 9 == 0;
    const auto segment = [&] {
      return carom::Segment{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    };
    const carom::Segment s = segment();
    const carom::Segment e = segment();
    const carom::Segment f = segment();
    const auto crossing = [&](const carom::Segment& edge) -> std::optional<Rational> {
      const RationalXy along = Exactly(edge.b) - Exactly(edge.a);
      const Rational divisor = Cross(Exactly(s.b) - Exactly(s.a), along);
      if (Sign(divisor) == 0) return std::nullopt;
      return Cross(Exactly(edge.a) - Exactly(s.a), along) / divisor;
    };
    const std::optional<Rational> t_1 = crossing(e);
    const std::optional<Rational> t_2 = crossing(f);
    const int want = t_1 && t_2 ? Sign(*t_1 - *t_2) : 0;
    ASSERT_EQ(CompareCrossings(s, e, f), want) << i;
    ASSERT_EQ(CompareCrossings(s, f, e), -want) << i;
    ties += t_1 && t_2 && want == 0;
  }
  EXPECT_GT(ties, count / 100);
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

TEST(PredicatesTest, CompareDistanceToACapsuleEqualsTheRationalAnswer) {
  Random random(15);
  int touching = 0;
  int crossing = 0;
  for (int i = 0; i < 30000; ++i) {
    const double scale = kScales[i % 6];
    const Grid grid{14, scale, i % 2 == 0 ? 0 : 20};
    const auto segment = [&] {
      return carom::Segment{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    };
    const carom::Segment s = segment();
    carom::Capsule capsule{segment(), 0};
    const bool meet = Intersects(s, capsule.axis);
    Rational d2 = 0;
    if (!meet) {
      d2 = std::min({DistanceSquared(Exactly(s.a), capsule.axis),
                     DistanceSquared(Exactly(s.b), capsule.axis),
                     DistanceSquared(Exactly(capsule.axis.a), s),
                     DistanceSquared(Exactly(capsule.axis.b), s)});
    }
    const double radius =
        i % 3 == 0 ? scale * random.Below(14) : std::sqrt(d2.convert_to<double>());
    capsule.radius = Normalized(radius);
    const Rational r2 = Exact(capsule.radius) * Exact(capsule.radius);
    ASSERT_EQ(CompareDistance(s, capsule), Sign(d2 - r2)) << i;
    touching += d2 == r2;
    crossing += meet;
  }
  EXPECT_GT(touching, 500);
  EXPECT_GT(crossing, 500);
}

}  // namespace
}  // namespace carom::testing::predicates_test
