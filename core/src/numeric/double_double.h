// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Pairs of doubles: twice the precision, for measures.
//
// The unevaluated sum high + low with |low| <= ulp(high) / 2 (Dekker, "A Floating-Point Technique
// for Extending the Available Precision", 1971). Each operation errs by less than 2^-100 of its
// result, an `Add` of terms of unlike signs by less than 2^-100 of the sum of their magnitudes.
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

// Two quotients of one digit each; b is not 0.
inline TwoDoubles Divide(TwoDoubles a, TwoDoubles b) {
  const double quotient = a.high / b.high;
  const TwoDoubles rest = Subtract(a, Multiply({quotient, 0}, b));
  return FastTwoSum(quotient, rest.high / b.high);
}

// One Newton step from the rounded root; a >= 0.
inline TwoDoubles SquareRoot(TwoDoubles a) {
  if (a.high == 0) return {0, 0};
  const double root = std::sqrt(a.high);
  const TwoDoubles square = TwoProduct(root, root);
  const double residual = ((a.high - square.high) - square.low) + a.low;
  return FastTwoSum(root, residual / (2 * root));
}

// The value of an expansion, within 2^-100 of itself: its components do not overlap.
template <int N>
TwoDoubles Leading(const Expansion<N>& a) {
  TwoDoubles sum{0, 0};
  for (int i = 0; i < a.size; ++i) {
    const TwoDoubles high = FastTwoSum(a.part[i], sum.high);
    sum = FastTwoSum(high.high, high.low + sum.low);
  }
  return sum;
}

// The least part of the magnitudes of two products that their sum or difference is, where that is
// not computed exactly: each product is within 2^-100 of itself, so it is within 2^-99 / part of
// itself. Enough for distances, which radii may cancel, and for what is only rounded.
inline constexpr double kLargePart = 0x1p-2;
inline constexpr double kSmallPart = 0x1p-30;

inline bool IsPart(double part, TwoDoubles sum, TwoDoubles a, TwoDoubles b) {
  return std::abs(sum.high) >= part * (std::abs(a.high) + std::abs(b.high));
}

// (a - from_a) x (b - from_b), within 2^-99 / part of itself.
inline TwoDoubles PairCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b, double part = kLargePart) {
  const TwoDoubles left = Multiply(TwoDiff(a.x, from_a.x), TwoDiff(b.y, from_b.y));
  const TwoDoubles right = Multiply(TwoDiff(a.y, from_a.y), TwoDiff(b.x, from_b.x));
  const TwoDoubles cross = Subtract(left, right);
  return IsPart(part, cross, left, right) ? cross : Leading(ExactCross(from_a, a, from_b, b));
}

// (a - from_a) . (b - from_b), likewise.
inline TwoDoubles PairDot(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b, double part = kLargePart) {
  const TwoDoubles left = Multiply(TwoDiff(a.x, from_a.x), TwoDiff(b.x, from_b.x));
  const TwoDoubles right = Multiply(TwoDiff(a.y, from_a.y), TwoDiff(b.y, from_b.y));
  const TwoDoubles dot = Add(left, right);
  return IsPart(part, dot, left, right) ? dot : Leading(ExactDot(from_a, a, from_b, b));
}

// |b - a|.
inline TwoDoubles PairLength(Vec2 a, Vec2 b) { return SquareRoot(PairDot(a, b, a, b)); }

}  // namespace carom::internal
