// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "numeric/dyadic.h"

namespace carom::internal {
namespace {

// A positive quotient of two integers, truncated to a 54-bit integer times 2^exponent.
struct Truncated {
  uint64_t integer;  // in [2^53, 2^54)
  int exponent;
  bool inexact;  // true if the quotient is greater than the truncated value
};

// Returns the quotient n / d of positive integers, times 2^exponent, truncated to 54 bits. n / d is
// within a factor of 2 of 2^excess, so the bit lengths of n and d alone determine a shift after
// which the quotient has 54 or 55 bits. If the quotient has 55 bits, the lowest bit is dropped.
// `inexact` records a dropped bit as well as a remainder, because rounding depends only on whether
// the truncation dropped anything.
Truncated Divide(Dyadic::Integer n, Dyadic::Integer d, int exponent) {
  const int excess = static_cast<int>(boost::multiprecision::msb(n)) -
                     static_cast<int>(boost::multiprecision::msb(d));
  // With this shift the quotient is in (2^53, 2^55).
  const int shift = 54 - excess;
  if (shift > 0) {
    n <<= static_cast<unsigned>(shift);
  } else {
    d <<= static_cast<unsigned>(-shift);
  }
  Dyadic::Integer quotient;
  Dyadic::Integer remainder;
  boost::multiprecision::divide_qr(n, d, quotient, remainder);
  auto integer = static_cast<uint64_t>(quotient);
  bool inexact = remainder != 0;
  exponent -= shift;
  if (integer >> 54 != 0) {
    inexact = inexact || (integer & 1) != 0;
    integer >>= 1;
    ++exponent;
  }
  return {integer, exponent, inexact};
}

}  // namespace

// Truncates the integer to its top 64 bits and converts these to a double, which rounds to nearest,
// ties to even. If the truncation drops a set bit, the lowest of the 64 bits is set instead: that
// bit is below the rounding bit, so its only effect is that the conversion does not find a tie.
double NearestDouble(const Dyadic& value) {
  if (value.sign() == 0) return 0;
  const Dyadic::Integer integer = abs(value.integer());
  const unsigned top = boost::multiprecision::msb(integer);
  const unsigned cut = top > 63 ? top - 63 : 0;
  auto bits = static_cast<uint64_t>(integer >> cut);
  if (boost::multiprecision::lsb(integer) < cut) bits |= 1;
  const double nearest =
      std::ldexp(static_cast<double>(bits), value.exponent() + static_cast<int>(cut));
  return value.sign() < 0 ? -nearest : nearest;
}

// The 54 bits of the truncated quotient are the 53 bits of a double and the rounding bit. If the
// quotient is exactly half way between two doubles, it goes to the double that is even. If rounding
// up carries out of the 53 bits, the result is 2^53, which is a double, so the carry needs no
// special case.
double NearestQuotient(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return 0;
  const bool negative = n.sign() != d.sign();
  const Truncated q = Divide(abs(n.integer()), abs(d.integer()), n.exponent() - d.exponent());
  uint64_t bits = q.integer >> 1;
  if ((q.integer & 1) != 0 && (q.inexact || (bits & 1) != 0)) ++bits;
  const double value = std::ldexp(static_cast<double>(bits), q.exponent + 1);
  return negative ? -value : value;
}

// Rounds the quotient towards +infinity: a negative quotient is truncated, and a positive quotient
// goes up if the truncation to 53 bits dropped anything.
double QuotientRoundedUp(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return 0;
  const bool negative = n.sign() != d.sign();
  const Truncated q = Divide(abs(n.integer()), abs(d.integer()), n.exponent() - d.exponent());
  uint64_t bits = q.integer >> 1;
  if (!negative && ((q.integer & 1) != 0 || q.inexact)) ++bits;
  const double value = std::ldexp(static_cast<double>(bits), q.exponent + 1);
  return negative ? -value : value;
}

}  // namespace carom::internal
