// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/exact.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace carom::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the double next to `value` towards zero, or `value` itself if it is one: what mpq_get_d
// promises.
double Truncated(const Rational& value) { return mpq_get_d(value.backend().data()); }

bool HasEvenSignificand(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits % 2 == 0;
}

// Returns whether value / √length_squared lies in [low, high], for value ≥ 0 and 0 ≤ low ≤ high.
bool QuotientWithin(const Rational& value, const Rational& length_squared, const Rational& low,
                    const Rational& high) {
  const Rational square = value * value;
  return low * low * length_squared <= square && square <= high * high * length_squared;
}

bool ComponentWithin(double unit, const Rational& component, const Rational& length_squared,
                     int ulps) {
  const int sign = Sign(component);
  if (sign == 0) return unit == 0.0;
  if (!(unit * sign > 0.0)) return false;
  const double magnitude = std::fabs(unit);
  const Rational slack = Rational(ulps) * Exact(Ulp(magnitude + ulps * Ulp(magnitude)));
  const Rational low = Exact(magnitude) - slack;
  return QuotientWithin(Rational(sign) * component, length_squared,
                        Sign(low) < 0 ? Rational(0) : low, Exact(magnitude) + slack);
}

}  // namespace

Rational Exact(double value) {
  Rational result;
  mpq_set_d(result.backend().data(), value);
  return result;
}

RationalXy Exact(Xy point) { return {Exact(point.x), Exact(point.y)}; }

double NearestDouble(const Rational& value) {
  const double inner = Truncated(value);
  const Rational from_inner = abs(value - Exact(inner));
  if (Sign(from_inner) == 0) return inner + 0.0;
  const double outer = std::nextafter(inner, Sign(value) > 0 ? kInfinity : -kInfinity);
  const Rational from_outer = abs(Exact(outer) - value);
  if (from_inner != from_outer) return (from_inner < from_outer ? inner : outer) + 0.0;
  return (HasEvenSignificand(inner) ? inner : outer) + 0.0;
}

double AtMost(const Rational& value) { return std::nextafter(Truncated(value), -kInfinity); }

double AtLeast(const Rational& value) { return std::nextafter(Truncated(value), kInfinity); }

RationalXy operator+(const RationalXy& a, const RationalXy& b) { return {a.x + b.x, a.y + b.y}; }

RationalXy operator-(const RationalXy& a, const RationalXy& b) { return {a.x - b.x, a.y - b.y}; }

RationalXy operator*(const Rational& scale, const RationalXy& vector) {
  return {scale * vector.x, scale * vector.y};
}

Rational Dot(const RationalXy& a, const RationalXy& b) { return a.x * b.x + a.y * b.y; }

Rational Cross(const RationalXy& a, const RationalXy& b) { return a.x * b.y - a.y * b.x; }

bool IsZero(const RationalXy& vector) { return Sign(vector.x) == 0 && Sign(vector.y) == 0; }

int Sign(const Rational& value) { return mpq_sgn(value.backend().data()); }

double Ulp(double value) {
  const double magnitude = std::fabs(value);
  return std::nextafter(magnitude, kInfinity) - magnitude;
}

bool IsUnitVectorWithin(Xy unit, const RationalXy& direction, int ulps) {
  if (IsZero(direction)) return unit.x == 0.0 && unit.y == 0.0;
  const Rational length_squared = Dot(direction, direction);
  return ComponentWithin(unit.x, direction.x, length_squared, ulps) &&
         ComponentWithin(unit.y, direction.y, length_squared, ulps);
}

double Flushed(double value) { return std::fabs(value) < 0x1p-140 ? 0.0 : value; }

Xy Flushed(Xy point) { return {Flushed(point.x), Flushed(point.y)}; }

}  // namespace carom::testing
