// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "numeric/dyadic.h"

namespace carom::internal {
namespace {

// A positive quotient as a 54-bit integer times 2^exponent, and whether something is left over.
struct Truncated {
  uint64_t integer;  // in [2^53, 2^54)
  int exponent;
  bool inexact;
};

// The bit lengths alone say how far to shift for a quotient of 54 or 55 bits: n / d is within a
// factor of 2 of 2^excess. Of 55 bits the last one goes into `inexact`, as the remainder does: that
// is all that rounding has to know of what is cut off.
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

// The conversion of 64 bits rounds to nearest, ties to even. Of more bits, what is cut off goes
// into the last one, which is below the bit that decides.
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

// 54 bits are the 53 of a double and the bit that decides. At exactly half, ties go to the even
// one. 2^53 is a double, so a carry out of the 53 bits needs no care.
double NearestQuotient(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return 0;
  const bool negative = n.sign() != d.sign();
  const Truncated q = Divide(abs(n.integer()), abs(d.integer()), n.exponent() - d.exponent());
  uint64_t bits = q.integer >> 1;
  if ((q.integer & 1) != 0 && (q.inexact || (bits & 1) != 0)) ++bits;
  const double value = std::ldexp(static_cast<double>(bits), q.exponent + 1);
  return negative ? -value : value;
}

// Towards +inf: a negative quotient is cut off, a positive one goes up if anything was.
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
