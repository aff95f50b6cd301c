// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exact numbers for the slow path, after floating-point filters were undecided: integers times
// powers of two.
//
// Every double is a dyadic number, and so are sums, differences and products of dyadic numbers. A
// `Dyadic` stores the bits from its lowest to its highest set bit (Boost.Multiprecision): up to
// `kInlineBits` inline, more on the heap. The bits of an accepted coordinate have values from
// 2^-192 to 2^53, which is 246 bits; a polynomial of degree k in coordinates spans 246 k bits and a
// few more for its sums. So a polynomial of degree 4 always fits inline, and polynomials of far
// higher degree fit if the coordinates are of similar scale. An integer of a fixed width for the
// largest possible value is slower by a factor of two, because Boost sets and copies its whole
// width. Expansions (expansion.h) are faster than dyadic numbers up to degree 4.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>

#include "numeric/exact_count.h"

namespace carom::internal {

// An exact number: an integer times a power of two.
class Dyadic {
 public:
  static constexpr unsigned kInlineBits = 1024;
  using Integer =
      boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
                                        kInlineBits, 0, boost::multiprecision::signed_magnitude,
                                        boost::multiprecision::unchecked>,
                                    boost::multiprecision::et_off>;

  Dyadic() = default;
  // Constructs exactly `value`, which must be finite. The constructor is implicit because formulas
  // mix doubles and dyadic numbers.
  Dyadic(double value) {  // NOLINT
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const auto bits = static_cast<int64_t>(std::ldexp(fraction, 53));
    if (bits == 0) return;
    const int zeros = std::countr_zero(static_cast<uint64_t>(bits));
    exponent_ = exponent - 53 + zeros;
    integer_ = bits / (int64_t{1} << zeros);
  }

  int sign() const { return integer_.sign(); }
  // The value of the number is integer() * 2^exponent().
  const Integer& integer() const { return integer_; }
  int exponent() const { return exponent_; }

  friend Dyadic operator-(Dyadic a) {
    a.integer_ = -a.integer_;
    return a;
  }
  friend Dyadic operator+(const Dyadic& a, const Dyadic& b) { return Sum(a, b, false); }
  friend Dyadic operator-(const Dyadic& a, const Dyadic& b) { return Sum(a, b, true); }
  friend Dyadic operator*(const Dyadic& a, const Dyadic& b) {
    CountExact();
    Dyadic product;
    if (a.sign() == 0 || b.sign() == 0) return product;
    product.integer_ = a.integer_ * b.integer_;
    product.exponent_ = a.exponent_ + b.exponent_;
    return product;
  }
  // Returns value * 2^power.
  friend Dyadic Scaled(Dyadic value, int power) {
    if (value.sign() != 0) value.exponent_ += power;
    return value;
  }
  friend bool operator==(const Dyadic& a, const Dyadic& b) { return (a - b).sign() == 0; }
  friend bool operator<(const Dyadic& a, const Dyadic& b) { return (a - b).sign() < 0; }
  friend bool operator<=(const Dyadic& a, const Dyadic& b) { return (a - b).sign() <= 0; }

 private:
  static Dyadic Sum(const Dyadic& a, const Dyadic& b, bool subtract) {
    if (b.sign() == 0) return a;
    if (a.sign() == 0) return subtract ? -b : b;
    if (a.exponent_ < b.exponent_) {
      Dyadic sum = b;
      if (subtract) sum.integer_.backend().negate();
      sum.integer_ <<= static_cast<unsigned>(b.exponent_ - a.exponent_);
      sum.integer_ += a.integer_;
      sum.exponent_ = a.exponent_;
      return sum;
    }
    Dyadic sum = a;
    sum.integer_ <<= static_cast<unsigned>(a.exponent_ - b.exponent_);
    sum.exponent_ = b.exponent_;
    if (subtract) {
      sum.integer_ -= b.integer_;
    } else {
      sum.integer_ += b.integer_;
    }
    return sum;
  }

  Integer integer_ = 0;
  int exponent_ = 0;
};

// Returns the sign of p + q sqrt(r), for r >= 0, exactly: if p and q have unlike signs, by
// comparing p^2 with q^2 r. So the polynomial degree of the computation is that of p^2 or q^2 r.
inline int SignWithRoot(const Dyadic& p, const Dyadic& q, const Dyadic& r) {
  const int sign_p = p.sign();
  const int sign_q = r.sign() == 0 ? 0 : q.sign();
  if (sign_p == 0 || sign_q == 0 || sign_p == sign_q) return sign_p != 0 ? sign_p : sign_q;
  return sign_p * (p * p - q * q * r).sign();
}

// Returns the double nearest to `value`, ties to even. `value` is 0 or has a magnitude in [2^-1022,
// 2^1023].
double NearestDouble(const Dyadic& value);
// Returns the double nearest to n / d, ties to even. d is not 0, and n / d is 0 or has a magnitude
// in [2^-1022, 2^1023].
double NearestQuotient(const Dyadic& n, const Dyadic& d);
// Returns the least double that is at least n / d. d is not 0, and n / d is 0 or has a magnitude in
// [2^-1022, 2^1023].
double QuotientRoundedUp(const Dyadic& n, const Dyadic& d);

}  // namespace carom::internal
