// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic in pairs of doubles, which have twice the precision of a double, for measured results
// such as distances and normals.
//
// A pair is the unevaluated sum high + low with |low| <= ulp(high) / 2 (Dekker, "A Floating-Point
// Technique for Extending the Available Precision", 1971). Each operation has a relative error
// below 2^-100; the error of an `Add` of terms with unlike signs is below 2^-100 of the sum of
// their magnitudes.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

inline TwoDoubles Multiply(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles product = TwoProduct(a.high, b.high);
  return FastTwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline TwoDoubles Add(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles high = TwoSum(a.high, b.high);
  const TwoDoubles low = TwoSum(a.low, b.low);
  const TwoDoubles sum = FastTwoSum(high.high, high.low + low.high);
  return FastTwoSum(sum.high, sum.low + low.low);
}

inline TwoDoubles Subtract(TwoDoubles a, TwoDoubles b) { return Add(a, {-b.high, -b.low}); }

// Returns a / b for b != 0: the rounded quotient of the high parts, plus the rounded quotient of
// the remainder a - quotient * b and b.
inline TwoDoubles Divide(TwoDoubles a, TwoDoubles b) {
  const double quotient = a.high / b.high;
  const TwoDoubles rest = Subtract(a, Multiply({quotient, 0}, b));
  return FastTwoSum(quotient, rest.high / b.high);
}

// Returns the square root of a >= 0, by one Newton step from the square root of the high part.
inline TwoDoubles SquareRoot(TwoDoubles a) {
  if (a.high == 0) return {0, 0};
  const double root = std::sqrt(a.high);
  const TwoDoubles square = TwoProduct(root, root);
  const double residual = ((a.high - square.high) - square.low) + a.low;
  return FastTwoSum(root, residual / (2 * root));
}

// Returns the value of an expansion with a relative error of at most 2^-100. The components of an
// expansion do not overlap, so summing them in order of increasing magnitude keeps the leading
// bits.
template <int N>
TwoDoubles LeadingPair(const Expansion<N>& a) {
  TwoDoubles sum{0, 0};
  for (int i = 0; i < a.size; ++i) {
    const TwoDoubles high = FastTwoSum(a.part[i], sum.high);
    sum = FastTwoSum(high.high, high.low + sum.low);
  }
  return sum;
}

// `PairCross` and `PairDot` compute in pairs of doubles and fall back to expansions if their two
// products cancel: if the result is below `min_ratio` times the sum of the magnitudes of the
// products. Each product has a relative error of 2^-100, so the result has a relative error of at
// most 2^-99 / min_ratio. kLargeMinRatio is for distances from which radii may be subtracted,
// kSmallMinRatio for results that are only rounded to doubles.
inline constexpr double kLargeMinRatio = 0x1p-2;
inline constexpr double kSmallMinRatio = 0x1p-30;

inline bool HasMinRatio(double min_ratio, TwoDoubles sum, TwoDoubles a, TwoDoubles b) {
  return std::abs(sum.high) >= min_ratio * (std::abs(a.high) + std::abs(b.high));
}

// Returns the cross product (a - from_a) x (b - from_b), with a relative error of at most 2^-99 /
// min_ratio.
inline TwoDoubles PairCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b,
                            double min_ratio = kLargeMinRatio) {
  const TwoDoubles left = Multiply(TwoDiff(a.x, from_a.x), TwoDiff(b.y, from_b.y));
  const TwoDoubles right = Multiply(TwoDiff(a.y, from_a.y), TwoDiff(b.x, from_b.x));
  const TwoDoubles cross = Subtract(left, right);
  return HasMinRatio(min_ratio, cross, left, right) ? cross
                                                    : LeadingPair(ExactCross(from_a, a, from_b, b));
}

// Returns the dot product (a - from_a) . (b - from_b), with a relative error of at most 2^-99 /
// min_ratio.
inline TwoDoubles PairDot(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b,
                          double min_ratio = kLargeMinRatio) {
  const TwoDoubles left = Multiply(TwoDiff(a.x, from_a.x), TwoDiff(b.x, from_b.x));
  const TwoDoubles right = Multiply(TwoDiff(a.y, from_a.y), TwoDiff(b.y, from_b.y));
  const TwoDoubles dot = Add(left, right);
  return HasMinRatio(min_ratio, dot, left, right) ? dot
                                                  : LeadingPair(ExactDot(from_a, a, from_b, b));
}

// Returns |b - a|, the distance of the two points.
inline TwoDoubles PairLength(Vec2 a, Vec2 b) { return SquareRoot(PairDot(a, b, a, b)); }

}  // namespace carom::internal
