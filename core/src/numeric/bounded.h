// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Numbers with a bound on their rounding error. Floating-point filters compute with them, and fall
// back to exact arithmetic where the bound leaves a sign undecided.
//
// A `Bounded` holds a `value` and an `error` with |exact - value| <= error. There are two
// precisions: `BoundedDouble` computes in doubles, and `BoundedPair` in pairs of doubles (the
// unevaluated sum of a high and a low part, Dekker 1971), for signs that plain doubles rarely
// decide. An `error` that is not finite bounds nothing, and no sign is then certain. All functions
// are pure and O(1).
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

// A number with a bound on its rounding error: the exact number is within `error` of `value`, a
// double or a pair of doubles. An error that is not finite bounds nothing.
template <class T>
struct Bounded {
  T value{};
  double error = 0;

  // Returns the double nearest to `value`.
  double rounded() const {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return value.high;
    }
  }
  double magnitude() const { return std::abs(rounded()); }
  // Returns true if the sign of `value` is certainly the sign of the exact number.
  bool exceeds_error() const { return error == 0 || magnitude() > 2 * error; }
  // Returns `exceeds_error()`. In a library that is compiled without filters (CAROM_NO_FILTERS),
  // returns true only if `error` is 0, so that exact arithmetic decides all other signs.
  bool is_certain() const { return error == 0 || (kHasFilters && exceeds_error()); }
  int sign() const { return Sign(rounded()); }
  // Returns true if the exact number is certainly 0.
  bool is_zero() const { return rounded() == 0 && error == 0; }
  bool may_be_zero() const { return is_zero() || !is_certain(); }
  // Return a lower and an upper bound of the exact number, rounded outward; infinite or NaN if
  // `error` is not finite.
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
// The error of each operation is its own rounding error, u |value| with u = 2^-53 (kFilterUnit),
// plus the error that the operands propagate. The factor kOutward covers the roundings of the error
// itself (at most six, each of relative size u), and kTiny covers the error of results that
// underflow.

inline constexpr double kOutward = 1 + 16 * kFilterUnit;
inline constexpr double kTiny = 0x1p-1060;

// Returns a - b for exact doubles a and b. The error is the exact rounding error of the difference.
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
  const double propagated =
      std::abs(a.value) * b.error + a.error * std::abs(b.value) + a.error * b.error;
  return {product, (propagated + kFilterUnit * std::abs(product)) * kOutward + kTiny};
}

// Returns a / b, with an infinite error if b may be 0. Let a' and b' be the values of the operands,
// and a and b the exact numbers they approximate. Then |a/b - a'/b'| <= (a.error + |a'/b'| b.error)
// / (|b'| - b.error).
inline BoundedDouble operator/(BoundedDouble a, BoundedDouble b) {
  if (b.may_be_zero()) return {0, HUGE_VAL};
  if (a.is_zero()) return {};
  const double quotient = a.value / b.value;
  const double divisor = (std::abs(b.value) - b.error) * (1 - 4 * kFilterUnit);
  if (!(divisor > 0)) return {0, HUGE_VAL};
  const double propagated = (a.error + std::abs(quotient) * b.error) / divisor;
  return {quotient, (propagated + 2 * kFilterUnit * std::abs(quotient)) * kOutward + kTiny};
}

// Returns the square root. The exact number that the argument approximates must be at least 0; the
// value minus the error may be below 0. Let a' be the value and a the exact number. Then |sqrt a -
// sqrt a'| is at most |a - a'| / sqrt a'; and where a' <= a.error, both roots are at most sqrt(2
// a.error).
inline BoundedDouble SquareRoot(BoundedDouble a) {
  if (a.is_zero()) return {};
  if (a.value > a.error) {
    const double root = std::sqrt(a.value);
    return {root, (a.error / root + kFilterUnit * root) * kOutward + kTiny};
  }
  const double most = std::sqrt(std::max(a.value, 0.0) + a.error) * kOutward + kTiny;
  return {most / 2, most / 2 * kOutward};
}

// Returns the middle of the interval [low, high], with an error that covers all numbers in the
// interval.
inline BoundedDouble Within(double low, double high) {
  const double middle = low + (high - low) / 2;
  return {middle, std::max(high - middle, middle - low) * kOutward};
}

// --- BoundedPair ------------------------------------------------------------------------------
//
// The relative errors of the operations on pairs of doubles are below 2^-104 (sum), 2^-103
// (product), 2^-102 (root) and 2^-101 (quotient). The error of each result includes kPairError =
// 2^-100 times its magnitude instead, which also covers the rounding of the error itself.
// Polynomials of degree up to 4 in accepted coordinates (0 or a magnitude in [2^-140, 2^53])
// neither overflow nor underflow.

inline constexpr double kPairError = 0x1p-100;

inline BoundedPair ExactDifference(double a, double b) { return {TwoDiff(a, b), 0}; }
inline BoundedPair ExactValue(double a) { return {{a, 0}, 0}; }

template <int N>
BoundedPair ToBoundedPair(const Expansion<N>& a) {
  const TwoDoubles value = LeadingPair(a);
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

// Returns the square root of an exact number x that is at least 0, by one Newton step from the
// square root in doubles. Let v be the value of `a` and e its error. Then |sqrt(x) - sqrt(v)| <= e
// / sqrt(v). Where v may be 0, the result is 0 with the error sqrt(v + e), because x <= v + e.
inline BoundedPair SquareRoot(const BoundedPair& a) {
  if (a.value.high <= 2 * a.error) {
    return {{0, 0}, std::sqrt(std::abs(a.value.high) + a.error) * (1 + 0x1p-40)};
  }
  const double root = std::sqrt(a.value.high);
  return {SquareRoot(a.value), a.error / root * (1 + 0x1p-40) + kPairError * root};
}

// Returns a / b, with an infinite error if b may be 0.
inline BoundedPair operator/(const BoundedPair& a, const BoundedPair& b) {
  const double least_divisor = b.magnitude() * (1 - 0x1p-40) - b.error;
  if (!(least_divisor > 0)) return {{0, 0}, std::numeric_limits<double>::infinity()};
  const TwoDoubles value = Divide(a.value, b.value);
  const double magnitude = std::abs(value.high);
  return {value,
          (a.error + magnitude * b.error) / least_divisor * (1 + 0x1p-40) + kPairError * magnitude};
}

// Returns one end of the interval [t.value - t.error, t.value + t.error], rounded up to a double:
// the lower end for `side` -1, the upper end for `side` 1. Before rounding, the interval is widened
// by kPairError times the value, which covers the rounding of the end, and by 2^-40 times the
// error, which covers the roundings of the error. If the error is at most 2^-59 times the value,
// the widening moves the end by at most 2^-98 of its magnitude.
inline double RoundedUpEnd(const BoundedPair& t, int side) {
  const double error = (t.error + kPairError * t.magnitude()) * (1 + 0x1p-40);
  const TwoDoubles tail = TwoSum(t.value.low, side * error);
  const TwoDoubles sum = TwoSum(t.value.high, tail.high);
  return sum.low > 0 ? NextAbove(sum.high) : sum.high;
}

// Sets `rounded` to the double nearest to an exact number that is within t.error + `slack` of
// t.value. Returns true if `rounded` is certain: both ends of the interval of these numbers round
// to it.
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
