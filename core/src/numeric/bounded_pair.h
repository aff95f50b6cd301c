// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Pairs of doubles with a bound of their error: the filter before exact arithmetic where plain
// doubles (`BoundedDouble` of numeric/bounded_double.h) rarely decide.
//
// A `BoundedPair` is a pair of doubles (Dekker 1971) and a bound of its distance from the exact
// value. The relative errors of the operations themselves are below 2^-104 (sum), 2^-103 (product),
// 2^-102 (root) and 2^-101 (quotient); each is counted as 2^-100, which also covers the rounding of
// the bound. Nothing overflows or underflows for polynomials of accepted coordinates up to
// degree 4.
#pragma once

#include <cmath>
#include <limits>

#include "carom/geometry.h"
#include "numeric/double_double.h"

namespace carom::internal {

struct BoundedPair {
  TwoDoubles value{0, 0};
  double error = 0;

  double magnitude() const { return std::abs(value.high); }
  // Whether the sign of `value` is that of the exact number.
  bool is_certain() const { return error == 0 || (kHasFilters && magnitude() > 2 * error); }
  int sign() const { return (value.high > 0) - (value.high < 0); }
};

inline constexpr double kPairError = 0x1p-100;

inline BoundedPair ExactDifference(double a, double b) { return {TwoDiff(a, b), 0}; }
inline BoundedPair ExactValue(double a) { return {{a, 0}, 0}; }

inline BoundedPair operator-(BoundedPair a) { return {{-a.value.high, -a.value.low}, a.error}; }

inline BoundedPair operator+(const BoundedPair& a, const BoundedPair& b) {
  return {Add(a.value, b.value), a.error + b.error + kPairError * (a.magnitude() + b.magnitude())};
}
inline BoundedPair operator-(const BoundedPair& a, const BoundedPair& b) { return a + (-b); }

inline BoundedPair operator*(const BoundedPair& a, const BoundedPair& b) {
  const TwoDoubles value = Multiply(a.value, b.value);
  return {value,
          (a.magnitude() * b.error + b.magnitude() * a.error + a.error * b.error) * (1 + 0x1p-40) +
              kPairError * std::abs(value.high)};
}

// The root of a number that is not negative; one Newton step from the rounded root. With v the
// pair and e its error, |sqrt(x) - sqrt(v)| <= e / sqrt(v); and x <= v + e where v may be 0.
inline BoundedPair Root(const BoundedPair& a) {
  if (a.value.high <= 2 * a.error) {
    return {{0, 0}, std::sqrt(std::abs(a.value.high) + a.error) * (1 + 0x1p-40)};
  }
  const double root = std::sqrt(a.value.high);
  return {SquareRoot(a.value), a.error / root * (1 + 0x1p-40) + kPairError * root};
}

// Error infinite where the divisor may be 0.
inline BoundedPair operator/(const BoundedPair& a, const BoundedPair& b) {
  const double rest = b.magnitude() * (1 - 0x1p-40) - b.error;
  if (!(rest > 0)) return {{0, 0}, std::numeric_limits<double>::infinity()};
  const TwoDoubles value = Divide(a.value, b.value);
  const double magnitude = std::abs(value.high);
  return {value, (a.error + magnitude * b.error) / rest * (1 + 0x1p-40) + kPairError * magnitude};
}

struct BoundedPairVec2 {
  BoundedPair x;
  BoundedPair y;
};

inline BoundedPairVec2 ExactDifference(Vec2 a, Vec2 b) {
  return {ExactDifference(a.x, b.x), ExactDifference(a.y, b.y)};
}
inline BoundedPairVec2 ExactValue(Vec2 a) { return {ExactValue(a.x), ExactValue(a.y)}; }
inline BoundedPair Cross(const BoundedPairVec2& a, const BoundedPairVec2& b) {
  return a.x * b.y - a.y * b.x;
}
inline BoundedPair Dot(const BoundedPairVec2& a, const BoundedPairVec2& b) {
  return a.x * b.x + a.y * b.y;
}

}  // namespace carom::internal
