// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The error bounds, the rounded cross product and the exact products that all filters use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carom/geometry.h"
#include "numeric/expansion.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Half an ulp of 1: the largest relative error of one rounded operation.
inline constexpr double kUnit = 0x1p-53;

// Factors that turn a rounded result into a bound. Let a result be computed by up to 12 rounded
// sums, products, quotients and roots of numbers that are not negative. Times kUp it is at least
// the exact result, times kDown at most: 32u covers (1 + 12u) / (1 - 12u) and the rounding of the
// product with the factor.
inline constexpr double kUp = 1 + 32 * kUnit;
inline constexpr double kDown = 1 - 32 * kUnit;

// Filters compute in doubles or pairs of doubles, and decide only where their error cannot matter.
// In a library compiled with CAROM_NO_FILTERS, no filter decides a sign, a comparison or a
// rounding: exact arithmetic does. If that library gives the same bytes, no filter errs;
// `.ci/digest` compares the two. Culling by boxes, and the choice of the measures that expansions
// compute, do not depend on CAROM_NO_FILTERS.
#ifdef CAROM_NO_FILTERS
inline constexpr bool kHasFilters = false;
#else
inline constexpr bool kHasFilters = true;
#endif
// The value of `kUnit` in the error bounds of filters. Without filters it is 1, which makes each
// bound too large to decide.
inline constexpr double kFilterUnit = kHasFilters ? kUnit : 1;

// |rounded - exact| of a cross (or dot) product of differences is at most this factor times the sum
// of the magnitudes of its two rounded products. Each product has three roundings (two differences
// and one product), and the sum is a fourth; Shewchuk's (3 + 16u)u covers them and the rounding of
// the bound itself.
inline constexpr double kCrossError = (3 + 16 * kFilterUnit) * kFilterUnit;

// A cross product as filters compute it: the difference of two rounded products, each of two
// rounded differences. Any difference of two products with at most three roundings each has the
// same error bound.
struct RoundedCross {
  RoundedCross(double left, double right)
      : value(left - right), magnitude(std::abs(left) + std::abs(right)) {}
  // Computes (a - from_a) x (b - from_b).
  RoundedCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b)
      : RoundedCross((a.x - from_a.x) * (b.y - from_b.y), (a.y - from_a.y) * (b.x - from_b.x)) {}

  // |value - exact| is at most this error.
  double error() const { return kCrossError * magnitude; }
  // Returns true if the sign of `value` is exact. A value of 0 with an error of 0 is exact, because
  // no product underflows: both products are then 0.
  bool is_certain() const { return std::abs(value) >= error(); }
  int sign() const { return (value > 0) - (value < 0); }

  double value;
  double magnitude;  // the sum of the magnitudes of both products, before they cancel
};

// Two `RoundedCross` at a time. A lane of a comparison is all ones where the comparison holds.
struct RoundedCrossLanes {
  RoundedCrossLanes(Double2 left, Double2 right)
      : value(left - right), magnitude(Abs(left) + Abs(right)) {}

  Double2 error() const { return kCrossError * magnitude; }
  Long2 is_certain() const { return Abs(value) > error(); }
  Long2 is_positive() const { return value > error(); }   // certainly positive
  Long2 is_negative() const { return -value > error(); }  // certainly negative

  Double2 value;
  Double2 magnitude;
};

// Returns (a - from_a) x (b - from_b), exactly.
inline Expansion<16> ExactCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto left = Difference(a.x, from_a.x) * Difference(b.y, from_b.y);
  const auto right = Difference(a.y, from_a.y) * Difference(b.x, from_b.x);
  return left - right;
}

// Returns (a - from_a) . (b - from_b), exactly.
inline Expansion<16> ExactDot(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto x = Difference(a.x, from_a.x) * Difference(b.x, from_b.x);
  const auto y = Difference(a.y, from_a.y) * Difference(b.y, from_b.y);
  return x + y;
}

// Return the least double above x and the greatest double below x, as std::nextafter does, but in a
// few instructions.
inline double NextAbove(double x) {
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  if (x == HUGE_VAL) return x;
  return std::bit_cast<double>(std::bit_cast<int64_t>(x) + (x > 0 ? 1 : -1));
}
inline double NextBelow(double x) { return -NextAbove(-x); }

inline int Sign(double value) { return (value > 0) - (value < 0); }

// Return the sign of the cross product (a - from_a) x (b - from_b), and of the dot product. Exact.
int CrossSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);
int DotSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);

}  // namespace carom::internal
