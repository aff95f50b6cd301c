// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The error bounds, the rounded cross product and the exact products that all floating-point
// filters use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carom/geometry.h"
#include "numeric/expansion.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Half an ulp of 1, called u in error bounds: the largest relative error of one rounded operation.
inline constexpr double kUnit = 0x1p-53;

// Factors that turn a rounded result into a bound. Let a result be computed by up to 12 rounded
// sums, products, quotients and roots of numbers that are not negative. The result times kUp is at
// least the exact result, and the result times kDown is at most the exact result. With u = kUnit,
// 32u covers (1 + 12u) / (1 - 12u) and the rounding of the product with the factor.
inline constexpr double kUp = 1 + 32 * kUnit;
inline constexpr double kDown = 1 - 32 * kUnit;

// Whether the library uses floating-point filters. Filters compute in doubles or pairs of doubles,
// and decide only where their error cannot matter. In a library compiled with CAROM_NO_FILTERS, no
// filter decides a sign, a comparison or a rounding: exact arithmetic does. The script `.ci/digest`
// compares the results of that library with those of the library with filters: if all bytes are
// equal, no filter errs. CAROM_NO_FILTERS changes neither the culling by bounding boxes nor the
// choice of which measures (distances, points) are computed by expansions.
#ifdef CAROM_NO_FILTERS
inline constexpr bool kHasFilters = false;
#else
inline constexpr bool kHasFilters = true;
#endif
// The unit roundoff that filters use in their error bounds. In a library without filters it is 1,
// which makes each bound so large that no filter decides.
inline constexpr double kFilterUnit = kHasFilters ? kUnit : 1;

// The factor of the error bound of a rounded cross (or dot) product of differences: |rounded -
// exact| is at most this factor times the sum of the magnitudes of the two rounded products. Each
// product has three roundings (two differences and one product), and the final sum is a fourth;
// with u = 2^-53, Shewchuk's factor (3 + 16u)u covers them and the rounding of the bound itself.
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
  // Returns true if the sign of `value` is certainly the exact sign. If `value` and the error are
  // both 0, both products are 0 and `value` is exact, because products of differences of accepted
  // coordinates (0 or a magnitude in [2^-140, 2^53]) do not underflow.
  bool is_certain() const { return std::abs(value) >= error(); }
  int sign() const { return (value > 0) - (value < 0); }

  double value;
  double magnitude;  // the sum of the magnitudes of both products, before they cancel
};

// Two rounded cross products (`RoundedCross`) at a time, one in each SIMD lane. In a result of a
// comparison, a lane is all ones where the comparison holds.
struct RoundedCrossLanes {
  RoundedCrossLanes(Double2 left, Double2 right)
      : value(left - right), magnitude(Abs(left) + Abs(right)) {}

  Double2 error() const { return kCrossError * magnitude; }
  Long2 is_certain() const { return Abs(value) > error(); }
  Long2 is_positive() const { return value > error(); }   // the exact value is certainly above 0
  Long2 is_negative() const { return -value > error(); }  // the exact value is certainly below 0

  Double2 value;
  Double2 magnitude;
};

// Returns the cross product (a - from_a) x (b - from_b), exactly.
inline Expansion<16> ExactCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto left = Difference(a.x, from_a.x) * Difference(b.y, from_b.y);
  const auto right = Difference(a.y, from_a.y) * Difference(b.x, from_b.x);
  return left - right;
}

// Returns the dot product (a - from_a) . (b - from_b), exactly.
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

// Return the sign of the cross product (a - from_a) x (b - from_b), and of the dot product (a -
// from_a) . (b - from_b). Exact.
int CrossSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);
int DotSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);

}  // namespace carom::internal
