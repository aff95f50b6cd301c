// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact rational arithmetic for the test oracle: numbers, points, and the two places where a
// rational meets a double. Start with `Rational` and `NearestDouble`. Nothing here is fast;
// everything here is exact.
#pragma once

#include <boost/multiprecision/gmp.hpp>

namespace carom::testing {

/// A rational number without bounds. Expression templates are off, so `auto` always names a value.
using Rational = boost::multiprecision::number<boost::multiprecision::gmp_rational,
                                               boost::multiprecision::et_off>;

/// A point or a vector given by doubles, in world lengths. The plainest input type of the oracle.
struct Xy {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const Xy&, const Xy&) = default;
};

/// A point or a vector with rational coordinates.
struct RationalXy {
  Rational x;
  Rational y;

  friend bool operator==(const RationalXy& a, const RationalXy& b) {
    return a.x == b.x && a.y == b.y;
  }
};

/// Returns `value` exactly. `value` is finite.
Rational Exact(double value);
RationalXy Exact(Xy point);

/// Returns the double nearest to `value`, ties to the even significand; zero is +0. |value| is
/// below 2^1023.
double NearestDouble(const Rational& value);

/// Returns a double ≤ `value`, respectively ≥ `value`, at most two steps of double precision away.
double AtMost(const Rational& value);
double AtLeast(const Rational& value);

RationalXy operator+(const RationalXy& a, const RationalXy& b);
RationalXy operator-(const RationalXy& a, const RationalXy& b);
RationalXy operator*(const Rational& scale, const RationalXy& vector);
Rational Dot(const RationalXy& a, const RationalXy& b);
Rational Cross(const RationalXy& a, const RationalXy& b);
bool IsZero(const RationalXy& vector);

/// Returns −1, 0 or +1.
int Sign(const Rational& value);

/// Returns the distance between neighbouring doubles at |value|; at a power of two, the larger of
/// the two distances.
double Ulp(double value);

/// Returns whether `unit` is the unit vector along `direction`, each component within `ulps` of the
/// exact one; where a component is exactly 0, `unit` holds exactly 0, and every other component has
/// the exact sign. For a zero `direction` the only accepted `unit` is (0, 0). Compares squares, so
/// no root is taken and nothing is rounded.
bool IsUnitVectorWithin(Xy unit, const RationalXy& direction, int ulps);

/// Returns `value`, or 0 where its magnitude lies in (0, 2^-140): how a coordinate is read
/// (contract 1.2). Never −0.
double Flushed(double value);
Xy Flushed(Xy point);

}  // namespace carom::testing
