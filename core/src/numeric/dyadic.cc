// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "numeric/dyadic.h"

namespace carom::internal {
namespace {

// A positive quotient, truncated to a 54-bit integer times 2^exponent.
struct Truncated {
  uint64_t integer;  // in [2^53, 2^54)
  int exponent;
  bool inexact;  // whether the truncation dropped a remainder
};

// Returns the truncated quotient n / d of positive integers, times 2^exponent. n / d is within a
// factor of 2 of 2^excess, so the bit lengths alone determine the shift that makes a quotient of 54
// or 55 bits. The last of 55 bits goes into `inexact`, as the remainder does: rounding depends only
// on whether the truncation dropped anything.
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

// A conversion from 64 bits to double rounds to nearest, ties to even. If the integer has more
// bits, the lowest of its top 64 bits is set if any dropped bit is: that bit is below the
// rounding bit.
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

// The 54 bits of the quotient are the 53 bits of a double and the rounding bit. At exactly half,
// ties go to the even double. 2^53 is a double, so a carry out of the 53 bits needs no special
// case.
double NearestQuotient(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return 0;
  const bool negative = n.sign() != d.sign();
  const Truncated q = Divide(abs(n.integer()), abs(d.integer()), n.exponent() - d.exponent());
  uint64_t bits = q.integer >> 1;
  if ((q.integer & 1) != 0 && (q.inexact || (bits & 1) != 0)) ++bits;
  const double value = std::ldexp(static_cast<double>(bits), q.exponent + 1);
  return negative ? -value : value;
}

// Rounds towards +inf: a negative quotient is truncated, a positive one goes up if the truncation
// dropped anything.
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
