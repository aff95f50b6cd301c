// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Proves the theorem at the top of core/src/numeric/sincos.cc against multiprecision arithmetic
// that knows nothing of it, and that the bits are the same in every build.

#include "carom/sincos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ios>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "numeric/sincos_column.h"
#include "tests/core/random_scene.h"
#include "tests/support/vector_paths.h"

namespace carom::sincos_test {
namespace {

// 168 bits: after losing 20 to the size of an angle and 61 to cancellation, 87 are good.
using Real = boost::multiprecision::cpp_bin_float_50;
using LongReal = boost::multiprecision::cpp_bin_float_100;

// The bound that core/src/numeric/sincos.cc derives, in ulp of the exact value.
constexpr double kBound = 0.6;
// The n of the multiple of pi/2 nearest to 2^20.
constexpr int kLastMultiple = 667544;

// Angles of every kind, by operations that give the same doubles on every machine: a
// third over the whole range, a third of every magnitude down to the subnormals, the
// others within a few doubles of a multiple of pi/4 or anywhere in the first octants.
std::vector<double> Angles(uint64_t seed, int count) {
  testing::Random random(seed);
  std::vector<double> angles;
  for (int i = 0; i < count; ++i) {
    const double sign = random.Next() % 2 == 0 ? 1 : -1;
    const double unit = random.Unit();
    switch (random.Next() % 6) {
      case 0:
      case 1:
        angles.push_back(sign * unit * kMaxAngle);
        break;
      case 2:
        angles.push_back(sign * std::ldexp(1 + unit, -static_cast<int>(random.Next() % 80) + 19));
        break;
      case 3:
        angles.push_back(sign * std::ldexp(unit, -static_cast<int>(random.Next() % 1080) + 20));
        break;
      case 4: {
        const double quarters = static_cast<double>(random.Next() % (2 * kLastMultiple));
        double angle = quarters * 0x1.921fb54442d18p-1;
        for (uint64_t steps = random.Next() % 4; steps > 0; --steps)
          angle = std::nextafter(angle, 0);
        angles.push_back(sign * angle);
        break;
      }
      default:
        angles.push_back(sign * unit);
    }
  }
  return angles;
}

uint64_t Bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

std::string Code(double angle) {
  std::ostringstream code;
  code << std::hexfloat << "reproduce with SinCos(" << angle << ")";
  return code.str();
}

// |got - exact| in ulp of `exact`. An ulp is at least the least subnormal.
template <typename Exact>
double ErrorInUlp(double got, const Exact& exact) {
  if (exact == 0) return got == 0 ? 0 : HUGE_VAL;
  int exponent = 0;
  frexp(exact, &exponent);  // |exact| in [2^(exponent - 1), 2^exponent)
  const int ulp_exponent = std::max(exponent - 53, -1074);
  const Exact difference = abs(Exact(got) - exact);
  return static_cast<double>(Exact(ldexp(difference, -ulp_exponent)));
}

// The worst of many errors, and the angle that has it.
struct Worst {
  double error = 0;
  double angle = 0;

  void Note(double error_in_ulp, double at) {
    if (error_in_ulp <= error) return;
    error = error_in_ulp;
    angle = at;
  }
};

TEST(SinCosTest, ZeroIsExact) {
  for (double zero : {0.0, -0.0}) {
    const CosSin result = SinCos(zero);
    EXPECT_EQ(Bits(result.c), Bits(1.0));
    EXPECT_EQ(Bits(result.s), Bits(0.0)) << "never -0";
  }
}

TEST(SinCosTest, RangeIsClosedAndTheRestIsNoRotation) {
  for (double inside : {kMaxAngle, -kMaxAngle}) EXPECT_NE(SinCos(inside).s, 0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double outside :
       {std::nextafter(kMaxAngle, kInfinity), -std::nextafter(kMaxAngle, kInfinity), 1e300, -1e300,
        kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    const CosSin result = SinCos(outside);
    EXPECT_EQ(result.c, 1) << Code(outside);
    EXPECT_EQ(Bits(result.s), Bits(0.0)) << Code(outside);
  }
}

TEST(SinCosTest, ErrsByLessThanItsBound) {
  Worst worst_c, worst_s;
  for (double angle : Angles(0x5eed0001, 200000)) {
    const CosSin result = SinCos(angle);
    worst_c.Note(ErrorInUlp(result.c, Real(cos(Real(angle)))), angle);
    worst_s.Note(ErrorInUlp(result.s, Real(sin(Real(angle)))), angle);
  }
  EXPECT_LT(worst_c.error, kBound) << Code(worst_c.angle);
  EXPECT_LT(worst_s.error, kBound) << Code(worst_s.angle);
  RecordProperty("worst_cos_ulp", std::to_string(worst_c.error));
  RecordProperty("worst_sin_ulp", std::to_string(worst_s.error));
}

// The reference of the test above is itself good to far below an ulp.
TEST(SinCosTest, ReferenceAgreesWithTwiceItsPrecision) {
  for (double angle : Angles(0x5eed0002, 2000)) {
    const LongReal c = cos(LongReal(angle));
    const LongReal s = sin(LongReal(angle));
    EXPECT_LT(abs(LongReal(cos(Real(angle))) - c), abs(c) * 0x1p-80) << Code(angle);
    EXPECT_LT(abs(LongReal(sin(Real(angle))) - s), abs(s) * 0x1p-80 + 0x1p-1074) << Code(angle);
  }
}

// The hard angles: for every n, the doubles nearest to n pi/2. With d the distance, below
// 2^-32, the two functions are +-(d - d^3/6) and +-(1 - d^2/2), to d^4.
TEST(SinCosTest, ErrsByLessThanItsBoundAtEveryMultipleOfHalfPi) {
  const Real half_pi = boost::math::constants::half_pi<Real>();
  Worst worst_near_zero, worst_near_one;
  for (int n = 1; n <= kLastMultiple; ++n) {
    const Real multiple = n * half_pi;
    const double nearest = static_cast<double>(multiple);
    for (double angle : {std::nextafter(nearest, 0), nearest, std::nextafter(nearest, kMaxAngle)}) {
      const Real d = Real(angle) - multiple;
      const Real square = d * d;
      const Real odd = d - d * square / 6;
      const Real even = 1 - square / 2;
      const CosSin result = SinCos(angle);
      const bool is_odd = n % 2 != 0;  // the cosine is the one near 0
      const bool flips_c = n % 4 == 1 || n % 4 == 2;
      const bool flips_s = n % 4 == 2 || n % 4 == 3;
      const double c = flips_c ? -result.c : result.c;
      const double s = flips_s ? -result.s : result.s;
      worst_near_zero.Note(ErrorInUlp(is_odd ? c : s, odd), angle);
      worst_near_one.Note(ErrorInUlp(is_odd ? s : c, even), angle);
    }
  }
  EXPECT_LT(worst_near_zero.error, kBound) << Code(worst_near_zero.angle);
  EXPECT_LT(worst_near_one.error, kBound) << Code(worst_near_one.angle);
}

// Law (4): no accepted angle other than 0 is a multiple of pi/2, nor within 2^-61 of one.
TEST(SinCosTest, Law4NoDoubleIsNearAMultipleOfHalfPi) {
  const Real half_pi = boost::math::constants::half_pi<Real>();
  Real least = 1;
  int where = 0;
  for (int n = 1; n <= kLastMultiple; ++n) {
    const Real multiple = n * half_pi;
    const Real distance = abs(Real(static_cast<double>(multiple)) - multiple);
    if (distance < least) {
      least = distance;
      where = n;
    }
  }
  EXPECT_GT(least, 0x1p-61);
  EXPECT_LT(least, 0x1p-60);
  EXPECT_EQ(where, 29);
}

TEST(SinCosTest, TinyAnglesAreTheirOwnSine) {
  testing::Random random(0x5eed0003);
  for (int i = 0; i < 20000; ++i) {
    const double angle = std::ldexp(random.Unit(), -28 - static_cast<int>(random.Next() % 1060));
    const CosSin result = SinCos(-angle);
    EXPECT_EQ(result.c, 1) << Code(-angle);
    EXPECT_EQ(Bits(result.s), Bits(angle == 0 ? 0.0 : -angle)) << Code(-angle);
  }
}

TEST(SinCosTest, CosineIsEvenSineIsOddNothingIsZero) {
  for (double angle : Angles(0x5eed0004, 200000)) {
    if (angle == 0) continue;
    const CosSin plus = SinCos(angle);
    const CosSin minus = SinCos(-angle);
    ASSERT_EQ(Bits(plus.c), Bits(minus.c)) << Code(angle);
    ASSERT_EQ(Bits(plus.s), Bits(-minus.s)) << Code(angle);
    ASSERT_NE(plus.c, 0) << Code(angle);
    ASSERT_NE(plus.s, 0) << Code(angle);
    ASSERT_LE(std::abs(plus.c), 1) << Code(angle);
    ASSERT_LE(std::abs(plus.s), 1) << Code(angle);
  }
}

// Each square errs by less than 3.4 u of itself, u = 2^-53, and the sum by u.
TEST(SinCosTest, IsARotation) {
  for (double angle : Angles(0x5eed0005, 200000)) {
    const CosSin result = SinCos(angle);
    ASSERT_LT(std::abs(result.c * result.c + result.s * result.s - 1), 5 * 0x1p-53) << Code(angle);
  }
}

struct Golden {
  double angle;
  double c;
  double s;
};

// Exact values rounded to nearest, computed once at 400 bits.
constexpr Golden kGolden[] = {
    {0x1p-1074, 0x1p+0, 0x1p-1074},
    {0x1p-1022, 0x1p+0, 0x1p-1022},
    {0x1.fffffffffffffp-29, 0x1p+0, 0x1.fffffffffffffp-29},
    {0x1p-28, 0x1p+0, 0x1p-28},
    {0x1p-10, 0x1.fffff00000155p-1, 0x1.fffffaaaaaaefp-11},
    {0x1p-1, 0x1.c1528065b7d5p-1, 0x1.eaee8744b05fp-2},
    {0x1.921fb54442d18p-1, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1},
    {0x1.921fb54442d19p-1, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1},
    {0x1p+0, 0x1.14a280fb5068cp-1, 0x1.aed548f090ceep-1},
    {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, 0x1p+0},
    {0x1.2d97c7f3321d2p+1, -0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1},
    {0x1.921fb54442d18p+1, -0x1p+0, 0x1.1a62633145c07p-53},
    {0x1.921fb54442d18p+2, 0x1p+0, -0x1.1a62633145c07p-52},
    {0x1p+3, -0x1.29fbebf632f94p-3, 0x1.fa8d2a028cf7bp-1},
    {0x1.4p+4, 0x1.a1e043964a83fp-2, 0x1.d36d8f55d3cep-1},
    {0x1.6c6cbc45dc8dep+5, -0x1.6d61b58c99c43p-61, 0x1p+0},
    {0x1.9p+6, 0x1.b981dbf665fdfp-1, -0x1.03425b78c4db8p-1},
    {-0x1.e848p+13, 0x1.23c5b00debdcap-2, 0x1.eac6b2b0deb17p-1},
    {0x1.b47786da14321p+15, -0x1.5cd6c0f024fdep-1, -0x1.76c61ab183221p-1},
    {-0x1.6957190fa72bp+6, -0x1.6f2ac8a09af0bp-1, -0x1.64d6264849143p-1},
    {0x1.fffffffffffffp+19, 0x1.e33ada9352c61p-1, 0x1.526ccb2de52a8p-2},
    {-0x1p+20, 0x1.e33ada92fe2aep-1, -0x1.526ccb2fc8656p-2},
    {0x1.ffffc2f4c1f6ep+19, -0x1.a07b4015a3b16p-37, -0x1p+0},
};

TEST(SinCosTest, GoldenValues) {
  for (const Golden& golden : kGolden) {
    const CosSin result = SinCos(golden.angle);
    EXPECT_GE(result.c, std::nextafter(golden.c, -2)) << Code(golden.angle);
    EXPECT_LE(result.c, std::nextafter(golden.c, 2)) << Code(golden.angle);
    EXPECT_GE(result.s, std::nextafter(golden.s, -2)) << Code(golden.angle);
    EXPECT_LE(result.s, std::nextafter(golden.s, 2)) << Code(golden.angle);
  }
}

// Determinism: every compiler, optimisation level and machine gives these bits. A digest
// that changes means that answers change: that needs a changelog entry, not only another
// number here.
TEST(SinCosTest, GoldenDigest) {
  uint64_t digest = 0xcbf29ce484222325;  // FNV-1a over 64-bit words
  auto add = [&digest](double value) { digest = (digest ^ Bits(value)) * 0x100000001b3; };
  for (double angle : Angles(0x5eed0006, 100000)) {
    const CosSin result = SinCos(angle);
    add(angle);
    add(result.c);
    add(result.s);
  }
  EXPECT_EQ(digest, 0x97d3140044e35591u);
}

// The columns have the bits of `SinCos`, by every path of the vector code and for columns of every
// length.
TEST(SinCosTest, ColumnsHaveTheSameBits) {
  std::vector<double> angles = Angles(0x5eed0007, 1000000);
  for (const double angle :
       {0.0, -0.0, 0x1p-28, -0x1p-28, 0x1.fffffffffffffp-29, kMaxAngle, -kMaxAngle,
        std::nextafter(kMaxAngle, HUGE_VAL), HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    angles.push_back(angle);
  }
  std::vector<CosSin> want;
  for (const double angle : angles) want.push_back(SinCos(angle));
  testing::ForEachVectorPath([&] {
    std::vector<double> c(angles.size()), s(angles.size());
    for (size_t begin = 0, count = 0; begin < angles.size(); begin += count, ++count) {
      count = std::min(count % 2000, angles.size() - begin);
      internal::SinCosOfAll(std::span(angles).subspan(begin, count),
                            std::span(c).subspan(begin, count), std::span(s).subspan(begin, count));
    }
    for (size_t i = 0; i < angles.size() && !HasFailure(); ++i) {
      EXPECT_EQ(Bits(c[i]), Bits(want[i].c)) << Code(angles[i]);
      EXPECT_EQ(Bits(s[i]), Bits(want[i].s)) << Code(angles[i]);
    }
  });
}

}  // namespace
}  // namespace carom::sincos_test
