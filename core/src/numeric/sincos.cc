// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sine and cosine in plain double operations, so that every machine returns the same bits, with a
// proof of their error. `Reduce` subtracts the nearest multiple of pi/2 from the angle, and
// `Series` sums Taylor series for the remainder.
//
// Sources: the reduction subtracts pi/2 in parts, as Cody and Waite do, "Software Manual for the
// Elementary Functions" (1980). The alternative, Payne and Hanek's reduction (1983), handles angles
// of any size; for angles up to 2^20 the parts are precise enough and cost four products.
//
// Theorem. For |x| <= 2^20, in IEEE doubles rounded to nearest even, without contraction, the
// result (c, s) of SinCos(x) satisfies |c - cos x| < 0.6 ulp(cos x) and |s - sin x| < 0.6 ulp(sin
// x), where ulp is the ulp of the exact value. Let u = 2^-53, so that u |v| < ulp(v) <= 2 u |v|,
// let n be the integer that `Reduce` picks, and y the pair high + low that it returns.
//
// (1) |n| <= 667,544 < 2^20 and |x - n pi/2| <= pi/4 + 2^-32: the product x * 2/pi errs by at most
//     2^-32 * 2/pi, and its rounding to an integer by at most 1/2.
// (2) n * kHalfPiPart[0], n * kHalfPiPart[1] and n * kHalfPiPart[2] are exact: they are products of
// 33 bits and 20
//     bits. n * kHalfPiPart[3] errs by at most 2^-137, and n times the part of pi/2 beyond
//     kHalfPiPart is below 2^-140.
// (3) x - n * kHalfPiPart[0] is exact: for n != 0 both terms are multiples of 2^-53, and the
// difference
//     is below 1. The next two sums keep their rounding errors in `low`; the error of the first sum
//     is 0 if its result is below 2^-12, because the result is a multiple of 2^-65. So high + low
//     errs by less than 2^-103 |high| + 2^-135.
// (4) For n != 0, |x - n pi/2| > 2^-61; the least value is 2^-60.5, at n = 29 (a test visits all
//     n). So high + low errs by less than 2^-73 of itself. Also |low| <= u |high|.
// (5) The series of sine and cosine alternate with decreasing terms, so the truncation error is
//     below the first omitted term: y^19/19! < 2^-63 |y| for the sine, y^20/20! < 2^-68 for the
//     cosine.
// (6) Sine. The pair y - y^3/6 errs by 2^-100 |y|. The tail of the series is below 0.0032 |y| and
//     errs by at most 7.1 u of itself. low contributes at most u |y|; of its factor cos y, the code
//     uses 1 - y^2/2 and misses less than 0.016. Two sums round by u * 0.0032 |y|. The errors add
//     up to less than 0.046 u |y|, which is below 0.06 ulp because |y| < 1.12 |sin y|. The last sum
//     rounds by 1/2 ulp.
// (7) Cosine. The pair 1 - y^2/2 errs by 2^-100. In y^4 * tail, where z is the rounded y^2 and tail
//     is `cos_tail` in `Series`, z * z errs by 0.87 u and tail, which is below 1/24, errs by 0.055
//     u: together (0.87/24 + 0.055 * 0.39) u. The product z * z * tail and two sums are below 2^-6
//     and round by 2^-60 each; the term of low misses 0.003 u. The errors add up to less than 0.09
//     u, which is 0.09 ulp for cos y in [1/2, 1). The last sum rounds by 1/2 ulp.
// (8) A last sum that rounds into another binade errs no more than within its own: binades end at
//     doubles.
//
// The largest errors found are 0.52 ulp for sin y and 0.57 ulp for cos y.

#include "carom/sincos.h"

#include <cfloat>
#include <cmath>
#include <cstddef>

#include "numeric/expansion.h"
#include "numeric/sincos_parts.h"

namespace carom {
namespace {

using internal::FastTwoSum;
using internal::kCosTail;
using internal::kHalfPiPart;
using internal::kRounder;
using internal::kSinTail;
using internal::kSixth;
using internal::kTwoOverPi;
using internal::TwoDoubles;
using internal::TwoProduct;
using internal::TwoSum;

static_assert(FLT_EVAL_METHOD == 0, "each operation is rounded to double, once");

struct Reduced {
  // The rest x - n pi/2 of the angle x, as a pair of doubles. Steps (1) to (4) of the proof at the
  // top of the file bound its error.
  TwoDoubles y;
  int quadrant;  // n mod 4, with n the integer nearest to x / (pi/2)
};

Reduced Reduce(double x) {
  const double n = (x * kTwoOverPi + kRounder) - kRounder;
  const TwoDoubles first = TwoSum(x - n * kHalfPiPart[0], -(n * kHalfPiPart[1]));
  const TwoDoubles second = TwoSum(first.high, -(n * kHalfPiPart[2]));
  const double rest = (first.low + second.low) - n * kHalfPiPart[3];
  return {FastTwoSum(second.high, rest), static_cast<int>(n) & 3};
}

// Returns the polynomial with these coefficients, the constant first, by Horner's rule.
template <size_t kCount>
double Polynomial(const double (&coefficients)[kCount], double z) {
  double sum = coefficients[kCount - 1];
  for (size_t i = kCount - 1; i-- > 0;) sum = coefficients[i] + z * sum;
  return sum;
}

// Returns sin and cos of y.high + y.low, with the errors that steps (5) to (7) of the proof at the
// top of the file bound.
CosSin Series(TwoDoubles y) {
  const TwoDoubles square = TwoProduct(y.high, y.high);
  const double z = square.high;

  // `cubic.high` + `cubic_low` is y^3/6 as a pair.
  const TwoDoubles cube = TwoProduct(y.high, z);
  const TwoDoubles cubic = TwoProduct(cube.high, kSixth);
  const double cubic_low =
      cubic.low + ((cube.low + y.high * square.low) * kSixth + cube.high * (kSixth * 0x1p-54));
  const double sin_tail = Polynomial(kSinTail, z);
  const TwoDoubles sin_head = FastTwoSum(y.high, -cubic.high);
  const double sin_rest =
      (sin_head.low - cubic_low) + (cube.high * z * sin_tail + y.low * (1 - 0.5 * z));

  const double cos_tail = Polynomial(kCosTail, z);
  const TwoDoubles cos_head = FastTwoSum(1, -0.5 * z);
  const double cos_rest =
      (cos_head.low - 0.5 * square.low) + (z * z * cos_tail - y.low * (y.high - cubic.high));

  return {cos_head.high + cos_rest, sin_head.high + sin_rest};
}

}  // namespace

CosSin SinCos(double radians) {
  if (!(radians >= -kMaxAngle && radians <= kMaxAngle)) return {};
  // For a tiny angle, the sine is the angle itself; adding 0 turns -0 into 0. The sine and the
  // cosine of an angle that is not tiny are never 0, because no double except 0 is a multiple of
  // pi/2.
  if (std::abs(radians) < internal::kTinyAngle) return {1, radians + 0.0};
  const Reduced reduced = Reduce(radians);
  const CosSin y = Series(reduced.y);
  switch (reduced.quadrant) {
    case 0:
      return y;
    case 1:
      return {-y.s, y.c};
    case 2:
      return {-y.c, -y.s};
    default:
      return {y.s, -y.c};
  }
}

}  // namespace carom
