// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exact numbers against rationals without bounds: values, sums, products, signs with a root, and
// the two roundings of a quotient.

#include "numeric/dyadic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "tests/core/random_scene.h"
#include "tests/support/exact.h"
#include "tests/support/repeats.h"

namespace carom::testing::dyadic_test {
namespace {

using internal::Dyadic;
using internal::SignWithRoot;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Rational TwoTo(int exponent) {
  const boost::multiprecision::mpz_int power = boost::multiprecision::mpz_int(1)
                                               << std::abs(exponent);
  return exponent < 0 ? 1 / Rational(power) : Rational(power);
}

Rational ValueOf(const Dyadic& value) {
  const Rational integer(boost::multiprecision::mpz_int(value.integer()));
  return integer * TwoTo(value.exponent());
}

// 0 now and then; a few bits or all 53; exponents up to `reach` either way.
double AnyDouble(Random& random, int reach) {
  if (random.Below(20) == 0) return 0;
  const double significand =
      random.Below(2) == 0 ? 1 + random.Below(7) : std::ldexp(0.5 + 0.5 * random.Unit(), 3);
  const double value = std::ldexp(significand, random.Below(2 * reach) - reach);
  return random.Below(2) == 0 ? value : -value;
}

TEST(DyadicTest, EveryDoubleIsExact) {
  Random random(1);
  for (int i = 0; i < Repeats(2000, 20000); ++i) {
    const double x = AnyDouble(random, 1020);
    ASSERT_EQ(ValueOf(Dyadic(x)), Exact(x)) << absl::StreamFormat("%a", x);
  }
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0x1p-1074, -0x1p-1074, 0x0.8p-1022, 0x1p-1022,
                         0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023}) {
    EXPECT_EQ(ValueOf(Dyadic(x)), Exact(x));
    EXPECT_EQ(Dyadic(x).sign(), (x > 0) - (x < 0));
  }
  EXPECT_EQ(Dyadic().sign(), 0);
}

TEST(DyadicTest, SumsDifferencesAndProductsEqualRationals) {
  Random random(2);
  for (int i = 0; i < Repeats(10000, 200000); ++i) {
    // Four factors whose exponents reach 400 either way: 3,300 bits at most.
    const int reach = random.Below(3) == 0 ? 400 : 5;
    const double a = AnyDouble(random, reach);
    const double b = AnyDouble(random, reach);
    const double c = random.Below(4) == 0 ? a : AnyDouble(random, reach);
    const double d = random.Below(4) == 0 ? -b : AnyDouble(random, reach);
    const Dyadic sum = Dyadic(a) * b + Dyadic(c) * d;
    const Dyadic difference = Dyadic(a) * b - Dyadic(c) * d;
    const Rational exact_sum = Exact(a) * Exact(b) + Exact(c) * Exact(d);
    const Rational exact_difference = Exact(a) * Exact(b) - Exact(c) * Exact(d);
    const auto code = absl::StreamFormat("%a %a %a %a", a, b, c, d);
    ASSERT_EQ(ValueOf(sum), exact_sum) << code;
    ASSERT_EQ(ValueOf(difference), exact_difference) << code;
    ASSERT_EQ(sum.sign(), Sign(exact_sum)) << code;
    ASSERT_EQ(ValueOf(sum * difference), exact_sum * exact_difference) << code;
    ASSERT_EQ(ValueOf(-sum + difference), exact_difference - exact_sum) << code;
    ASSERT_EQ(ValueOf(Scaled(sum, -7)), exact_sum / 128) << code;
    ASSERT_EQ(sum < difference, exact_sum < exact_difference) << code;
    ASSERT_EQ(sum <= difference, exact_sum <= exact_difference) << code;
    ASSERT_EQ(sum == difference, exact_sum == exact_difference) << code;
  }
}

// Law: what cancels is 0 for whatever follows.
TEST(DyadicTest, ACancelledSumIsZero) {
  const Dyadic zero = Dyadic(0x1p-300) + Dyadic(3) - Dyadic(0x1p-300) - Dyadic(3);
  EXPECT_EQ(zero.sign(), 0);
  EXPECT_EQ((zero * Dyadic(5)).sign(), 0);
  EXPECT_TRUE(zero + Dyadic(5) == Dyadic(5));
  EXPECT_TRUE(Dyadic(5) - zero == Dyadic(5));
  EXPECT_TRUE(zero - Dyadic(5) == Dyadic(-5));
  EXPECT_TRUE(Scaled(zero, 100) == Dyadic(0.0));
  EXPECT_TRUE(-zero == zero);
  EXPECT_EQ(NearestQuotient(zero, Dyadic(3)), 0);
  EXPECT_FALSE(std::signbit(NearestQuotient(-zero, Dyadic(-3))));
  EXPECT_FALSE(std::signbit(QuotientRoundedUp(-zero, Dyadic(-3))));
}

// Far beyond what fits inline: an accepted coordinate to the 16th power beside the smallest one.
TEST(DyadicTest, DegreeSixteenIsExact) {
  Dyadic largest = 0x1.fffffffffffffp53;
  Dyadic smallest = 0x1p-192;
  for (int i = 0; i < 4; ++i) {
    largest = largest * largest;
    smallest = smallest * smallest;
  }
  const Dyadic both = largest - smallest;
  EXPECT_EQ(both.sign(), 1);
  EXPECT_TRUE(largest - both == smallest);
}

TEST(DyadicTest, SignWithRootEqualsTheSignOfSquares) {
  Random random(3);
  for (int i = 0; i < Repeats(10000, 200000); ++i) {
    const double p = AnyDouble(random, 40);
    const double q = AnyDouble(random, 40);
    // Often a square, and then often an exact tie or next to one.
    double r = std::abs(AnyDouble(random, 40));
    if (random.Below(2) == 0 && q != 0) {
      const double root = p / q;
      r = root * root;
      if (random.Below(3) == 0) r = std::nextafter(r, random.Below(2) == 0 ? 0 : kInfinity);
    }
    const Rational p2 = Exact(p) * Exact(p);
    const Rational q2r = Exact(q) * Exact(q) * Exact(r);
    const int sign_p = Sign(Exact(p));
    const int sign_q = Sign(q2r) == 0 ? 0 : Sign(Exact(q));
    int want = 0;
    if (sign_p == sign_q) {
      want = sign_p;
    } else {
      want = p2 > q2r ? sign_p : p2 < q2r ? sign_q : 0;
    }
    ASSERT_EQ(SignWithRoot(p, q, r), want) << absl::StreamFormat("%a %a %a", p, q, r);
  }
  EXPECT_EQ(SignWithRoot(-6.0, 2.0, 9.0), 0);
  EXPECT_EQ(SignWithRoot(6.0, -2.0, 9.0), 0);
  EXPECT_EQ(SignWithRoot(-6.0, 2.0, std::nextafter(9, 10)), 1);
  EXPECT_EQ(SignWithRoot(6.0, -2.0, std::nextafter(9, 10)), -1);
  EXPECT_EQ(SignWithRoot(0.0, -2.0, 0.0), 0);
  EXPECT_EQ(SignWithRoot(-1.0, 2.0, 0.0), -1);
}

void ExpectRounded(const Dyadic& n, const Dyadic& d) {
  const Rational exact = ValueOf(n) / ValueOf(d);
  EXPECT_EQ(NearestQuotient(n, d), NearestDouble(exact)) << exact;
  EXPECT_EQ(NearestDouble(n), NearestDouble(ValueOf(n))) << ValueOf(n);
  const double up = QuotientRoundedUp(n, d);
  EXPECT_GE(Exact(up), exact) << exact;
  EXPECT_LT(Exact(std::nextafter(up, -kInfinity)), exact) << exact;
}

TEST(DyadicTest, QuotientsRoundAsRationalsDo) {
  Random random(4);
  for (int i = 0; i < Repeats(4000, 100000) && !HasFailure(); ++i) {
    const int reach = random.Below(3) == 0 ? 200 : 4;
    double divisor = AnyDouble(random, reach);
    if (divisor == 0) divisor = -3;
    const Dyadic d = Dyadic(divisor) * (1 + random.Below(9));
    ExpectRounded(Dyadic(AnyDouble(random, reach)) * AnyDouble(random, reach), d);
    // Quotients that are a double, a midpoint of two, or one small step beside either.
    const double q = AnyDouble(random, reach);
    const double neighbour = std::nextafter(q, random.Below(2) == 0 ? -kInfinity : kInfinity);
    const Dyadic middle = Scaled(Dyadic(q) + Dyadic(neighbour), -1);
    const Dyadic step = Scaled(Dyadic(random.Below(3) - 1), -1500);
    if (q == 0) continue;
    ExpectRounded(Dyadic(q) * d, d);
    ExpectRounded((middle + step) * d, d);
    ExpectRounded((Dyadic(q) + step) * d, d);
  }
}

TEST(DyadicTest, QuotientsAtTheEndsOfTheirRange) {
  ExpectRounded(0x1p-1022, 1.0);
  ExpectRounded(-0x1p-1022, 1.0);
  ExpectRounded(0x1p1023, -1.0);
  ExpectRounded(0x1p500, 0x1p-500);
  ExpectRounded(Dyadic(0x1p-500) * Dyadic(0x1p-500), 0x1p22);
  ExpectRounded(Dyadic(0x1.fffffffffffffp52) + Dyadic(0.5), 1.0);  // carries into a power of two
}

}  // namespace
}  // namespace carom::testing::dyadic_test
