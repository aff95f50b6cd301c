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

double NearestQuotient(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return 0;
  const bool negative = n.sign() != d.sign();
  const Truncated q = Divide(abs(n.integer()), abs(d.integer()), n.exponent() - d.exponent());
  uint64_t bits = q.integer >> 1;
  if ((q.integer & 1) != 0 && (q.inexact || (bits & 1) != 0)) ++bits;
  const double value = std::ldexp(static_cast<double>(bits), q.exponent + 1);
  return negative ? -value : value;
}

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
