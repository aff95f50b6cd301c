// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures of contacts in pairs of doubles.
//
// A pair is an unevaluated sum with |low| <= ulp(high) / 2. Each operation errs by less than 2^-100
// of its result (Dekker 1971), so a quotient of exact terms and a root, rounded once, is within 1
// ulp. Magnitudes of accepted coordinates keep every step clear of overflow and underflow.
#pragma once

#include <cmath>

#include "carom/geometry.h"
#include "exact.h"
#include "expansion.h"

namespace carom::internal {

inline TwoDoubles PairSum(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles high = TwoSum(a.high, b.high);
  const TwoDoubles low = TwoSum(a.low, b.low);
  const TwoDoubles sum = FastTwoSum(high.high, high.low + low.high);
  return FastTwoSum(sum.high, sum.low + low.low);
}

inline TwoDoubles PairProduct(TwoDoubles a, TwoDoubles b) {
  const TwoDoubles product = TwoProduct(a.high, b.high);
  return FastTwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// b is not 0.
inline TwoDoubles PairQuotient(TwoDoubles a, TwoDoubles b) {
  const double quotient = a.high / b.high;
  const TwoDoubles back = PairProduct({quotient, 0}, b);
  const double rest = ((a.high - back.high) - back.low) + a.low;
  return FastTwoSum(quotient, rest / b.high);
}

// a >= 0.
inline TwoDoubles PairRoot(TwoDoubles a) {
  if (a.high == 0) return {0, 0};
  const double root = std::sqrt(a.high);
  const TwoDoubles square = TwoProduct(root, root);
  const double rest = ((a.high - square.high) - square.low) + a.low;
  return FastTwoSum(root, rest / (2 * root));
}

// The value of an expansion within 2^-100 of itself.
template <int N>
TwoDoubles PairOf(const Expansion<N>& value) {
  const double rounded = value.estimate();
  if (rounded == 0) return {0, 0};
  const Expansion<1> high{{rounded}, 1};
  return FastTwoSum(rounded, (value - high).estimate());
}

// (a - from_a) x (b - from_b).
inline TwoDoubles PairCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  return PairOf(ExactCross(from_a, a, from_b, b));
}

// (a - from_a) . (b - from_b).
inline TwoDoubles PairDot(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto x = Difference(a.x, from_a.x) * Difference(b.x, from_b.x);
  const auto y = Difference(a.y, from_a.y) * Difference(b.y, from_b.y);
  return PairOf(x + y);
}

// |b - a|.
inline TwoDoubles PairLength(Vec2 a, Vec2 b) { return PairRoot(PairDot(a, b, a, b)); }

}  // namespace carom::internal
