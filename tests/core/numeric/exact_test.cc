// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The exact arithmetic below the predicates: expansions, fractions, measures.

#include <gtest/gtest.h>

#include <cmath>

#include "carom/predicates.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/fraction.h"
#include "shape/measures.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/exact.h"

namespace carom::testing::exact_test {
namespace {

using internal::Expansion;
using internal::Fraction;

template <int N>
Rational ValueOf(const Expansion<N>& e) {
  Rational sum = 0;
  for (int i = 0; i < e.size; ++i) sum += Exact(e.part[i]);
  return sum;
}

// Magnitudes from 2^-60 to 2^60, both signs.
double Wild(Random& random) {
  const double value = std::ldexp(random.Unit() + 0.5, random.Below(121) - 60);
  return random.Below(2) == 0 ? value : -value;
}

TEST(ExactTest, ExpansionsEqualRationals) {
  Random random(21);
  for (int i = 0; i < 5000; ++i) {
    const double a = Wild(random);
    const double b = Wild(random);
    const double c = Wild(random);
    const auto ab = internal::Difference(a, b);
    const auto bc = internal::Difference(b, c);
    const Rational x = Exact(a) - Exact(b);
    const Rational y = Exact(b) - Exact(c);
    ASSERT_EQ(ValueOf(ab), x);
    ASSERT_EQ(ValueOf(ab * bc), x * y);
    ASSERT_EQ(ValueOf(ab * bc - bc * c), x * y - y * Exact(c));
    const auto product = (ab * bc) * (bc * ab);
    ASSERT_EQ(ValueOf(product), x * y * y * x);
    ASSERT_EQ(product.sign(), Sign(x * y * y * x));
    ASSERT_EQ((product - product).sign(), 0);
  }
}

TEST(ExactTest, RoundedQuotientIsTheNearestDouble) {
  Random random(22);
  for (int i = 0; i < 20000; ++i) {
    const auto n = internal::Difference(Wild(random), Wild(random));
    const auto d = internal::Difference(Wild(random), Wild(random));
    ASSERT_EQ(RoundedQuotient(n, d), NearestDouble(ValueOf(n) / ValueOf(d)));
  }
}

TEST(ExactTest, RoundedQuotientTiesGoToEven) {
  // (2^53 + 1) / 2^53 lies midway between 1 and 1 + 2^-52; (2^53 + 3) between that and the next.
  const auto n1 = internal::Expand(internal::TwoSum(0x1p53, 1));
  const auto n3 = internal::Expand(internal::TwoSum(0x1p53, 3));
  const auto d = internal::Expand({0x1p53, 0});
  EXPECT_EQ(RoundedQuotient(n1, d), 1.0);
  EXPECT_EQ(RoundedQuotient(n3, d), 1 + 0x1p-51);
  EXPECT_EQ(RoundedQuotient(-n3, d), -(1 + 0x1p-51));
}

// Fractions of three kinds on one segment, against rationals.
TEST(ExactTest, FractionsCompareAndRoundExactly) {
  Random random(23);
  int ties = 0;
  for (int i = 0; i < 20000; ++i) {
    const Grid grid{7, i % 2 == 0 ? 1 : 0.1, 10};
    const carom::Segment s{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    if (s.a == s.b) continue;
    const RationalXy a = Exact(Xy{s.a.x, s.a.y});
    const RationalXy d = Exact(Xy{s.b.x, s.b.y}) - a;
    std::vector<Fraction> fractions{Fraction::Start(s), Fraction::End(s)};
    std::vector<Rational> values{0, 1};
    // A vertex on the segment, where it is level.
    if (s.a.y == s.b.y) {
      const double x = s.a.x + random.Unit() * (s.b.x - s.a.x);
      fractions.push_back(Fraction::OfVertex(s, internal::DominantAxis(s), {x, s.a.y}).at);
      values.push_back((Exact(x) - a.x) / d.x);
    }
    while (fractions.size() < 6) {
      const carom::Segment e{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
      const RationalXy v = Exact(Xy{e.a.x, e.a.y});
      const RationalXy along = Exact(Xy{e.b.x, e.b.y}) - v;
      const Rational denominator = Cross(d, along);
      if (denominator == 0) continue;
      const Rational t = Cross(v - a, along) / denominator;
      if (t <= 0 || t >= 1) {
        fractions.push_back(fractions.back());
        values.push_back(values.back());
        continue;
      }
      fractions.push_back(Fraction::OfCrossing(s, e).at);
      values.push_back(t);
    }
    for (size_t k = 0; k < fractions.size(); ++k) {
      ASSERT_EQ(fractions[k].Rounded(s), NearestDouble(values[k]));
      ASSERT_LE(Exact(fractions[k].low()), values[k]);
      ASSERT_GE(Exact(fractions[k].high()), values[k]);
      for (size_t j = 0; j < k; ++j) {
        const int want = Sign(values[k] - values[j]);
        ASSERT_EQ(Fraction::Compare(s, fractions[k], fractions[j]), want);
        ties += want == 0;
      }
    }
  }
  EXPECT_GT(ties, 1000);
}

// What the quick path decides, expansions decide likewise, over all magnitudes and on grids.
TEST(ExactTest, RefinedFractionsHoldTheExactOnes) {
  Random random(26);
  int decided = 0;
  int all = 0;
  for (int i = 0; i < 100000; ++i) {
    const Grid grid = AnyGrid(random);
    const Vec2 a = Normalized(grid.Point(random));
    const Vec2 b = Normalized(grid.Point(random));
    if (a == b) continue;
    const bool is_ray = random.Below(3) == 0 && !(b == Vec2{});
    const internal::Line line = is_ray ? internal::Line(carom::Ray{a, b}) : carom::Segment{a, b};
    const carom::Segment e{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    const int side_a = line.Side(e.a);
    if (side_a == line.Side(e.b)) continue;
    const internal::Meeting meeting =
        side_a == 0 ? Fraction::OfVertex(line, internal::DominantAxis(line), e.a)
                    : Fraction::OfCrossing(line, e);
    if (meeting.range != 0 || meeting.at.is_start() || meeting.at.is_end()) continue;
    const internal::Interval refined = meeting.at.Refined(line);
    const double rounded = meeting.at.ExactRounded(line);
    ASSERT_LE(refined.low, rounded);
    ASSERT_GE(refined.high, rounded);
    ASSERT_EQ(meeting.at.Rounded(line), rounded);
    decided += refined.low == refined.high;
    ++all;
  }
  RecordProperty("decided_in_10000", decided * 10000 / all);
  EXPECT_GT(all, 10000);
  EXPECT_GE(decided, all * 0.9);
}

TEST(ExactTest, RandomFractionsAreDecidedWithoutExpansions) {
  Random random(27);
  int decided = 0;
  int all = 0;
  while (all < 20000) {
    const auto any = [&] { return Vec2{400 * random.Unit(), 400 * random.Unit()}; };
    const carom::Segment s{any(), any()};
    const carom::Segment e{any(), any()};
    if (!Intersects(s, e)) continue;
    const Fraction at = Fraction::OfCrossing(s, e).at;
    const internal::Interval refined = at.Refined(s);
    const RationalXy d = Exact(Xy{s.b.x, s.b.y}) - Exact(Xy{s.a.x, s.a.y});
    const RationalXy along = Exact(Xy{e.b.x, e.b.y}) - Exact(Xy{e.a.x, e.a.y});
    const Rational t =
        Cross(Exact(Xy{e.a.x, e.a.y}) - Exact(Xy{s.a.x, s.a.y}), along) / Cross(d, along);
    ASSERT_EQ(at.Rounded(s), NearestDouble(t));
    decided += refined.low == refined.high;
    ++all;
  }
  RecordProperty("decided_in_10000", decided * 10000 / all);
  EXPECT_GE(decided, all * 0.999);
}

// Fractions midway between two doubles, and very near to that on either side.
TEST(ExactTest, FractionsNearMidpointsRoundExactly) {
  Random random(28);
  int midway = 0;
  for (int i = 0; i < 5000; ++i) {
    const double h = 0.25 * random.Below(3);
    const internal::Line line(carom::Ray{{-h, 0}, {0x1p52, 0}});
    // In [2^51, 2^52], where doubles are 1/2 apart, so v + h may be midway between two.
    const double v = std::floor((1 + random.Unit()) * 0x1p51) + 0.5 * random.Below(2);
    const double tilt = 0.5 * (random.Below(3) - 1);
    const carom::Segment e{{v, -1}, {v + tilt, 0x1p40}};
    const Rational t = (Exact(v) + Exact(tilt) / (Exact(0x1p40) + 1) + Exact(h)) / Exact(0x1p52);
    const Fraction at = Fraction::OfCrossing(line, e).at;
    ASSERT_EQ(at.Rounded(line), NearestDouble(t));
    ASSERT_EQ(at.ExactRounded(line), NearestDouble(t));
    const internal::Interval refined = at.Refined(line);
    midway += refined.low != refined.high;
  }
  EXPECT_GT(midway, 1000);
  EXPECT_LT(midway, 4000);
}

TEST(ExactTest, UnitNormalsAreWithinOneUlp) {
  Random random(24);
  for (int i = 0; i < 20000; ++i) {
    const carom::Segment e{{Wild(random), Wild(random)}, {Wild(random), Wild(random)}};
    const int side = i % 2 == 0 ? 1 : -1;
    const Vec2 normal = internal::UnitNormal(e, side);
    const RationalXy along = Exact(Xy{e.b.x, e.b.y}) - Exact(Xy{e.a.x, e.a.y});
    const Rational sign = side;
    ASSERT_TRUE(IsUnitVectorWithin({normal.x, normal.y}, {-sign * along.y, sign * along.x}, 1));
  }
  // Edges of a grid, of all magnitudes, and of nearly one direction.
  for (int i = 0; i < 60000; ++i) {
    const Grid grid = AnyGrid(random);
    carom::Segment e{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    if (i % 4 == 0) e.b.x = Normalized(std::nextafter(e.a.x, e.b.x));
    if (e.a == e.b) continue;
    const int side = i % 2 == 0 ? 1 : -1;
    const Vec2 normal = internal::UnitNormal(e, side);
    ASSERT_EQ(normal, internal::UnitNormalOfPairs(e, side)) << ToCode(e);
    ASSERT_FALSE(normal.x == 0 && std::signbit(normal.x));
    ASSERT_FALSE(normal.y == 0 && std::signbit(normal.y));
  }
  const Vec2 up = internal::UnitNormal({{0, 0}, {3, 0}}, 1);
  EXPECT_EQ(up, (Vec2{0, 1}));
  EXPECT_FALSE(std::signbit(up.x));
}

TEST(ExactTest, PointAtErrsByLessThanTwoUlp) {
  Random random(25);
  for (int i = 0; i < 20000; ++i) {
    const carom::Segment s{{Wild(random), Wild(random)}, {Wild(random), Wild(random)}};
    const double t = random.Unit();
    const Vec2 p = internal::PointAt(s, t);
    const Rational exact = Exact(s.a.x) + Exact(t) * (Exact(s.b.x) - Exact(s.a.x));
    const double largest = std::fmax(std::abs(s.a.x), std::abs(s.b.x));
    ASSERT_LE(abs(Exact(p.x) - exact), Exact(Ulp(largest)));
    ASSERT_EQ(internal::PointAt(s, 0), s.a);
    ASSERT_EQ(internal::PointAt(s, 1), s.b);
  }
}

}  // namespace
}  // namespace carom::testing::exact_test
