// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Numbers with a bound of their error: the filters before exact arithmetic.
//
// A `Bounded` has `value` and `error` with |exact - value| <= error. There are two precisions: a
// `BoundedDouble`, and, where a double rarely decides, a `BoundedPair` of doubles (Dekker 1971). An
// error that is not finite says nothing, and no sign is certain then. Pure functions, O(1).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "carom/geometry.h"
#include "numeric/double_double.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"

namespace carom::internal {

template <class T>
struct Bounded {
  T value{};
  double error = 0;

  // To the nearest double.
  double rounded() const {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return value.high;
    }
  }
  double magnitude() const { return std::abs(rounded()); }
  // Whether the sign of `value` is that of the exact number.
  bool exceeds_error() const { return error == 0 || magnitude() > 2 * error; }
  // The same as a filter, which decides nothing in a library without them.
  bool is_certain() const { return error == 0 || (kHasFilters && exceeds_error()); }
  int sign() const { return Sign(rounded()); }
  // Whether the exact number is certainly 0.
  bool is_zero() const { return rounded() == 0 && error == 0; }
  bool may_be_zero() const { return is_zero() || !is_certain(); }
  // Rounded outward; NaN where nothing is known.
  double low() const { return std::nextafter(rounded() - error, -HUGE_VAL); }
  double high() const { return std::nextafter(rounded() + error, HUGE_VAL); }
};

using BoundedDouble = Bounded<double>;
using BoundedPair = Bounded<TwoDoubles>;

template <class T>
Bounded<T> operator-(const Bounded<T>& a, const Bounded<T>& b) {
  return a + (-b);
}

// --- BoundedDouble ----------------------------------------------------------------------------
//
// Each operation adds its own rounding, u |value|, to what its operands pass on; the factor
// kOutward covers the roundings of the error itself (at most six of relative size u), and kTiny
// what may underflow.

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

// --- BoundedPair ------------------------------------------------------------------------------
//
// The relative errors of the operations themselves are below 2^-104 (sum), 2^-103 (product), 2^-102
// (root) and 2^-101 (quotient); each is counted as 2^-100, which also covers the rounding of the
// bound. Nothing overflows or underflows for polynomials of accepted coordinates up to degree 4.

inline constexpr double kPairError = 0x1p-100;

inline BoundedPair ExactDifference(double a, double b) { return {TwoDiff(a, b), 0}; }
inline BoundedPair ExactValue(double a) { return {{a, 0}, 0}; }

template <int N>
BoundedPair ToBoundedPair(const Expansion<N>& a) {
  const TwoDoubles value = Leading(a);
  return {value, kPairError * std::abs(value.high)};
}

inline BoundedPair operator-(BoundedPair a) { return {{-a.value.high, -a.value.low}, a.error}; }

inline BoundedPair operator+(const BoundedPair& a, const BoundedPair& b) {
  return {Add(a.value, b.value), a.error + b.error + kPairError * (a.magnitude() + b.magnitude())};
}

inline BoundedPair operator*(const BoundedPair& a, const BoundedPair& b) {
  const TwoDoubles value = Multiply(a.value, b.value);
  return {value,
          (a.magnitude() * b.error + b.magnitude() * a.error + a.error * b.error) * (1 + 0x1p-40) +
              kPairError * std::abs(value.high)};
}

// The root of a number that is not negative; one Newton step from the rounded root. With v the
// pair and e its error, |sqrt(x) - sqrt(v)| <= e / sqrt(v); and x <= v + e where v may be 0.
inline BoundedPair SquareRoot(const BoundedPair& a) {
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

// The least double not below value - error (`side` -1) or value + error (1), or above it by 2^-98
// of itself at most. The error is made larger by 2^-40 of itself, which covers the rounding of the
// bound and its sum.
inline double RoundedUpEnd(const BoundedPair& t, int side) {
  const double error = (t.error + kPairError * t.magnitude()) * (1 + 0x1p-40);
  const TwoDoubles tail = TwoSum(t.value.low, side * error);
  const TwoDoubles sum = TwoSum(t.value.high, tail.high);
  return sum.low > 0 ? NextAbove(sum.high) : sum.high;
}

// Sets the double nearest to a number that errs by `slack` more, if that is certain.
inline bool RoundToNearest(const BoundedPair& t, double slack, double& rounded) {
  const double error = (t.error + slack) * (1 + 0x1p-40);
  const double least = t.value.high + (t.value.low - error) + 0.0;
  rounded = t.value.high + (t.value.low + error) + 0.0;
  return kHasFilters && least == rounded;
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
