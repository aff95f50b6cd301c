// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The constants and exact forms that filters share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carom/geometry.h"
#include "numeric/expansion.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Half an ulp of 1: the relative error of one rounded operation.
inline constexpr double kUnit = 0x1p-53;

// Times these, what up to 12 rounded operations made of numbers that are not negative, by sums,
// products, quotients and roots, is at least, respectively at most, what exact ones make of them:
// (1 + 12u) / (1 - 12u) and the rounding of the product itself are within the rest.
inline constexpr double kUp = 1 + 32 * kUnit;
inline constexpr double kDown = 1 - 32 * kUnit;

// Filters compute in plain doubles, or pairs of them, and decide where their error cannot matter.
// In a library compiled with CAROM_NO_FILTERS none decides a sign, a comparison or a rounding: each
// of those takes the exact way, so the same bytes from it say that no filter errs. What boxes cull,
// and when a measure is computed by expansions, is as ever. `.ci/digest` compares.
#ifdef CAROM_NO_FILTERS
inline constexpr bool kHasFilters = false;
#else
inline constexpr bool kHasFilters = true;
#endif
// `kUnit` as filters count with it.
inline constexpr double kFilterUnit = kHasFilters ? kUnit : 1;

// Bounds |rounded - exact| of a cross (or dot) product of differences by this factor times the sum
// of the magnitudes of its two rounded products. Each product has three roundings (two differences,
// one product), the sum a fourth; Shewchuk's (3 + 16u)u covers them and the bound's own rounding.
inline constexpr double kCrossError = (3 + 16 * kFilterUnit) * kFilterUnit;

// A cross product as filters compute it: the difference of two rounded products, of two differences
// each. Of other products with at most three roundings each, likewise.
struct RoundedCross {
  RoundedCross(double left, double right)
      : value(left - right), magnitude(std::abs(left) + std::abs(right)) {}
  // (a - from_a) x (b - from_b).
  RoundedCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b)
      : RoundedCross((a.x - from_a.x) * (b.y - from_b.y), (a.y - from_a.y) * (b.x - from_b.x)) {}

  // |value - exact| is at most that.
  double error() const { return kCrossError * magnitude; }
  // Whether the sign is exact. A value of 0 without an error is: no product underflows, so both
  // are 0.
  bool is_certain() const { return std::abs(value) >= error(); }
  int sign() const { return (value > 0) - (value < 0); }

  double value;
  double magnitude;  // before the two cancel
};

// Two of them at a time. A lane of a comparison is all ones where it holds.
struct RoundedCrossLanes {
  RoundedCrossLanes(Double2 left, Double2 right)
      : value(left - right), magnitude(Abs(left) + Abs(right)) {}

  Double2 error() const { return kCrossError * magnitude; }
  Long2 is_certain() const { return Abs(value) > error(); }
  Long2 is_positive() const { return value > error(); }   // for certain
  Long2 is_negative() const { return -value > error(); }  // for certain

  Double2 value;
  Double2 magnitude;
};

// (a - from_a) x (b - from_b), exactly.
inline Expansion<16> ExactCross(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto left = Difference(a.x, from_a.x) * Difference(b.y, from_b.y);
  const auto right = Difference(a.y, from_a.y) * Difference(b.x, from_b.x);
  return left - right;
}

// (a - from_a) . (b - from_b), exactly.
inline Expansion<16> ExactDot(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b) {
  const auto x = Difference(a.x, from_a.x) * Difference(b.x, from_b.x);
  const auto y = Difference(a.y, from_a.y) * Difference(b.y, from_b.y);
  return x + y;
}

// The least double above x, and the greatest below it: std::nextafter, in a few instructions.
inline double NextAbove(double x) {
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  if (x == HUGE_VAL) return x;
  return std::bit_cast<double>(std::bit_cast<int64_t>(x) + (x > 0 ? 1 : -1));
}
inline double NextBelow(double x) { return -NextAbove(-x); }

inline int Sign(double value) { return (value > 0) - (value < 0); }

// The sign of (a - from_a) x (b - from_b), respectively of the dot product. Exact.
int CrossSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);
int DotSign(Vec2 from_a, Vec2 a, Vec2 from_b, Vec2 b);

}  // namespace carom::internal
