// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The exact arithmetic below the predicates: expansions, fractions, measures.

#include <gtest/gtest.h>

#include <cmath>

#include "exact.h"
#include "expansion.h"
#include "fraction.h"
#include "measures.h"
#include "random_scene.h"
#include "tests/support/exact.h"

namespace carom::testing {
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
}  // namespace carom::testing
