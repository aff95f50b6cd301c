// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Doubles with a bound of their error: the filter before exact arithmetic. Where a plain double
// rarely decides, a pair does (numeric/bounded_pair.h).
//
// A `BoundedDouble` holds `value` and `error` with |exact - value| <= error. Each operation adds
// its own rounding, u |value|, to what its operands pass on; the factor kOutward covers the
// roundings of the error itself (at most six of relative size u), and kTiny what may underflow. An
// error that is not finite says nothing, and no sign is certain then. Pure functions, O(1).
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

struct BoundedDouble {
  double value = 0;
  double error = 0;

  bool is_zero() const { return value == 0 && error == 0; }
  bool may_be_zero() const { return !(std::abs(value) > error); }
  // -1 or 1 where certain, else 0.
  int sign() const { return may_be_zero() ? 0 : (value > 0 ? 1 : -1); }
  // Rounded outward; NaN where nothing is known.
  double low() const { return std::nextafter(value - error, -HUGE_VAL); }
  double high() const { return std::nextafter(value + error, HUGE_VAL); }
};

inline constexpr double kOutward = 1 + 16 * kFilterUnit;
inline constexpr double kTiny = 0x1p-1060;

// a - b, where the rounding is known exactly.
inline BoundedDouble BoundedDifference(double a, double b) {
  const TwoDoubles difference = TwoDiff(a, b);
  return {difference.high, std::abs(difference.low)};
}

inline BoundedDouble operator-(BoundedDouble a) { return {-a.value, a.error}; }

inline BoundedDouble operator+(BoundedDouble a, BoundedDouble b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const double sum = a.value + b.value;
  return {sum, (a.error + b.error + kFilterUnit * std::abs(sum)) * kOutward};
}

inline BoundedDouble operator-(BoundedDouble a, BoundedDouble b) { return a + (-b); }

inline BoundedDouble operator*(BoundedDouble a, BoundedDouble b) {
  if (a.is_zero() || b.is_zero()) return {};
  const double product = a.value * b.value;
  const double passed =
      std::abs(a.value) * b.error + a.error * std::abs(b.value) + a.error * b.error;
  return {product, (passed + kFilterUnit * std::abs(product)) * kOutward + kTiny};
}

// |a/b - a'/b'| <= (a.error + |a'/b'| b.error) / (|b'| - b.error).
inline BoundedDouble operator/(BoundedDouble a, BoundedDouble b) {
  if (b.may_be_zero()) return {0, HUGE_VAL};
  if (a.is_zero()) return {};
  const double quotient = a.value / b.value;
  const double divisor = (std::abs(b.value) - b.error) * (1 - 4 * kFilterUnit);
  if (!(divisor > 0)) return {0, HUGE_VAL};
  const double passed = (a.error + std::abs(quotient) * b.error) / divisor;
  return {quotient, (passed + 2 * kFilterUnit * std::abs(quotient)) * kOutward + kTiny};
}

// The root of a number that is not negative, whatever its bound says. |sqrt a - sqrt a'| is at most
// |a - a'| / sqrt a', and where a' is not above its error, both are at most sqrt(2 error).
inline BoundedDouble SquareRoot(BoundedDouble a) {
  if (a.is_zero()) return {};
  if (a.value > a.error) {
    const double root = std::sqrt(a.value);
    return {root, (a.error / root + kFilterUnit * root) * kOutward + kTiny};
  }
  const double most = std::sqrt(std::max(a.value, 0.0) + a.error) * kOutward + kTiny;
  return {most / 2, most / 2 * kOutward};
}

// A number in [low, high].
inline BoundedDouble Within(double low, double high) {
  const double middle = low + (high - low) / 2;
  return {middle, std::max(high - middle, middle - low) * kOutward};
}

}  // namespace carom::internal
